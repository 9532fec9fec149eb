/// @file
/// What the running program's own file says of it.
#pragma once

#include <cstdint>

namespace sixdays::emulator {

/// Where the program was loaded; addresses in its debug information count from here.
std::uintptr_t program_start();

}  // namespace sixdays::emulator
