/// @file
/// Kernels for the tests of host accesses, and host code in a .cu file.
#pragma once

#include <cuda_runtime_api.h>

namespace sixdays::emulator::tests {

/// out[i] = 2 in[i]
void twice(const float* in, int n, float* out, cudaStream_t stream = nullptr);
/// out[i] = 3 in[i], by a kernel with __restrict__ parameters.
void sum_restricted(const float* in, int n, float* out);
/// One thread sums in into *out. Without `start` the sum starts from an uninitialized variable.
void sum(const float* in, int n, bool start, float* out);
/// The sum of a local array of 8, of which only `given` elements are initialized.
void sum_of_local_array(int given, int* out);
/// out[i - before] = 1 with an unsigned i, for the one thread with i == 0.
void store_before(unsigned before, float* out);
/// One asynchronous copy of 4 floats, whose source is set to `value` before the wait.
void change_source_in_flight(float* in, float value, float* out);
/// Host code in a .cu file.
float first_of(const float* p);

}  // namespace sixdays::emulator::tests
