/// @file
/// Races: whether the last accesses of a word (history.hpp) are ordered before the current one.
///
/// Two accesses are ordered by a barrier of their block between them, by a warp call in which both
/// lanes took part, or by fences and atomics on a word that both used (publish.hpp). Otherwise they
/// are concurrent, whatever order the emulator ran them in. Two concurrent accesses to one word
/// race if at least one of them is a plain write.
#pragma once

#include <memory>

#include "common/emulator/memory/history.hpp"

namespace sixdays::emulator {

/// Reports the current thread if its access races with an earlier one; records the access.
void check_race(const NewAccess& access);

/// Called before a store, and when a thread ends: the last stores can be judged now.
void judge_stores();
/// At the end of a block: reports the suspicions that nothing has cleared.
void judge_block();

void begin_race_checks();  // a launch starts
/// A block that polls is put aside, or goes on: swaps its suspicions.
void exchange_suspicions(std::shared_ptr<void>& aside);

}  // namespace sixdays::emulator
