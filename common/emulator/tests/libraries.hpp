/// @file
/// The results of library calls for small integers as text, one line per call. Their sums are exact
/// in any order, so a GPU, NumPy (beside_gpu/libraries_numpy.py) and the emulator print the same
/// text.
#pragma once

#include <string>

namespace sixdays::emulator::tests {

/// Cooperative groups, tensor cores with wmma and PTX, intrinsics.
std::string groups_and_units_table();
std::string cublas_table();

}  // namespace sixdays::emulator::tests
