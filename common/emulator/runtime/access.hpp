/// @file
/// Every load and store of a kernel passes through these functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/runtime/block.hpp"
#include "common/emulator/runtime/fiber.hpp"
#include "common/emulator/runtime/locals.hpp"
#include "common/emulator/runtime/memory.hpp"

namespace sixdays::emulator {

/// Slow path of before_access(), which has already counted the access: it may be an error.
void check_access(const void* address, std::size_t bytes, AccessKind what, const void* code,
                  const void* expected, bool traced);

inline bool is_on_stack(const Thread& thread, std::uintptr_t address) {
    return address - reinterpret_cast<std::uintptr_t>(thread.fiber->stack) < kStackBytes;
}

/// Called before the current thread reads or writes [address, address + bytes). Most accesses are
/// to the thread's own stack, so that case is inlined into each hook.
/// @param code      return address of the hook, which locates the access in the kernel
/// @param expected  the value that a compare-and-swap compares with
/// @param traced    false: the trace already contains this access
inline void before_access(const void* address, std::size_t bytes, AccessKind what, const void* code,
                          const void* expected = nullptr, bool traced = true) {
    Thread* const thread = current;
    if (thread == nullptr || in_runtime || bytes == 0) return;
    const bool on_stack = is_on_stack(*thread, reinterpret_cast<std::uintptr_t>(address));
    if (--thread->accesses_left != 0 && on_stack && !watching_locals) return;
    check_access(address, bytes, what, code, expected, traced);
}

/// Reports a misaligned address, if the access is made in a kernel.
void check_alignment(const void* address, std::size_t bytes, std::size_t alignment, AccessKind what,
                     const void* code);

/// Has the block written to this address of shared memory?
bool was_written(const void* address);
/// Marks shared memory that an asynchronous copy will write, or no longer will.
void set_pending(const void* address, std::size_t bytes, bool pending);

/// The range of the launch's arguments, which kernels may read.
void set_arguments(const void* begin, std::size_t bytes);

}  // namespace sixdays::emulator
