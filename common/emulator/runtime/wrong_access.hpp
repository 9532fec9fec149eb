/// @file
/// A wrong access in words: what is the matter, and what is likely to be missing.
#pragma once

#include "common/emulator/runtime/race.hpp"

namespace sixdays::emulator {

/// Not all of its bytes are live, or belong to the region at all.
[[noreturn]] void fail_outside(const NewAccess& access);
/// A read of what nobody has written.
[[noreturn]] void fail_constant(const NewAccess& a);
[[noreturn]] void fail_uninitialised(const NewAccess& access);
/// An asynchronous copy has yet to arrive there.
[[noreturn]] void fail_pending(const NewAccess& access);
/// In no region, and nothing that the current thread may reach.
[[noreturn]] void fail_elsewhere(std::uintptr_t address, std::size_t bytes, AccessKind kind,
                                 const void* code);
/// The block does nothing but read.
[[noreturn]] void fail_misaligned(std::uintptr_t address, std::size_t bytes, std::size_t alignment,
                                  AccessKind kind, const void* code);
[[noreturn]] void fail_stuck(std::uintptr_t address, std::size_t bytes, const void* code);

}  // namespace sixdays::emulator
