/// @file
/// Host-callable wrappers of the kernels that test the emulator. Each launches once; pointers are
/// device memory.
#pragma once

#include <cstdint>

#include "emulated/ptx.h"

namespace sixdays::emulator::tests {

// values.cu
void saxpy(float a, const float* x, const float* y, std::int64_t n, float* out);
void matmul_16(const float* a, const float* b, int m, int n, int k, float* c);
void warp_sums(const float* in, int n, float* sums);
void block_sums(const float* in, int n, int blocks, float* sums);
void block_scan(const int* in, int n, int* out);
void histogram(const unsigned char* in, int n, int* counts);
void coordinates(int x, int y, int z, int* out);
void reverse_dynamic(const double* in, int n, double* out);
void votes(unsigned* out);
void barrier_votes(int* out);
void atomics(int threads, unsigned* out);
void variables(int* out);
void vector_sum(const void* float4s, int n, float* out);
void launch_empty(int grid, int block);
void return_before_barrier(float* out);  // 4 of 64 threads
void run_a_round_ahead(int barriers,
                       float* out);           // a loop with one or two, none at its end; 0: no loop
void shuffle_past_if(int lanes, float* out);  // a block of this many; the first 20 lanes shuffle
void exchange_indices(const float* in, float* out);  // 3 x 5 elements
void dynamic_bytes(int bytes, bool ask_first);
/// bytes[at], and each of the first six read in a different way; stores to bytes 2, 3 and 5.
void narrow(unsigned char* bytes, int at, unsigned* out);
void divergent_groups(int* out);
/// a + b, a - b, a * b, a / b, 1 / b, sqrt(c) and a * b + c, each to nearest, to zero, down and up.
void rounded_floats(float a, float b, float c, float* out);
void rounded_doubles(double a, double b, double c, double* out);
/// whole, -whole, their remainders mod 2000000000, and x as floats; whole and -whole as doubles.
void rounded_conversions(long long whole, double x, double* out);
/// out = a b + out for a (16, k), b (k, 8) and out (16, 8), by one mma.
void mma(ptx::Factor type, int k, const float* a, const float* b, float* out);

}  // namespace sixdays::emulator::tests
