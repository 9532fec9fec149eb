/// @file
/// How a thread tells others, through memory, that its data is ready: it writes the data, calls
/// __threadfence(), then uses an atomic (or volatile) word. A thread that later uses the same word
/// atomically and then calls __threadfence() may read the data. "The last block sums up", hand-made
/// locks and semaphores rely on this.
///
/// A barrier or warp call in between passes both on: the threads that met a thread after its fence
/// may publish what preceded the fence, and what a thread has acquired, the threads it meets know.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/runtime/clocks.hpp"

namespace sixdays::emulator {

void forget_publications();               // a launch starts
void forget_fences(unsigned threads);     // a block starts
void share_at_barrier(unsigned threads);  // before the clocks move
void share_in_warp(unsigned warp, unsigned lanes);
/// A block stops at a barrier of its cluster: what it did and knows, all know who go on behind it.
void tell_cluster(unsigned threads);
void begin_segment();  // all have come
void learn_from_cluster(unsigned threads);
void forget_knowledge_of_cluster();

enum class Space : std::uint8_t;

/// The current thread uses this word atomically: publishes what its fences had behind them if it
/// writes, and takes what others have published there if it reads. A word of shared memory is
/// another one in each block.
void use_atomically(Space space, std::uintptr_t address, bool reads, bool writes);

/// What a fence of the current thread had behind it is published no further, and what it took
/// without a fence stays unknown to it: in CUDA Tile C++ an order belongs to one atomic.
void forget_fence() noexcept;

/// Has the access been published to the current thread?
bool was_published(const PastAccess& past);
/// It would have been, but for a fence after the atomic that took it.
bool taken_without_fence(const PastAccess& past);

}  // namespace sixdays::emulator
