/// @file
/// Uninitialized local variables, in exercises and in programs run by cudatry (sixdays_translate
/// --locals inserts the calls of watch_local). Elsewhere they are not tracked, to keep local
/// accesses fast.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sixdays::emulator {

/// Checks an access of the current thread to its own stack; reports a read of such a variable.
void check_local(std::uintptr_t address, std::size_t bytes, bool writes, const void* code);
void forget_locals();  // a block starts

/// The current thread's accumulators of a wgmma: it must not access them until they are released.
/// @param call  index of the call, counted per thread
void hold_local(const void* sums, std::size_t bytes, std::size_t call, const void* code);
/// Releases them, unless a call from this index on accumulates into them too.
void release_local(const void* sums, std::size_t call);

}  // namespace sixdays::emulator
