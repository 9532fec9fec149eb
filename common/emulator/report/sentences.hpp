/// @file
/// Facts in words: what happened, with values, and what is probably missing.
#pragma once

#include "common/emulator/memory/facts.hpp"

namespace sixdays::emulator {

/// @param made  the line of the emulator that found it
Finding sentences_of(const Fact& fact, const Site& made);

Finding words(const Race& race);
Finding words(const StreamRace& race);
Finding words(const DifferentBarriers& fact);
Finding words(const ReturnedBeforeBarrier& fact);
Finding words(const LanesNeverReach& fact);
Finding words(const BarrierNeverOpens& fact);

}  // namespace sixdays::emulator
