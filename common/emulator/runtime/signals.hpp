/// @file
/// The two things that no hook can see: a fault (a stack that overflows, say), and time that
/// passes.
#pragma once

namespace sixdays::emulator {

struct Place;

/// While one of these lives, faults of kernels become findings, and a block has limited time.
class Guard {
public:
    Guard();
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
};

/// Ends the launch if the current thread's stack is nearly used up.
/// @param frame  of a function that was just called
/// @param code   where in the kernel, as a return address
void check_stack(const void* frame, const void* code);

/// A block starts: its time starts anew.
void restart_clock();
/// It goes on.
void resume_clock();

/// Set when a block's time is up; the next hook, barrier or warp call ends the launch.
extern volatile bool time_is_up;
[[noreturn]] void fail_for_time(const Place& where);

}  // namespace sixdays::emulator
