// Softmax of each row, one warp per row, with online softmax: maximum and sum in one pass, and the
// sum is rescaled when the maximum grows.
#include <algorithm>
#include <cfloat>

#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kLanesLeave = 1, kOneTooFar };

struct Running {
    float greatest, sum;
};

__device__ Running merge(Running a, Running b) {
    const float greatest = fmaxf(a.greatest, b.greatest);
    return {greatest, a.sum * expf(a.greatest - greatest) + b.sum * expf(b.greatest - greatest)};
}

__global__ void online_softmax_kernel(const float* in, int rows, int cols, float* out,
                                      int mistake) {
    const int row = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (row >= rows) return;  // a whole warp
    if (mistake == kLanesLeave && lane >= cols % 32) return;
    in += row * cols;
    out += row * cols;
    const int end = mistake == kOneTooFar ? cols + 1 : cols;
    Running mine = {-FLT_MAX, 0.0f};
    for (int c = lane; c < end; c += 32) {
        mine = merge(mine, {in[c], 1.0f});  // MARK one_too_far
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        const float greatest =
            __shfl_xor_sync(0xffffffffu, mine.greatest, distance);  // MARK lanes_leave
        mine = merge(mine, {greatest, __shfl_xor_sync(0xffffffffu, mine.sum, distance)});
    }
    for (int c = lane; c < cols; c += 32) out[c] = expf(in[c] - mine.greatest) / mine.sum;
}

}  // namespace

Outcome online_softmax(int mistake) {
    constexpr int kRows = 5, kCols = 77;
    const std::vector<float> values = numbers(kRows * kCols);
    std::vector<float> expected;
    for (auto row = values.begin(); row != values.end(); row += kCols) {
        const double greatest = *std::max_element(row, row + kCols);
        double sum = 0.0;
        std::for_each(row, row + kCols, [&](float v) { sum += std::exp(v - greatest); });
        std::for_each(row, row + kCols, [&](float v) {
            expected.push_back(static_cast<float>(std::exp(v - greatest) / sum));
        });
    }
    const Device<float> in(values), out(values.size());
    online_softmax_kernel<<<3, 64>>>(in.data(), kRows, kCols, out.data(), mistake);
    return compare(out, expected, 1e-6);  // values up to 1; 77 terms, about ten roundings of 6e-8
}

}  // namespace sixdays::emulator::published
