/// @file
/// The load address of the running program.
#pragma once

#include <cstdint>

namespace sixdays::emulator {

/// Addresses in the program's debug information are relative to this address.
std::uintptr_t program_start();

}  // namespace sixdays::emulator
