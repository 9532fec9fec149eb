/// @file
/// For .cu files: one thread's part of the copies that bring tiles of an operand to the ring. An
/// operand is seen as rows (m of a, n of b) of K elements. Its tile has ROWS rows of BK elements
/// and is stored transposed: tile[k][row].
#pragma once

#include <cstdint>

#include "common/gpu/ptx.hpp"

namespace sixdays::day05_matmul {

/// Along which dimension do the lanes of a warp copy? Any is correct for any strides; one is fast.
enum class Lanes {
    along_k,    // 4 bytes per copy: 8 elements of 4 rows
    along_row,  // 4 bytes per copy: one element of 32 rows
    vectors,    // 16 bytes per copy, of 4 rows; needs rows_are_vectors()
};

template <int ROWS, int BK, int THREADS, Lanes LANES>
struct Copies {
    static constexpr int kWide = LANES == Lanes::vectors ? 4 : 1;  // elements per copy
    static constexpr int kEach = ROWS * BK / kWide / THREADS;      // copies per thread and tile
    static constexpr int kPitch = ROWS + (LANES == Lanes::along_k ? 4 : 0);  // see the banks below
    static constexpr int kTile = BK * kPitch;

    const float* from;  // this thread's first element of the next tile
    std::int64_t step_row, step_k;
    int to, k0;  // its position in a stage, and its k

    /// @param operand  its first row in this tile, k = 0
    __device__ __forceinline__ Copies(const float* operand, std::int64_t row, std::int64_t k)
        : step_row(LANES == Lanes::vectors ? 1 : row), step_k(k) {
        const int t = static_cast<int>(threadIdx.x);
        const int first = LANES == Lanes::along_k ? t / 8 : t % kLine * kWide;
        k0 = LANES == Lanes::along_k ? t % 8 : t / kLine;
        from = operand + first * step_row + k0 * step_k;
        to = k0 * kPitch + first;
    }

    __device__ __forceinline__ void advance(int k) { from += k * step_k; }

    /// Copy i of this thread. Along k a warp writes 8 rows of the tile at 4 positions: 4 words of
    /// padding per row put these into 32 banks.
    __device__ __forceinline__ void start(int i, float* stage) const {
        gpu::copy_async<4 * kWide>(stage + to + k_of(i) * kPitch + row_of(i),
                                   from + row_of(i) * step_row + k_of(i) * step_k);
    }

    /// All copies of a tile of which only the first `depth` k's exist; zeros for the others.
    __device__ __forceinline__ void start_ragged(float* stage, int depth) const {
        for (int i = 0; i < kEach; ++i) {
            const bool inside = k0 + k_of(i) < depth;
            gpu::copy_async<4 * kWide>(
                stage + to + k_of(i) * kPitch + row_of(i),
                from + row_of(i) * step_row + (inside ? k_of(i) : -k0) * step_k,
                inside ? 4 * kWide : 0);
        }
    }

private:
    // Lanes along a row: this many lanes copy one k, and the block copies several k's at once.
    static constexpr int kLine = ROWS / kWide;
    static_assert(LANES == Lanes::along_k || THREADS % kLine == 0 || kLine % THREADS == 0);
    static constexpr int kParts = kLine > THREADS ? kLine / THREADS : 1;
    static constexpr int kRowsAtOnce = THREADS / 8;  // along k

    __device__ static constexpr int row_of(int i) {
        if (LANES == Lanes::along_k) return i % (ROWS / kRowsAtOnce) * kRowsAtOnce;
        return i % kParts * THREADS * kWide;
    }
    __device__ static constexpr int k_of(int i) {
        if (LANES == Lanes::along_k) return i / (ROWS / kRowsAtOnce) * 8;
        return kLine > THREADS ? i / kParts : i * (THREADS / kLine);
    }
};

}  // namespace sixdays::day05_matmul
