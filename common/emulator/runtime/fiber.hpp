/// @file
/// A fiber: a stack of its own, and a way to go there and come back. One runs each emulated thread,
/// so that the thread can stop in the middle of a kernel, wait for its neighbours and go on.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace sixdays::emulator {

constexpr std::size_t kStackBytes = 128 * 1024;
constexpr std::size_t kStackGuard = 4096;  // below each stack: running out faults, and harms nobody
constexpr std::size_t kStackStride = kStackBytes + kStackGuard;
constexpr std::size_t kMaxFibers = 16384;  // a cluster has many blocks at work

/// Where a fiber, or the scheduler, stopped.
struct Context {
#if defined(__x86_64__)
    void* stack_pointer = nullptr;
#else
    ucontext_t machine;
#endif
};

/// Stops here, remembering the place in `from`, and goes on where `to` stopped.
void switch_context(Context& from, Context& to);

/// Makes `context` start at `entry` on the stack [stack, stack + kStackBytes).
void prepare_context(Context& context, std::byte* stack, void (*entry)());

/// All stacks lie side by side, so that one comparison tells a thread's local memory. Asked for
/// once each.
std::byte* stack_of_fiber(std::size_t index);
/// Which stack holds this address, or kMaxFibers.
std::size_t fiber_of_address(std::uintptr_t address);

}  // namespace sixdays::emulator
