/// @file
/// The slow path of an access: reports what is wrong, if anything is (AccessChecks).
#pragma once

#include "common/emulator/memory/access.hpp"

namespace sixdays::emulator {

void find_fault(std::uintptr_t address, std::size_t bytes, AccessKind what, const void* code,
                const void* expected, bool traced);
/// Reports a misaligned address, if the access is made in a kernel.
void check_alignment(const void* address, std::size_t bytes, std::size_t alignment, AccessKind what,
                     const void* code);

}  // namespace sixdays::emulator
