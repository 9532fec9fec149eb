/// @file
/// Local variables that were declared without a value, in programs that are tried out and in
/// exercises (sixdays_translate --locals adds the calls of watch_local). Others are not watched:
/// their accesses must be fast.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sixdays::emulator {

/// Does any thread of the block have one that is not set yet, or that is held?
extern bool watching_locals;
/// An access of the current thread to its own stack; a finding if it reads such a variable.
void check_local(std::uintptr_t address, std::size_t bytes, bool writes, const void* code);
void forget_locals();  // a block starts

/// Sums of a wgmma, the current thread's: it must not touch them until they are released.
/// @param call  the thread's number of it
void hold_local(const void* sums, std::size_t bytes, std::size_t call, const void* code);
/// Unless a call from this number on adds to them, too.
void release_local(const void* sums, std::size_t call);

}  // namespace sixdays::emulator
