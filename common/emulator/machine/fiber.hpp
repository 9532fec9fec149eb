/// @file
/// A fiber is a stack and an execution context. Each emulated thread runs on one, so that it can
/// stop in the middle of a kernel, wait for other threads and continue.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace sixdays::emulator {

constexpr std::size_t kStackBytes = 128 * 1024;
constexpr std::size_t kStackGuard = 4096;  // guard page below each stack: an overflow faults
constexpr std::size_t kStackStride = kStackBytes + kStackGuard;
constexpr std::size_t kMaxFibers = 16384;  // a whole cluster is in progress at once

/// The saved state of a fiber, or of the scheduler.
struct Context {
#if defined(__x86_64__)
    void* stack_pointer = nullptr;
#else
    ucontext_t machine;
#endif
};

/// Saves the current state in `from` and resumes `to`.
void switch_context(Context& from, Context& to);

/// Makes `context` start at `entry` on the stack [stack, stack + kStackBytes).
void prepare_context(Context& context, std::byte* stack, void (*entry)());

/// All stacks are contiguous, so that one comparison recognizes a thread's local memory. Call it
/// once per index.
std::byte* stack_of_fiber(std::size_t index);
/// Index of the stack that contains this address, or kMaxFibers.
std::size_t fiber_of_address(std::uintptr_t address);

}  // namespace sixdays::emulator
