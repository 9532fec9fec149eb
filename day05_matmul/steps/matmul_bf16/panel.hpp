/// @file
/// For .cu files: tiles of 16-bit elements in shared memory, and loading fragments from them.
#pragma once

#include "common/gpu/ptx/mma.hpp"

namespace sixdays::day05_matmul {

/// ROWS rows of 64 elements, 128 bytes: each row fills all 32 banks once. ldmatrix reads 16 bytes
/// of eight rows at a time. Without a swizzle these loads fall in the same four banks: eight
/// wavefronts. So the 16 bytes at position p of row r are stored at p ^ (r % 8): one wavefront. A
/// tile of more than 64 columns is several panels, one after another in memory.
template <class T, int ROWS>
struct Panel {
    T* data;

    // [swizzle]
    __device__ __forceinline__ static int offset(int row, int column) {
        const int place = column % 64 / 8 ^ row % 8;
        return (column / 64 * ROWS + row) * 64 + place * 8 + column % 8;
    }
    // [swizzle]
    __device__ __forceinline__ T* at(int row, int column) const {
        return data + offset(row, column);
    }
};

// [load_a]
/// The fragment of a that begins at (m, k). The rows of the tile are rows of a.
template <class T, int ROWS>
__device__ __forceinline__ void load_a(std::uint32_t (&to)[4], Panel<T, ROWS> tile, int m, int k) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    gpu::load_matrices(to, tile.at(m + lane % 16, k + lane / 16 * 8));
}
// [load_a]
/// Two fragments of b, those at (k, n) and (k, n + 8). The rows of the tile are columns of b.
template <class T, int ROWS>
__device__ __forceinline__ void load_b(std::uint32_t (&to)[2][2], Panel<T, ROWS> tile, int k,
                                       int n) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    std::uint32_t both[4];
    gpu::load_matrices(both, tile.at(n + lane % 8 + lane / 16 * 8, k + lane / 8 % 2 * 8));
    for (int i = 0; i < 4; ++i) to[i / 2][i % 2] = both[i];
}

/// The same for tiles with rows of k's: a's tile is transposed, and b's is not.
template <class T, int ROWS>
__device__ __forceinline__ void load_a_across(std::uint32_t (&to)[4], Panel<T, ROWS> tile, int m,
                                              int k) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    gpu::load_matrices_transposed(to, tile.at(k + lane % 8 + lane / 16 * 8, m + lane / 8 % 2 * 8));
}
template <class T, int ROWS>
__device__ __forceinline__ void load_b_across(std::uint32_t (&to)[2][2], Panel<T, ROWS> tile, int k,
                                              int n) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    std::uint32_t both[4];
    gpu::load_matrices_transposed(both, tile.at(k + lane % 16, n + lane / 16 * 8));
    for (int i = 0; i < 4; ++i) to[i / 2][i % 2] = both[i];
}

}  // namespace sixdays::day05_matmul
