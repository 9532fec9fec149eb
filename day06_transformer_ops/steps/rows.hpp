/// @file
/// What the steps of softmax and of the norms share: finding a row without slow divisions, and
/// holding it in the registers of the threads that work on it.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/reduce.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/rows.hpp"
#include "day06_transformer_ops/steps/quad.hpp"

namespace sixdays::day06_transformer_ops {

using gpu::Larger;
using gpu::Plus;

/// Where row number k begins: of[0] in `in`, of[1] in `out`, of[2] in a third tensor. Three dims are
/// enough for nearly all tensors, after simplify(), and every further one would cost each row.
inline constexpr int kRowDims = 3;
using RowWalk = Walk<kRowDims, 3>;

/// Calls f(walk, in, out, third) for pieces of fewer than 2^31 rows that are all of them together;
/// third is where the piece begins in the third tensor. If the rows have more than three dims, there
/// is a call for each index of the outer ones.
/// @param third  of the shape of in.first
template <class T, class U, class F>
void walk_rows(const View<T>& in, const View<U>& out, const Cut& third, const F& f) {
    const auto [from, to, other] = simplify(in.layout, out.layout, third.layout);
    if (from.size() >= kWalkable) {
        const auto again = [&](const View<T>& x, const View<U>& y, const Cut& z) {
            walk_rows(x, y, z, f);
        };
        return in_pieces(kWalkable, again, in, out, third);
    }
    if (from.rank() <= kRowDims) {
        return f(RowWalk({from, to, other}), in.data, out.data, third.first);
    }
    for (std::int64_t i = 0; i < from.extent(0); ++i) {
        Cut rest = select(other, 0, i);
        rest.first += third.first;
        walk_rows(select(View<T>(in.data, from), 0, i), select(View<U>(out.data, to), 0, i), rest,
                  f);
    }
}
template <class T, class U, class F>
void walk_rows(const Rows<T>& in, const Rows<U>& out, const Layout& third, const F& f) {
    walk_rows(in.first, out.first, Cut{third}, f);
}

// [held_row]
/// A row of whole quads, spread over THREADS threads: thread t has quads t, t + THREADS, ... of it,
/// FLOATS numbers in all. Both are constants, so every x[q][e] is a register.
template <class T, int THREADS, int FLOATS>
struct HeldRow {
    static constexpr int QUADS = FLOATS / kOfQuad<T>;
    float x[QUADS][kOfQuad<T>];

    /// Quad q of this thread begins at element index(q) of the row.
    __device__ static int index(int q) {
        return (threadIdx.x % THREADS + q * THREADS) * kOfQuad<T>;
    }

    /// The first n elements; `pad` stands for all others.
    __device__ void load(const T* row, int n, float pad) {
        uint4 quads[QUADS] = {};
#pragma unroll
        for (int q = 0; q < QUADS; ++q) {
            if (index(q) < n) quads[q] = __ldcs(reinterpret_cast<const uint4*>(row + index(q)));
        }
#pragma unroll
        for (int q = 0; q < QUADS; ++q) unpack<T>(quads[q], x[q]);
        fill(n, pad);
    }

    /// `pad` from element n on. Only a quad that n cuts, or none of which counts, needs a look at each.
    __device__ void fill(int n, float pad) {
#pragma unroll
        for (int q = 0; q < QUADS; ++q) {
            if (index(q) + kOfQuad<T> <= n) continue;
#pragma unroll
            for (int e = 0; e < kOfQuad<T>; ++e) {
                if (index(q) + e >= n) x[q][e] = pad;
            }
        }
    }

    /// Calls f(x) for every number that is held.
    template <class F>
    __device__ void each(const F& f) {
#pragma unroll
        for (int q = 0; q < QUADS; ++q) {
#pragma unroll
            for (int e = 0; e < kOfQuad<T>; ++e) f(x[q][e]);
        }
    }

    __device__ void store(T* row, int length) const {
#pragma unroll
        for (int q = 0; q < QUADS; ++q) {
            if (index(q) < length) __stcs(reinterpret_cast<uint4*>(row + index(q)), pack<T>(x[q]));
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
/// is kMostHeld at most. A warp that has the row to itself needs no barrier.
/// @tparam MOST  numbers of a thread, where the row is long: 16 or 32
template <class T, int MOST, class F>
void with_held(std::int64_t length, const F& f) {
    using std::integral_constant;
    constexpr integral_constant<int, MOST> most;
    if (length <= 256) return f(integral_constant<int, 32>(), integral_constant<int, 8>());
    if (length <= 512) return f(integral_constant<int, 32>(), integral_constant<int, 16>());
    if (length <= 1024) return f(integral_constant<int, 1024 / MOST>(), most);
    if (length <= 2048) return f(integral_constant<int, 2048 / MOST>(), most);
    if (length <= 4096) return f(integral_constant<int, 4096 / MOST>(), most);
    if (length <= 8192) return f(integral_constant<int, 8192 / MOST>(), most);
    return f(integral_constant<int, kMostHeld / MOST>(), most);
}

}  // namespace sixdays::day06_transformer_ops
