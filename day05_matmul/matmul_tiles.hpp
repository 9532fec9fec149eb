/// @file
/// The matrix product in tiles, for floats and for 16-bit numbers: a block walks along K and adds the
/// products of two tiles to a third. Who multiplies, the compiler decides by the type: floats go
/// through the multiply-adds of all threads (to round them to TF32 one would have to ask for it),
/// 16-bit numbers through tensor cores.
#pragma once

#include <cuda_tile.h>

#include "common/gpu/launch.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

namespace ct = cuda::tiles;
using I = std::int64_t;  // a tile kernel takes numbers and pointers, no struct

/// How a matrix lies: anyhow; or with rows, or columns, along memory, which begin at multiples of 16
/// bytes, and with as many rows and columns as whole quads have.
enum class Along { anything, rows, columns };

// [matrix]
/// The matrix at `data`, cut into tiles; `down` is the step from row to row. ALONG is a promise.
template <int ROWS, int COLUMNS, Along ALONG, int QUAD, class E>
__tile__ auto matrix(E* data, I rows, I columns, I down, I across) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    constexpr bool kRows = ALONG == Along::rows, kColumns = ALONG == Along::columns;
    constexpr int kWhole = kRows || kColumns ? QUAD : 1;
    data = ct::assume_aligned < kRows || kColumns ? 16 : int{sizeof(E)} > (data);
    const ct::extents<I, kAny, kAny> extents{ct::assume_divisible<kWhole>(rows),
                                             ct::assume_divisible<kWhole>(columns)};
    const ct::strides<I, kColumns ? 1 : kAny, kRows ? 1 : kAny> strides{
        ct::assume_divisible < kRows ? QUAD : 1 > (down),
        ct::assume_divisible < kColumns ? QUAD : 1 > (across)};
    const ct::tensor_span span{data, ct::layout_strided_mapping{extents, strides}};
    return ct::partition_view{span, ct::shape<ROWS, COLUMNS>{}};
}
// [matrix]

// [matmul]
template <int BM, int BN, int BK, Along A, Along B, Along OUT, bool PLUS, class E>
__tile_global__ void matmul_tile(const E* a, const E* b, I M, I N, I K, I a_m, I a_k, I b_k, I b_n,
                                 I out_m, I out_n, float alpha, float beta, const float* bias,
                                 I bias_n, bool relu, float* out) {
    constexpr int kQuad = 16 / sizeof(E);
    const auto as = matrix<BM, BK, A, kQuad>(a, M, K, a_m, a_k);
    const auto bs = matrix<BK, BN, B, kQuad>(b, K, N, b_k, b_n);
    const auto outs = matrix<BM, BN, OUT, kQuad>(out, M, N, out_m, out_n);
    // Tiles in groups of eight rows: neighbours read the same columns of b, out of the L2 cache.
    const I down = (M + BM - 1) / BM, group = 8 * ((N + BN - 1) / BN);
    const I first = ct::bid().x / group * 8, rows = ct::min(down - first, I{8});
    const I i = first + ct::bid().x % group % rows, j = ct::bid().x % group / rows;

    auto sum = ct::zeros<ct::tile<float, ct::shape<BM, BN>>>();
    for (const auto k : ct::irange(I{0}, (K + BK - 1) / BK)) {
        sum = ct::mma(as.load_masked(i, k), bs.load_masked(k, j), sum);
    }
    sum = alpha * sum;
    if constexpr (PLUS) {  // beta * out, or a bias, to each of its rows
        if (beta != 0) sum = sum + beta * outs.load_masked(i, j);
        const auto row = matrix<1, BN, Along::anything, 1>(bias, 1, N, 0, bias_n);
        if (bias != nullptr) sum = sum + row.load_masked(0, j);
    }
    if (relu) sum = ct::select(sum < 0.0f, ct::zeros<decltype(sum)>(), sum);  // NaN stays
    outs.store_masked(sum, i, j);
}
// [matmul]

/// Which promise holds for this matrix?
template <class T>
[[nodiscard]] Along along_memory(const View<T>& x, I quad) {
    if (reinterpret_cast<std::uintptr_t>(x.data) % 16 != 0 || x.extent(0) % quad != 0 ||
        x.extent(1) % quad != 0) {
        return Along::anything;
    }
    if (x.stride(1) == 1 && x.stride(0) % quad == 0) return Along::rows;
    return x.stride(0) == 1 && x.stride(1) % quad == 0 ? Along::columns : Along::anything;
}

// Of a dim of extent 1 no step is used.
template <class T>
[[nodiscard]] I step(const View<T>& x, int dim) {
    return x.extent(dim) == 1 ? 0 : x.stride(dim);
}

/// @param a, b, out  matrices that missing_for_tiles() has not refused; E is what the kernel calls T
template <int BM, int BN, int BK, class E, class T>
void launch_tiles(View<const T> a, View<const T> b, const Epilogue& then, View<float> out,
                  gpu::Stream stream) {
    constexpr I kQuad = 16 / sizeof(T);
    using enum Along;
    const bool biased = then.bias.data != nullptr;
    if (step(out, 0) == 1 && !biased) {  // seen from the other side: out^T = b^T a^T
        std::swap(a, b);
        a = transpose(a), b = transpose(b), out = transpose(out);
    }
    const Along of_a = along_memory(a, kQuad), of_b = along_memory(b, kQuad);
    auto kernel = matmul_tile<BM, BN, BK, anything, anything, anything, true, E>;
    if (of_a != anything && of_b != anything && along_memory(out, kQuad) == rows) {
        const auto promised = [&]<bool PLUS>() {
            return of_a == rows   ? of_b == rows
                                        ? matmul_tile<BM, BN, BK, rows, rows, rows, PLUS, E>
                                        : matmul_tile<BM, BN, BK, rows, columns, rows, PLUS, E>
                     : of_b == rows ? matmul_tile<BM, BN, BK, columns, rows, rows, PLUS, E>
                                  : matmul_tile<BM, BN, BK, columns, columns, rows, PLUS, E>;
        };
        // A load behind the loop, though never taken, and nvcc 13.5 fetches no tile ahead in it.
        kernel = then.beta != 0 || biased ? promised.template operator()<true>()
                                          : promised.template operator()<false>();
    }
    const I M = out.extent(0), N = out.extent(1);
    const unsigned grid = gpu::blocks_for((M + BM - 1) / BM * ((N + BN - 1) / BN), 1);
    kernel<<<grid, 1, 0, stream>>>(
        reinterpret_cast<const E*>(a.data), reinterpret_cast<const E*>(b.data), M, N, a.extent(1),
        step(a, 0), step(a, 1), step(b, 0), step(b, 1), step(out, 0), step(out, 1), then.alpha,
        then.beta, then.bias.data, biased ? step(then.bias, 0) : 0, then.relu, out.data);
    gpu::check_launch("matmul_tile", grid, 1);
}

}  // namespace sixdays::day05_matmul
