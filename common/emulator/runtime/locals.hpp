/// @file
/// Local variables that the compiler thinks may be read before they are set (try/cudatry asks it,
/// and adds the calls of watch_local). Others are not watched: their accesses must be fast.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sixdays::emulator {

/// Does any thread of the block have one that nobody has set yet, or that is held?
extern bool watching_locals;
/// An access of the current thread to its own stack; a finding if it reads such a variable.
void check_local(std::uintptr_t address, std::size_t bytes, bool writes, const void* code);
void forget_locals();  // a block starts

/// Sums of a wgmma that has not been waited for: the current thread must not touch them, until that
/// thread's are released.
void hold_local(const void* sums, std::size_t bytes, const void* code);
void release_local(unsigned thread);

}  // namespace sixdays::emulator
