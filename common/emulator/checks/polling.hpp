/// @file
/// Threads that wait for a value in memory. A thread polls when it reads the same word by the same
/// line again and finds the same value, or runs for very long. Then the other threads get a turn,
/// and when all that can run have polled, the other blocks (api/cooperative.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sixdays::emulator {

/// Called before an access, if the thread has had its turn or repeats a read: the other threads run
/// first if it polls.
void let_others_go_first(std::uintptr_t address, std::size_t bytes, const void* code);
/// For that: the current thread reads this value next.
void remember_poll(std::uintptr_t address, std::size_t bytes, const void* code);
/// False if polls have changed nothing for long: then a thread gets many in one turn, since it may
/// count them and give up.
bool is_patient();

}  // namespace sixdays::emulator
