/// @file
/// The matrix product as a tile kernel, for floats and for 16-bit elements: a block steps along K
/// and adds the product of two tiles to a third. The compiler chooses the unit by the type: floats
/// use the FMA units (TF32 would have to be requested), 16-bit elements the tensor cores.
#pragma once

#include <cuda_tile.h>

#include <algorithm>
#include <limits>

#include "common/gpu/device.hpp"
#include "common/gpu/launch.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

namespace ct = cuda::tiles;

/// The guarantee about a matrix. Contiguous rows or columns begin at multiples of 16 bytes, and
/// extents are whole 16-byte vectors.
enum class Along {
    anything,  ///< none
    rows,      ///< contiguous rows
    columns    ///< contiguous columns
};

/// The matrix (rows, columns) at `data` with strides (down, across), cut into tiles of (ROWS,
/// COLUMNS).
/// @tparam ALONG   a guarantee
/// @tparam VECTOR  elements of 16 bytes, of which extents and strides are then multiples
template <int ROWS, int COLUMNS, Along ALONG, int VECTOR, class E, class I>
__tile__ auto matrix(E* data, I rows, I columns, I down, I across) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    constexpr bool kRows = ALONG == Along::rows, kColumns = ALONG == Along::columns;
    constexpr int kBytes = kRows || kColumns ? 16 : int{sizeof(E)};
    constexpr int kDown = kRows ? VECTOR : 1, kAcross = kColumns ? VECTOR : 1;
    constexpr int kWhole = kDown * kAcross;  // one of the two factors is 1
    const ct::extents<I, kAny, kAny> extents{ct::assume_divisible<kWhole>(rows),
                                             ct::assume_divisible<kWhole>(columns)};
    const ct::strides<I, kColumns ? 1 : kAny, kRows ? 1 : kAny> strides{
        ct::assume_divisible<kDown>(down), ct::assume_divisible<kAcross>(across)};
    const ct::tensor_span span{ct::assume_aligned<kBytes>(data),
                               ct::layout_strided_mapping{extents, strides}};
    return ct::partition_view{span, ct::shape<ROWS, COLUMNS>{}};
}

/// The row i and column j of tile t of down x across tiles. Tiles go in groups of eight rows:
/// concurrent tiles read the same columns of b from the L2 cache.
template <class I>
__tile__ void place(I t, I down, I across, I& i, I& j) {
    const I group = 8 * across, first = t / group * 8, rows = ct::min(down - first, I{8});
    i = first + t % group % rows, j = t % group / rows;
}

/// The tile sizes of a block, and its number of warps: a hint, without which nvcc uses four. STAY:
/// if the epilogue adds nothing, the kernel is persistent.
template <int M, int N, int K, int W, bool STAY = false>
struct Blocks {
    static constexpr int BM = M,  ///< rows of a tile of out
        BN = N,                   ///< columns of a tile of out
        BK = K,                   ///< elements along K per step
        WARPS = W;                ///< warps of a block
    /// Whether the kernel is persistent, if the epilogue adds nothing.
    static constexpr bool kStay = STAY;
};

/// out = alpha * a b, one block per tile of (BM, BN); with PLUS also beta * out, the bias and
/// swish.
/// @param a_m, a_k  strides of a; 0 for an extent of 1, and so for the others
template <int BM, int BN, int BK, int WARPS, Along A, Along B, Along OUT, bool PLUS, class I,
          class E>
[[cutile::hint(0, num_worker_warps_per_cta = WARPS)]] __tile_global__ void matmul_tile(
    const E* __restrict__ a, const E* __restrict__ b, I M, I N, I K, I a_m, I a_k, I b_k, I b_n,
    I out_m, I out_n, float alpha, float beta, const float* __restrict__ bias, I bias_n, bool swish,
    bool relu, float* __restrict__ out) {
    constexpr int kVectorBytes = 16 / sizeof(E);
    // [matmul]
    const auto as = matrix<BM, BK, A, kVectorBytes>(a, M, K, a_m, a_k);
    const auto bs = matrix<BK, BN, B, kVectorBytes>(b, K, N, b_k, b_n);
    const auto outs = matrix<BM, BN, OUT, kVectorBytes>(out, M, N, out_m, out_n);
    I i = 0, j = 0;
    place<I>(ct::bid().x, (M + BM - 1) / BM, (N + BN - 1) / BN, i, j);

    auto sum = ct::zeros<ct::tile<float, ct::shape<BM, BN>>>();
    for (const auto k : ct::irange(I{0}, (K + BK - 1) / BK)) {
        sum = ct::mma(as.load_masked(i, k), bs.load_masked(k, j), sum);
    }
    // [matmul]
    sum = alpha * sum;
    if constexpr (PLUS) {  // beta * out, a bias per row, or swish
        if (beta != 0) sum = sum + beta * outs.load_masked(i, j);
        const auto row = matrix<1, BN, Along::anything, 1>(bias, I{1}, N, I{0}, bias_n);
        if (bias != nullptr) sum = sum + row.load_masked(0, j);
        if (swish) sum = sum / (1.0f + ct::exp(-sum));
    }
    if (relu) sum = ct::select(sum < 0.0f, ct::zeros<decltype(sum)>(), sum);  // keeps NaN
    outs.store_masked(sum, i, j);
}

/// out = alpha * a b for an epilogue that adds nothing, as a persistent kernel: each block
/// continues with another tile, whose elements are loaded while it stores.
/// @param a_m, a_k  strides of a; 0 for an extent of 1, and so for the others
template <int BM, int BN, int BK, int WARPS, Along A, Along B, Along OUT, class I, class E>
[[cutile::hint(0, num_worker_warps_per_cta = WARPS)]] __tile_global__ void matmul_staying_tile(
    const E* __restrict__ a, const E* __restrict__ b, I M, I N, I K, I a_m, I a_k, I b_k, I b_n,
    I out_m, I out_n, float alpha, bool relu, float* __restrict__ out) {
    constexpr int kVectorBytes = 16 / sizeof(E);
    const auto as = matrix<BM, BK, A, kVectorBytes>(a, M, K, a_m, a_k);
    const auto bs = matrix<BK, BN, B, kVectorBytes>(b, K, N, b_k, b_n);
    const auto outs = matrix<BM, BN, OUT, kVectorBytes>(out, M, N, out_m, out_n);
    const I down = (M + BM - 1) / BM, across = (N + BN - 1) / BN;
    const I mine = ct::bid().x, blocks = ct::num_blocks().x;
    for (const auto t : ct::irange(mine, down * across, blocks)) {
        I i = 0, j = 0;
        place<I>(t, down, across, i, j);
        auto sum = ct::zeros<ct::tile<float, ct::shape<BM, BN>>>();
        for (const auto k : ct::irange(I{0}, (K + BK - 1) / BK)) {
            sum = ct::mma(as.load_masked(i, k), bs.load_masked(k, j), sum);
        }
        sum = alpha * sum;
        if (relu) sum = ct::select(sum < 0.0f, ct::zeros<decltype(sum)>(), sum);  // keeps NaN
        outs.store_masked(sum, i, j);
    }
}

/// Which guarantee holds for this matrix.
/// @param vector  elements in 16 bytes
template <class T>
[[nodiscard]] Along along_memory(const View<T>& x, std::int64_t vector) {
    if (reinterpret_cast<std::uintptr_t>(x.data) % 16 != 0 || x.extent(0) % vector != 0 ||
        x.extent(1) % vector != 0) {
        return Along::anything;
    }
    if (x.stride(1) == 1 && x.stride(0) % vector == 0) return Along::rows;
    return x.stride(0) == 1 && x.stride(1) % vector == 0 ? Along::columns : Along::anything;
}

// The stride of a dimension of extent 1 is unused.
/// The stride of a dimension; 0 if its extent is 1, where the stride is unused.
template <class T>
[[nodiscard]] std::int64_t step(const View<T>& x, int dim) {
    return x.extent(dim) == 1 ? 0 : x.stride(dim);
}

// Can its elements be counted in 32 bits, including the rest of the last tile?
/// Whether its elements can be counted in 32 bits, including the rest of the last tile.
template <class T>
[[nodiscard]] bool is_small(const View<T>& x) {
    return required_span(x.layout) <= std::numeric_limits<int>::max() - 4096;
}

/// Launches the tile kernel that suits these matrices. Nothing is checked.
/// @tparam PROMISED, OTHERWISE  Blocks for matrices with every guarantee, and for others
/// @tparam E  the element type in the kernel
/// @param a, b, out  matrices that missing_for_tiles() accepts
template <class PROMISED, class OTHERWISE, class E, class T>
void launch_tiles(View<const T> a, View<const T> b, const Epilogue& then, View<float> out,
                  gpu::Stream stream) {
    constexpr std::int64_t kVectorBytes = 16 / sizeof(T);
    using enum Along;
    const bool biased = then.bias.data != nullptr;
    if (step(out, 0) == 1 && !biased) {  // transposed: out^T = b^T a^T
        std::swap(a, b);
        a = transpose(a), b = transpose(b), out = transpose(out);
    }
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    const auto tiles = [=]<class BLOCKS>(BLOCKS) {
        constexpr int BM = BLOCKS::BM, BN = BLOCKS::BN;
        return gpu::blocks_for((M + BM - 1) / BM * ((N + BN - 1) / BN), 1);
    };
    const auto launch = [&]<class I>(auto kernel, unsigned grid, I, auto... plus) {
        const auto number = [](std::int64_t x) { return static_cast<I>(x); };
        if (K == 0) a.data = b.data = nullptr;  // else they could alias out, which is __restrict__
        kernel<<<grid, 1, 0, stream>>>(
            reinterpret_cast<const E*>(a.data), reinterpret_cast<const E*>(b.data), number(M),
            number(N), number(K), number(step(a, 0)), number(step(a, 1)), number(step(b, 0)),
            number(step(b, 1)), number(step(out, 0)), number(step(out, 1)), then.alpha, plus...,
            then.relu, out.data);
        gpu::check_launch("matmul_tile", grid, 1);
    };
    const auto launch_plus = [&]<class I>(auto kernel, unsigned grid, I) {
        launch(kernel, grid, I{}, then.beta, then.bias.data,
               static_cast<I>(biased ? step(then.bias, 0) : 0), then.swish);
    };
    const Along of_a = along_memory(a, kVectorBytes), of_b = along_memory(b, kVectorBytes);
    const bool promised =
        of_a != anything && of_b != anything && along_memory(out, kVectorBytes) == rows;
    if (!promised || !is_small(a) || !is_small(b) || !is_small(out) || !is_small(then.bias)) {
        using I = std::int64_t;
        using X = OTHERWISE;
        return launch_plus(
            matmul_tile<X::BM, X::BN, X::BK, X::WARPS, anything, anything, anything, true, I, E>,
            tiles(X{}), I{});
    }
    // With a load after the loop, even one never executed, nvcc 13.5 prefetches no tile in it. With
    // 64-bit indices, or pointers that may alias, tensor cores wait most of the time.
    const auto by = [&]<Along A, Along B>() {
        using X = PROMISED;
        if (then.beta != 0 || biased || then.swish) {
            return launch_plus(matmul_tile<X::BM, X::BN, X::BK, X::WARPS, A, B, rows, true, int, E>,
                               tiles(X{}), int{});
        }
        if constexpr (X::kStay) {
            launch(matmul_staying_tile<X::BM, X::BN, X::BK, X::WARPS, A, B, rows, int, E>,
                   std::min(tiles(X{}), static_cast<unsigned>(gpu::multiprocessors())), int{});
        } else {
            launch_plus(matmul_tile<X::BM, X::BN, X::BK, X::WARPS, A, B, rows, false, int, E>,
                        tiles(X{}), int{});
        }
    };
    if (of_a == rows) {
        return of_b == rows ? by.template operator()<rows, rows>()
                            : by.template operator()<rows, columns>();
    }
    of_b == rows ? by.template operator()<columns, rows>()
                 : by.template operator()<columns, columns>();
}

}  // namespace sixdays::day05_matmul
