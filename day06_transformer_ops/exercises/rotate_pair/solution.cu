// Exercise 14: rotate queries and keys by their positions.
// Specification:    day06_transformer_ops/exercises/rotate_pair/rotate_pair.hpp
// CPU reference:    day06_transformer_ops/exercises/rotate_pair/rotate_pair_cpu.cpp
// Hints:            common/learn hint day06 rotate_pair
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/exercises/rotate_pair/rotate_pair.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

__global__ void rotate_pair_kernel(const float* in, const float* table, std::int64_t first,
                                   std::int64_t T, std::int64_t H, std::int64_t D, float* out) {
    // your code: one thread per pair
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x, half = D / 2;
    if (k >= T * H * half) return;
    const std::int64_t t = k / half / H, i = k % half;
    const float* row = table + (first + t) * D;
    const float a = in[2 * k], b = in[2 * k + 1], c = row[i], s = row[half + i];
    out[2 * k] = a * c - b * s;
    out[2 * k + 1] = a * s + b * c;
    // wrong 123456789: const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x, half = D / 2;
    // wrong 12345678: if (k >= T * H * half) return;
    // wrong 9: if (k >= T * H) return;
    // wrong 1235678: const std::int64_t t = k / half / H, i = k % half;
    // wrong 4: const std::int64_t t = k / half % H, i = k % half;
    // wrong 1245678: const float* row = table + (first + t) * D;
    // wrong 3: const float* row = table + t * D;
    // wrong 1234678: const float c = row[i], s = row[half + i];
    // wrong 5: const float c = row[2 * i], s = row[2 * i + 1];
    // wrong 1: out[2 * k] = in[2 * k] * c - in[2 * k + 1] * s;
    // wrong 1: out[2 * k + 1] = in[2 * k] * s + in[2 * k + 1] * c;
    // wrong 2: const std::int64_t at = k / half * D + i;
    // wrong 2: const float a = in[at], b = in[at + half];
    // wrong 2: out[at] = a * c - b * s;
    // wrong 2: out[at + half] = a * s + b * c;
    // wrong 345678: const float a = in[2 * k], b = in[2 * k + 1];
    // wrong 3458: out[2 * k] = a * c - b * s;
    // wrong 345: out[2 * k + 1] = a * s + b * c;
    // wrong 6: out[2 * k] = a * c + b * s;
    // wrong 6: out[2 * k + 1] = b * c - a * s;
    // wrong 7: out[2 * k] = a * c - b * s;
    // wrong 7: out[2 * k + 1] = b * c;
    // wrong 8: out[2 * k + 1] = a * s - b * c;
    // wrong 9: const float* row = table + (first + k / H) * D;
    // wrong 9: for (std::int64_t i = 0; i < half; ++i) {
    // wrong 9:     const std::int64_t at = k * D + 2 * i;
    // wrong 9:     const float a = in[at], b = in[at + 1], c = row[i], s = row[half + i];
    // wrong 9:     out[at] = a * c - b * s;
    // wrong 9:     out[at + 1] = a * s + b * c;
    // wrong 9: }
    // told: overwritten before the second was computed
    // told 2: Element i was paired with
    // told 3: `first` is missing
    // told 4: Each head was rotated by another row
    // told 5: cosines and sines do not alternate
    // told 6: in the opposite direction
    // told 7: s is missing in the second number
    // told 8: The second number has the wrong sign of b
    // told 9: the accesses are uncoalesced
    // end of your code
}

}  // namespace

void rotate_pair_cuda(View<const float> in, View<const float> table, std::int64_t first,
                      View<float> out, gpu::Stream stream) {
    check_rotate_pair(in, table, first, out);
    if (in.size() == 0) return;
    const std::int64_t T = in.extent(0), H = in.extent(1), D = in.extent(2);
    const unsigned grid = gpu::blocks_for(in.size() / 2, kThreads);
    rotate_pair_kernel<<<grid, kThreads, 0, stream>>>(in.data, table.data, first, T, H, D,
                                                      out.data);
    gpu::check_launch("rotate_pair_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
