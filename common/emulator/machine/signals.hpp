/// @file
/// What hooks cannot see: faults, such as a stack overflow, and elapsed time.
#pragma once

namespace sixdays::emulator {

struct Place;

/// During its lifetime, faults in kernels become findings and a block's time is limited.
class Guard {
public:
    Guard();
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
};

/// Ends the launch if the current thread's stack is nearly used up.
/// @param frame  of the function just entered
/// @param code   return address, which locates the function's call in the kernel
void check_stack(const void* frame, const void* code);

/// A block starts, with its full time.
void restart_clock();
/// A block resumes, with the rest of its time.
void resume_clock();

/// Set when a block's time is up. The next hook, barrier or warp call ends the launch.
extern volatile bool time_is_up;
[[noreturn]] void fail_for_time(const Place& where);

}  // namespace sixdays::emulator
