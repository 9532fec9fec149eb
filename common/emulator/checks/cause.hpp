/// @file
/// The probable cause of a race.
#pragma once

#include "common/emulator/machine/facts.hpp"

namespace sixdays::emulator {

/// Finds the cause.
Race diagnose(Race race);
/// Two threads used a word atomically, and nothing orders them. A later report may ask whether that
/// was meant to order other accesses.
void remember_meeting(const PastAccess& now, const PastAccess& other);

}  // namespace sixdays::emulator
