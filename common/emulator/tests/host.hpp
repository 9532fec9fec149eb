/// @file
/// Kernels for the tests of what the host may touch when, and host code of a .cu file.
#pragma once

#include <cuda_runtime_api.h>

namespace sixdays::emulator::tests {

/// out[i] = 2 in[i]
void twice(const float* in, int n, float* out, cudaStream_t stream = nullptr);
/// The same, by a kernel that promises that the two are apart.
void sum_restricted(const float* in, int n, float* out);
/// One thread sums in into *out. Without `start` the sum starts with what the variable holds.
void sum(const float* in, int n, bool start, float* out);
/// Local array of 8 of which `given` elements get a value; its sum.
void sum_of_local_array(int given, int* out);
/// out[i - before] = 1 with unsigned i, for one thread with i == 0.
void store_before(unsigned before, float* out);
/// One asynchronous copy of 4 floats; the source gets `value` before the wait.
void change_source_in_flight(float* in, float value, float* out);
/// Host code.
float first_of(const float* p);

}  // namespace sixdays::emulator::tests
