/// @file
/// For .cu files: which element of a small matrix a lane holds, and in which of its registers
/// (common/gpu/ptx/mma.hpp draws it).
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/ptx/mma.hpp"

namespace sixdays::day05_matmul {

/// Of a, 16 x 16: register i holds this element and the one to its right.
__device__ constexpr int row_of_a(int lane, int i) {
    return lane / 4 + 8 * (i % 2);
}
__device__ constexpr int k_of_a(int lane, int i) {
    return 2 * (lane % 4) + 8 * (i / 2);
}
/// Of b, 16 x 8: register i holds this element and the one below it.
__device__ constexpr int k_of_b(int lane, int i) {
    return 2 * (lane % 4) + 8 * i;
}
__device__ constexpr int column_of_b(int lane) {
    return lane / 4;
}
/// Of the sums, 16 x 8: register i holds this one.
__device__ constexpr int row_of_sum(int lane, int i) {
    return lane / 4 + 8 * (i / 2);
}
__device__ constexpr int column_of_sum(int lane, int i) {
    return 2 * (lane % 4) + i % 2;
}

}  // namespace sixdays::day05_matmul
