/// @file
/// A device's results for __half and __nv_bfloat16: one table, printed by a GPU and by the
/// emulator.
#pragma once

#include <string>

namespace sixdays::emulator::tests {

/// CSV: type, operation, arguments, results in hexadecimal.
std::string small_float_table();

/// Sums through shuffles and atomics for both types and their pairs: each equals `n`.
void small_float_sums(int n, float* eight_sums);

}  // namespace sixdays::emulator::tests
