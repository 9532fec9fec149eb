// Normalizes each row to mean 0 and deviation 1: one block per row, and two block-wide sums that
// share an array.
#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kNoBarrier = 1, kAllWarps };

__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

// The sum of all threads' values, in every thread.
__device__ float block_sum(float value, float* warp_sums, int mistake) {
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    value = warp_sum(value);
    if (lane == 0) warp_sums[warp] = value;  // MARK no_barrier
    __syncthreads();
    const unsigned warps = mistake == kAllWarps ? 32 : blockDim.x / 32;
    value = lane < warps ? warp_sums[lane] : 0.0f;  // MARK all_warps
    if (mistake != kNoBarrier) __syncthreads();     // all have read before the next sum writes
    return warp_sum(value);
}

__global__ void layer_norm_kernel(const float* in, int cols, float* out, int mistake) {
    __shared__ float warp_sums[32];
    in += static_cast<int>(blockIdx.x) * cols;
    out += static_cast<int>(blockIdx.x) * cols;
    const int start = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
    float sum = 0.0f;
    for (int c = start; c < cols; c += step) sum += in[c];
    const float mean = block_sum(sum, warp_sums, mistake) / static_cast<float>(cols);
    float squares = 0.0f;
    for (int c = start; c < cols; c += step) squares += (in[c] - mean) * (in[c] - mean);
    const float variance = block_sum(squares, warp_sums, mistake) / static_cast<float>(cols);
    const float scale = rsqrtf(variance + 1e-5f);
    for (int c = start; c < cols; c += step) out[c] = (in[c] - mean) * scale;
}

}  // namespace

Outcome layer_norm(int mistake) {
    constexpr int kRows = 3, kCols = 300;
    const std::vector<float> values = numbers(kRows * kCols);
    std::vector<float> expected;
    for (auto row = values.begin(); row != values.end(); row += kCols) {
        double mean = 0.0, variance = 0.0;
        for (int c = 0; c < kCols; ++c) mean += row[c] / double{kCols};
        for (int c = 0; c < kCols; ++c) variance += (row[c] - mean) * (row[c] - mean) / kCols;
        for (int c = 0; c < kCols; ++c) {
            expected.push_back(static_cast<float>((row[c] - mean) / std::sqrt(variance + 1e-5)));
        }
    }
    const Device<float> in(values), out(values.size());
    layer_norm_kernel<<<kRows, 128>>>(in.data(), kCols, out.data(), mistake);
    return compare(out, expected, 1e-5);  // values up to 2; exact terms, about ten roundings
}

}  // namespace sixdays::emulator::published
