/// @file
/// Correct and buggy tile kernels for the tests.
#pragma once

namespace sixdays::emulator::tests {

/// Launches the kernel of that name on `blocks` blocks. `in` and `out` have n elements each.
void launch_tile(const char* name, unsigned blocks, const float* in, int n, float* out);

/// Launches the kernel of that name. `data` and `out` have 8 elements, `flags` 8 that are 0.
void launch_atomic_tile(const char* name, unsigned blocks, float* data, int* flags, float* out);

/// out (n, m) = in (m, n) transposed; (m, k) times (k, n), plus 0; a softmax of each row.
void transpose_tile(const float* in, int m, int n, float* out);
void matmul_tile(const float* a, const float* b, int m, int k, int n, float* out);
void softmax_tile(const float* in, int rows, int n, float* out);

}  // namespace sixdays::emulator::tests
