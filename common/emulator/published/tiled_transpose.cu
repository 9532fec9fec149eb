// Transposes through shared memory, so that both loads and stores are coalesced. One block has 32 x
// 32 elements and 32 x 8 threads; an extra column avoids bank conflicts.
#include "common/emulator/published/published.hpp"

namespace sixdays::emulator::published {

namespace {

enum { kNoBarrier = 1, kGuardNotTransposed };
constexpr int TILE = 32, THREAD_ROWS = 8;

__global__ void tiled_transpose_kernel(const float* in, int rows, int cols, float* out,
                                       int mistake) {
    __shared__ float tile[TILE][TILE + 1];
    const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
    const int x0 = static_cast<int>(blockIdx.x) * TILE, y0 = static_cast<int>(blockIdx.y) * TILE;
    for (int j = ty; j < TILE; j += THREAD_ROWS) {
        if (x0 + tx < cols && y0 + j < rows) tile[j][tx] = in[(y0 + j) * cols + x0 + tx];
    }
    if (mistake != kNoBarrier) __syncthreads();
    for (int j = ty; j < TILE; j += THREAD_ROWS) {
        const int x = y0 + tx, y = x0 + j;  // in the result, which has `rows` columns
        const bool inside =
            mistake == kGuardNotTransposed ? x < cols && y < rows : x < rows && y < cols;
        if (inside) out[y * rows + x] = tile[tx][j];  // MARK no_barrier guard_not_transposed
    }
}

}  // namespace

Outcome tiled_transpose(int mistake) {
    constexpr int kRows = 70, kCols = 45;
    const std::vector<float> values = numbers(kRows * kCols);
    std::vector<float> expected;
    for (int i = 0; i < kRows * kCols; ++i) {
        expected.push_back(values[static_cast<std::size_t>(i % kRows * kCols + i / kRows)]);
    }
    const Device<float> in(values), out(values.size());
    const dim3 grid((kCols + TILE - 1) / TILE, (kRows + TILE - 1) / TILE), block(TILE, THREAD_ROWS);
    tiled_transpose_kernel<<<grid, block>>>(in.data(), kRows, kCols, out.data(), mistake);
    return compare(out, expected);
}

}  // namespace sixdays::emulator::published
