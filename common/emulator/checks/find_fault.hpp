/// @file
/// The slow path of an access: reports what is wrong, if anything is (AccessChecks).
#pragma once

#include "common/emulator/memory/access.hpp"

namespace sixdays::emulator {

void find_fault(std::uintptr_t address, std::size_t bytes, AccessKind what, const void* code,
                const void* expected, bool traced);

}  // namespace sixdays::emulator
