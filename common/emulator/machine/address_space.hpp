/// @file
/// Address space of the emulator itself: its tables, and the memory of the device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sixdays::emulator {

/// Reserves address space without memory; exits with a message if there is none.
void* reserve(std::size_t bytes, const char* what);

/// Memory that the program does not own: unmapped, or the emulator's.
bool is_nobodys(std::uintptr_t address);

}  // namespace sixdays::emulator
