/// @file
/// Host-callable wrappers of trace.cu; pointers are device memory.
#pragma once

namespace sixdays::emulator::tests {

void trace_copy(const float* in, float* out, int blocks, int threads, int stride, int shift);
void trace_copy4(const float* in, float* out, int blocks, int threads);
void trace_matmul(const float* a, const float* b, int n, float* c);
void trace_transpose(const float* in, float* out, bool padded);
void trace_naive_transpose(const float* in, float* out);
void trace_reduce(const float* in, float* out, int blocks);
void trace_atomics(int* counts, int bins);                   // 64 threads add 1
void trace_atomics_used(int* counts, int bins, int amount);  // and write to counts[64...127]
void trace_two_alike(const float* in, float* out);
void trace_two_of_each(const float* in, float* out);
void trace_broadcast(const float* in, float* out);

}  // namespace sixdays::emulator::tests
