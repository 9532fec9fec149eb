/// @file
/// Threads that wait at a barrier which others never reach.
#pragma once

#include "common/emulator/machine/place.hpp"

namespace sixdays::emulator {

/// No thread can continue: reports which threads wait, where, and for which others.
void report_deadlock();
/// A thread that waits at a barrier which the current thread, at `here`, has never reached: one
/// above this line of the same file, or in a loop around it. Null if there is none.
const Thread* waits_above(const Line& here);

/// True if this thread is one iteration of a loop around `here` ahead of the current thread: it
/// waits again at a barrier that the block has already passed, and went through `there`, above
/// `here`, on the way.
bool is_a_round_ahead(const Thread& thread, const Line& there, const Line& here);

/// A barrier opens without threads that have returned.
void remark_on_returned();

}  // namespace sixdays::emulator
