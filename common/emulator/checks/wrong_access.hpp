/// @file
/// Invalid accesses as facts: what is wrong, and its probable cause.
#pragma once

#include "common/emulator/memory/history.hpp"

namespace sixdays::emulator {

/// Some bytes are not live, or not in the region at all.
[[noreturn]] void fail_outside(const NewAccess& access);
/// A read of memory that was never written.
[[noreturn]] void fail_uninitialised(const NewAccess& access);
/// An asynchronous copy to it is still in flight.
[[noreturn]] void fail_pending(const NewAccess& access);
/// In no region, and not accessible to the current thread.
[[noreturn]] void fail_elsewhere(std::uintptr_t address, std::size_t bytes, AccessKind kind,
                                 const void* code);

}  // namespace sixdays::emulator
