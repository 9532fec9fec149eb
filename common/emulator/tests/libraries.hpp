/// @file
/// What the libraries that programs include make of small whole numbers, as text: a line for each
/// call. Sums of these are exact in any order, so a GPU, NumPy (beside_gpu/libraries_numpy.py) and
/// the emulator say the same.
#pragma once

#include <string>

namespace sixdays::emulator::tests {

/// Cooperative groups, tensor cores by wmma and by PTX, intrinsics.
std::string groups_and_units_table();
std::string cublas_table();

}  // namespace sixdays::emulator::tests
