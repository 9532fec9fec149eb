// y = A x with A in bf16: one warp per row, two elements per load, sums in float.
#include <cuda_bf16.h>

#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kOddStart = 1, kPairTooMany };

__global__ void bf16_matvec_kernel(const __nv_bfloat16* a, const float* x, int rows, int cols,
                                   float* y, int mistake) {
    const int row = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (row >= rows) return;  // a whole warp
    // Rows start at even elements, so that pairs are 4-byte aligned.
    const int pitch = mistake == kOddStart ? cols : cols + cols % 2;
    const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(a + row * pitch);
    const int whole = mistake == kPairTooMany ? (cols + 1) / 2 : cols / 2;
    float sum = 0.0f;
    for (int i = lane; i < whole; i += 32) {
        const float2 pair = __bfloat1622float2(pairs[i]);  // MARK odd_start
        sum += pair.x * x[2 * i] + pair.y * x[2 * i + 1];  // MARK pair_too_many
    }
    if (cols % 2 != 0 && lane == 0)
        sum += __bfloat162float(a[row * pitch + cols - 1]) * x[cols - 1];
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    }
    if (lane == 0) y[row] = sum;
}

}  // namespace

Outcome bf16_matvec(int mistake) {
    constexpr int kRows = 6, kCols = 75, kPitch = 76;
    const std::vector<float> a = numbers(kRows * kPitch), x = numbers(kCols);
    std::vector<__nv_bfloat16> rounded;
    for (const float v : a) rounded.push_back(__float2bfloat16(v));  // exact: 4 bits suffice
    std::vector<float> expected(kRows, 0.0f);
    for (int i = 0; i < kRows * kCols; ++i) {
        const auto row = static_cast<std::size_t>(i / kCols),
                   col = static_cast<std::size_t>(i % kCols);
        expected[row] += a[row * kPitch + col] * x[col];
    }
    const Device<__nv_bfloat16> matrix(rounded);
    const Device<float> vector(x), out(kRows);
    bf16_matvec_kernel<<<2, 96>>>(matrix.data(), vector.data(), kRows, kCols, out.data(), mistake);
    return compare(out, expected);
}

}  // namespace sixdays::emulator::published
