/// @file
/// Release and acquire through memory. A thread writes its data, calls __threadfence(), then uses
/// an atomic (or volatile) word. A thread that later uses the same word atomically and then calls
/// __threadfence() may read the data. "The last block sums up", hand-written locks and semaphores
/// rely on this.
///
/// A barrier or warp call in between passes both on. Threads that synchronize with a thread after
/// its fence may publish what preceded the fence, and they know whatever it has acquired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/emulator/machine/clocks.hpp"

namespace sixdays::emulator {

void forget_publications();            // a launch starts
void forget_fences(unsigned threads);  // a block starts
/// A block that polls is put aside, or goes on: swaps what its threads have fenced and know.
void exchange_publications(std::shared_ptr<void>& aside);
void share_at_barrier(unsigned threads);  // before the clocks advance
void share_in_warp(unsigned warp, unsigned lanes);
/// A block stops at a cluster barrier: blocks that resume after it know what it did and knew.
void tell_cluster(unsigned threads);
void begin_segment();  // all blocks have arrived
void learn_from_cluster(unsigned threads);
/// A cluster starts, whose shared memory is in this range.
void forget_knowledge_of_cluster(std::uintptr_t begin, std::size_t bytes);

enum class Space : std::uint8_t { global, shared };

/// The current thread uses this word atomically. A write publishes what preceded the thread's
/// fences, and a release all that preceded it. What others have published there is known after an
/// acquire, or after the next fence that follows a read. A word of shared memory is a separate word
/// in each block.
void use_atomically(Space space, std::uintptr_t address, bool reads, bool writes,
                    MemoryOrder order);

/// Ends the effect of the current thread's last fence, and drops what it read without a fence: in
/// CUDA Tile C++ memory order belongs to a single atomic.
void forget_fence() noexcept;

/// True if the access has been published to the current thread.
bool was_published(const PastAccess& past);
/// True if only a fence after the atomic is missing for that, and the atomic used a word other than
/// the one at `address`.
bool taken_without_fence(const PastAccess& past, std::uintptr_t address);

}  // namespace sixdays::emulator
