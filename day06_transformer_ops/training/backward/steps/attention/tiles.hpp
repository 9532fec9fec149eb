/// @file
/// Shared by the tiled steps of attention's backward pass. The block, its tiles and the product of
/// two tiles are those of the forward pass (attention/steps/tiles.hpp).
#pragma once

#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/attention/steps/tiles.hpp"
#include "day06_transformer_ops/training/backward/attention_backward_problem.hpp"

namespace sixdays::day06_transformer_ops::way_back {

using gpu::Larger, gpu::Plus;

inline constexpr float kLog2OfE = 1.44269504f;  // exp(x) is exp2(x * log2(e))

/// The columns of a tile that a row uses: [begin, end).
struct Range {
    int begin, end;
    __device__ bool has(int s) const { return begin <= s && s < end; }
};

/// Clamps an index to the tile, so that it fits an int.
template <class S>
__device__ __forceinline__ int within_tile(std::int64_t s) {
    return static_cast<int>(max(std::int64_t{0}, min(s, std::int64_t{S::TILE})));
}

template <class S>
using Products = float[S::ROWS][S::KEYS];  // of rows y, y + 16, ... with x, x + ACROSS, ...
template <class S>
using Outputs = float[S::ROWS][S::OUT];
template <class S>
inline constexpr int kAtOnce = S::HEAD > 64   ? 1
                               : S::HEAD > 32 ? 2
                                              : 3;  // blocks for which the registers suffice

/// sums += products . tile, whose rows are PITCH apart. ALL: each row uses all of them; else
/// only those in range(i): the others are not read.
template <class S, bool ALL, class Ranges>
__device__ __forceinline__ void add_rows(Outputs<S>& sums, const float* products, const float* tile,
                                         const Ranges& range) {
    const float* const mine = products + threadIdx.x / S::ACROSS * S::PITCH_WEIGHTS;
    const float* const columns = tile + 4 * (threadIdx.x % S::ACROSS);
#pragma unroll 2
    for (int s = 0; s < S::TILE; s += 4) {
        float factor[S::ROWS][4], row[S::OUT];
#pragma unroll
        for (int i = 0; i < S::ROWS; ++i) {
            read_vector(factor[i], mine + i * kDown * S::PITCH_WEIGHTS + s);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) {
#pragma unroll
            for (int c = 0; c < S::OUT; c += 4) {
                read_vector(row + c, columns + (s + e) * S::PITCH + c * S::ACROSS);
            }
#pragma unroll
            for (int i = 0; i < S::ROWS; ++i) {
                if (!ALL && !range(i).has(s + e)) continue;
#pragma unroll
                for (int c = 0; c < S::OUT; ++c) sums[i][c] += factor[i][e] * row[c];
            }
        }
    }
}

/// Writes a thread's products to shared memory.
template <class S>
__device__ __forceinline__ void put(float* tile, const Products<S>& products) {
    const int x = threadIdx.x % S::ACROSS, y = threadIdx.x / S::ACROSS;
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < S::KEYS; ++j) {
            tile[(y + i * kDown) * S::PITCH_WEIGHTS + x + j * S::ACROSS] = products[i][j];
        }
    }
}

/// Stores a thread's outputs, times `factor`, to the rows of `to` from row `first` on.
template <class S>
__device__ __forceinline__ void store(const Outputs<S>& sums, float factor, float* to,
                                      std::int64_t along_row, std::int64_t along_d,
                                      std::int64_t first, std::int64_t n, int D) {
    const int x = threadIdx.x % S::ACROSS, y = threadIdx.x / S::ACROSS;
#pragma unroll
    for (int i = 0; i < S::ROWS; ++i) {
        const std::int64_t r = first + y + i * kDown;
        if (r >= n) continue;
#pragma unroll
        for (int c = 0; c < S::OUT; ++c) {
            const int d = c / 4 * (4 * S::ACROSS) + 4 * x + c % 4;
            if (d < D) to[r * along_row + d * along_d] = factor * sums[i][c];
        }
    }
}

/// A step's two kernels. They get the problem and the number of heads.
struct Kernels {
    using Kernel = void(AttentionBackward, unsigned);
    Kernel* by_queries;
    Kernel* by_keys;
    const char *of_queries, *of_keys;  // their names
};

/// Launches both, by queries first.
template <class S>
void launch(const Kernels& kernels, const AttentionBackward& p, gpu::Stream stream) {
    constexpr std::size_t bytes = attention_backward_tiles_bytes(S::HEAD);
    const auto one = [&](Kernels::Kernel* kernel, const char* name, std::int64_t rows,
                         std::int64_t of_head) {
        if (rows == 0) return;
        const std::int64_t heads = rows / of_head;
        const unsigned grid = gpu::blocks_for(heads * gpu::blocks_for(of_head, S::QUERIES), 1);
        gpu::allow_shared(kernel, bytes);
        kernel<<<grid, S::THREADS, bytes, stream>>>(p, static_cast<unsigned>(heads));
        gpu::check_launch(name, grid, S::THREADS, bytes);
    };
    one(kernels.by_queries, kernels.of_queries, p.forward.q.count(), p.forward.tokens());
    one(kernels.by_keys, kernels.of_keys, p.k.count(), p.forward.S);
}

/// Calls f with the smallest Block that fits a head; it copies vectors if all rows are made of
/// them.
template <class F>
void with_block(const AttentionBackward& p, const F& f) {
    const std::int64_t D = p.forward.q.length;
    if (p.forward.vectorized && p.grad_vectorized) {
        D > 64 ? f(Block<128, 4, 4>()) : D > 32 ? f(Block<64, 4, 4>()) : f(Block<32, 4, 4>());
    } else {
        D > 64 ? f(Block<128, 4, 1>()) : f(Block<64, 4, 1>());
    }
}

}  // namespace sixdays::day06_transformer_ops::way_back
