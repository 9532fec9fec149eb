/// @file
/// Every load and store of a kernel passes through these functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/fiber.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

/// What the checks do with accesses that are not on the fast path.
struct AccessChecks {
    /// It may be an error. @param traced  false: the trace already contains this access
    void (*examine)(std::uintptr_t address, std::size_t bytes, AccessKind what, const void* code,
                    const void* expected, bool traced);
    /// The current thread accesses its own stack while some variable is watched.
    void (*local)(std::uintptr_t address, std::size_t bytes, bool writes, const void* code);
};
/// Defined where all floors are known: api/floors.cpp.
extern const AccessChecks access_checks;

/// Set by the checks while they need to see every access, not only those off the fast path: some
/// accesses cannot be judged yet; requests are recorded; local variables are watched.
extern bool judgement_pending, tracing, watching_locals;

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

/// The same by the thread itself while the emulator runs in its name (InRuntime).
inline void access_by_thread(const void* address, std::size_t bytes, AccessKind what,
                             const void* code) {
    in_runtime = false;
    before_access(address, bytes, what, code);
    in_runtime = true;
}

/// Reports a misaligned address, if the access is made in a kernel.
void misaligned_access(const void* address, std::size_t bytes, std::size_t alignment,
                       AccessKind what, const void* code);

/// The region that contains this address; null if none does.
Region* region_of(std::uintptr_t address);
/// True for a variable of the current thread, or an argument of the launch.
bool is_own(std::uintptr_t address);

/// Has the block written to this address of shared memory?
bool was_written(const void* address);
/// Marks shared memory that an asynchronous copy will write, or no longer will.
void set_pending(const void* address, std::size_t bytes, bool pending);

/// The range of the launch's arguments, which kernels may read.
void set_arguments(const void* begin, std::size_t bytes);

}  // namespace sixdays::emulator
