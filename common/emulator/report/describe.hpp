/// @file
/// Descriptions of addresses and accesses.
#pragma once

#include <string>

#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

/// "at element 9 of an allocation of 9 elements of that size (36 bytes): one past its end. ...":
/// describes an address of this region that is not live.
std::string describe_outside(const Region& region, std::uintptr_t address, std::size_t bytes);
/// "at element 4 of an allocation of 9 elements of that size (36 bytes)": a live address.
std::string describe_inside(const Region& region, std::uintptr_t address, std::size_t bytes);
/// An address of device memory, in a live allocation or not, as a whole sentence's end.
std::string place_in_heap(std::uintptr_t address);
/// " reads 4 bytes "
std::string story(const char* what_happens, std::size_t bytes);
std::string story(AccessKind kind, std::size_t bytes);

}  // namespace sixdays::emulator
