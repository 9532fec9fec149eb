/// @file
/// How a thread tells others, through memory, that its data is ready: it writes the data, calls
/// __threadfence(), then uses an atomic (or volatile) word. Who later uses the same word atomically
/// may read the data. This is what "the last block sums up" and hand-made locks rest on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/runtime/race.hpp"

namespace sixdays::emulator {

void forget_publications();                                      // a launch starts
void forget_fences(unsigned threads);                            // a block starts
void share_publications(unsigned threads);                       // at a barrier
void share_publications_in_warp(unsigned warp, unsigned lanes);  // in a warp call

/// The current thread uses this word atomically: publishes what came before its last fence, and
/// learns what others have published there.
void use_flag(std::uintptr_t address);

/// Has the access been published to the current thread?
bool was_published(const PastAccess& past);

}  // namespace sixdays::emulator
