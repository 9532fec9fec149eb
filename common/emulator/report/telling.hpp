/// @file
/// What the emulator prints.
#pragma once

#include <string>

namespace sixdays::emulator {

/// Prints to stderr immediately, or passes it to the listener (tell_findings()).
void tell_note(const std::string& text);

}  // namespace sixdays::emulator
