/// @file
/// What a device makes of __half and __nv_bfloat16: one table, to be printed by a GPU and by the
/// emulator.
#pragma once

#include <string>

namespace sixdays::emulator::tests {

/// CSV: type, operation, what it was given, and its results in hexadecimal.
std::string small_float_table();

/// Sums through shuffles and atomics on both types and their pairs: all of them are `n`.
void small_float_sums(int n, float* eight_sums);

}  // namespace sixdays::emulator::tests
