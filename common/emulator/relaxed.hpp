/// @file
/// Loads and stores of 16 bytes that are atomic as a whole: the emulated versions of
/// common/gpu/ptx/relaxed.hpp. Like a volatile access they do not race with each other, and order
/// nothing else: that takes a __threadfence() on both sides.
#pragma once

namespace sixdays::emulator {

/// A thread that repeats it and gets the same value lets others run, other blocks too.
void load_relaxed16(const void* from, void* to);
void store_relaxed16(void* to, const void* from);

}  // namespace sixdays::emulator
