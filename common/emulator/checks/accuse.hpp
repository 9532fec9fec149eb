/// @file
/// The report of a race: which threads, where, and which synchronization is probably missing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/checks/race.hpp"
#include "common/emulator/machine/finding.hpp"

namespace sixdays::emulator {

/// Two unordered accesses: one by the running block, the other earlier in this launch or before it.
struct Race {
    const Region* region;
    std::uintptr_t address;
    std::size_t bytes;
    PastAccess accused, other;
    const char *does, *did;        // "writes", "reads", "updates atomically"
    bool one_instruction = false;  // by two lanes of one warp that store different values
};

Finding in_words(const Race& race, Site made = Site::current());

/// Two threads used a word atomically, and nothing orders them. A later report may ask whether that
/// was meant to order other accesses.
void remember_meeting(const PastAccess& now, const PastAccess& other);

}  // namespace sixdays::emulator
