/// @file
/// The report of a race: which threads, where, and what is likely to be missing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/race.hpp"

namespace sixdays::emulator {

/// Two accesses that nothing orders; of a block that runs, and of this launch.
struct Race {
    const Region* region;
    std::uintptr_t address;
    std::size_t bytes;
    PastAccess accused, other;
    const char *does, *did;        // "writes", "reads", "updates atomically"
    bool one_instruction = false;  // of two lanes of one warp, which store different values
};

Finding in_words(const Race& race, Site made = Site::current());

/// Two threads used a word atomically, and nothing orders them: whether by that they meant to order
/// other things is what a later accusation may ask.
void remember_meeting(const PastAccess& now, const PastAccess& other);

}  // namespace sixdays::emulator
