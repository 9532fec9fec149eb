/// @file
/// What the steps of softmax and of the norms share: finding a row without slow divisions, and
/// holding it in the registers of the threads that work on it.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

#include "common/gpu/reduce.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
    __device__ float operator()(float a, float b) const { return a + b; }
};

/// Where row number k begins: of[0] in `in`, of[1] in `out`, of[2] in a third tensor.
using RowWalk = Walk<kMaxRank, 3>;

/// Calls f(walk, in, out, third) for pieces of fewer than 2^31 rows that are all of them together;
/// third is where the piece begins in the third tensor.
/// @param third  of the shape of in.first
template <class T, class U, class F>
void walk_rows(const Rows<T>& in, const Rows<U>& out, const Layout& third, const F& f) {
    const auto piece = [&](const View<T>& from, const View<U>& to, const Cut& cut) {
        const auto layouts = simplify(from.layout, to.layout, cut.layout);
        f(RowWalk(layouts), from.data, to.data, cut.first);
    };
    in_pieces(kWalkable, piece, in.first, out.first, Cut{third});
}

// [held_row]
/// A row of whole quads, spread over THREADS threads: thread t has quads t, t + THREADS, ... of it,
/// FLOATS numbers in all. Both are constants, so every x[j] is a register.
template <class T, int THREADS, int FLOATS>
struct HeldRow {
    static constexpr int kOfQuad = 16 / sizeof(T);
    float x[FLOATS];

    /// Number j of this thread is element index(j) of the row.
    __device__ static int index(int j) {
        const int thread = threadIdx.x % THREADS;
        return (thread + j / kOfQuad * THREADS) * kOfQuad + j % kOfQuad;
    }

    /// The first n elements; `pad` stands for all others.
    __device__ void load(const T* row, int n, float pad) {
        for (int j = 0; j < FLOATS; j += kOfQuad) {
            uint4 quad = make_uint4(0, 0, 0, 0);
            if (index(j) < n) quad = *reinterpret_cast<const uint4*>(row + index(j));
            T of[kOfQuad];
            memcpy(of, &quad, sizeof quad);
            for (int e = 0; e < kOfQuad; ++e) {
                x[j + e] = index(j + e) < n ? float(of[e]) : pad;
            }
        }
    }

    __device__ void store(T* row, int length) const {
        for (int j = 0; j < FLOATS; j += kOfQuad) {
            T of[kOfQuad];
            for (int e = 0; e < kOfQuad; ++e) of[e] = T(x[j + e]);
            uint4 quad;
            memcpy(&quad, of, sizeof quad);
            if (index(j) < length) *reinterpret_cast<uint4*>(row + index(j)) = quad;
        }
    }
};
// [held_row]

/// What the threads of one row have, combined; each has the result.
template <int THREADS, class V, class Combine>
__device__ V row_reduce(const V& value, const Combine& combine) {
    if constexpr (THREADS == 32) {
        return gpu::warp_reduce(value, combine);
    } else {
        return gpu::block_reduce<THREADS>(value, combine);
    }
}

/// Rows of a block, when THREADS threads take a row: a block of one warp would be a small one.
template <int THREADS>
inline constexpr int kRowsOfBlock = THREADS == 32 ? 4 : 1;

/// Calls f(threads, floats), both constants, with what is enough to hold a row of `length`, which
/// is kMostHeld at most.
template <class F>
void with_held(std::int64_t length, const F& f) {
    using std::integral_constant;
    const integral_constant<int, 16> few;
    if (length <= 32 * 16) return f(integral_constant<int, 32>(), few);
    if (length <= 128 * 16) return f(integral_constant<int, 128>(), few);
    if (length <= 256 * 16) return f(integral_constant<int, 256>(), few);
    if (length <= 1024 * 16) return f(integral_constant<int, 1024>(), few);
    return f(integral_constant<int, 1024>(), integral_constant<int, 32>());
}

}  // namespace sixdays::day06_transformer_ops
