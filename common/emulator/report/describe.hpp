/// @file
/// Descriptions of addresses.
#pragma once

#include <string>

#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

/// "element 1000 of an allocation of 4000 bytes, one past its end": describes an address of this
/// region that is not live.
std::string describe_outside(const Region& region, std::uintptr_t address, std::size_t bytes);
/// "byte 16 of an allocation of 4000 bytes": describes a live address.
std::string describe_inside(const Region& region, std::uintptr_t address, std::size_t bytes);

}  // namespace sixdays::emulator
