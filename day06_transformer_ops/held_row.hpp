/// @file
/// Shared by steps that work on rows: finding a row without slow divisions, and keeping it in the
/// registers of the threads that work on it.
#pragma once

#include <cuda_runtime.h>

#include "common/gpu/reduce.hpp"
#include "common/gpu/vector.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

using gpu::Larger;
using gpu::Plus;

/// Dimensions of a RowWalk. After simplify(), three are enough for nearly all tensors, and each
/// further one would cost every row.
inline constexpr int kRowDims = 3;
/// The start of row k: of[0] in `in`, of[1] in `out`, of[2] in a third tensor.
using RowWalk = Walk<kRowDims, 3>;

/// Calls f(walk, in, out, third) for pieces of fewer than 2^31 rows that together are all rows;
/// third is the start of the piece in the third tensor. If the rows have more than three
/// dimensions, there is one call per index of the outer ones.
/// @param third  same shape as in.first
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

/// A register-resident row of whole vectors, spread over THREADS threads: thread t has vectors t,
/// t + THREADS, ..., at most VECTORS. Both are constants, so every vector is four registers. bf16
/// stays 16 bits wide and is widened on each use: a row of bf16 takes half the registers of a row
/// of floats.
template <class T, int THREADS, int VECTORS>
struct HeldRow {
    uint4 vectors[VECTORS];  // this thread's

    /// Vector q of this thread begins at element index(q) of the row.
    __device__ static int index(int q) {
        return (threadIdx.x % THREADS + q * THREADS) * kPerVector<T>;
    }

    /// The first n elements; the others become `pad`.
    __device__ void load(const T* row, int n, float pad) {
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            vectors[q] = uint4{};
            if (index(q) < n) vectors[q] = __ldcs(reinterpret_cast<const uint4*>(row + index(q)));
        }
        fill(n, pad);
    }

    /// Calls f(i, vector) for this thread's vectors that exist in a row of `length`; the vector
    /// begins at element i.
    template <class F>
    __device__ void each_vector(int length, const F& f) {
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            if (index(q) < length) f(index(q), vectors[q]);
        }
    }

    /// Calls f(x) for each element in registers.
    template <class F>
    __device__ void each(const F& f) const {
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            float x[kPerVector<T>];
            unpack<T>(vectors[q], x);
#pragma unroll
            for (int e = 0; e < kPerVector<T>; ++e) f(x[e]);
        }
    }

    /// Adds the elements of another row.
    __device__ void add(const HeldRow& other) {
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            float x[kPerVector<T>], y[kPerVector<T>];
            unpack<T>(vectors[q], x);
            unpack<T>(other.vectors[q], y);
#pragma unroll
            for (int e = 0; e < kPerVector<T>; ++e) x[e] += y[e];
            vectors[q] = pack<T>(x);
        }
    }

    /// Replaces each element x in registers, element i of the row, by f(i, x).
    template <class F>
    __device__ void change(const F& f) {
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) change_vector(q, f);
    }
    /// The same for vector q of this thread.
    template <class F>
    __device__ void change_vector(int q, const F& f) {
        float x[kPerVector<T>];
        unpack<T>(vectors[q], x);
#pragma unroll
        for (int e = 0; e < kPerVector<T>; ++e) f(index(q) + e, x[e]);
        vectors[q] = pack<T>(x);
    }

    /// Fills with `pad` from element n on. Only vectors at or past n need a check per element.
    __device__ void fill(int n, float pad) {
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            if (index(q) + kPerVector<T> <= n) continue;
            change_vector(q, [&](int i, float& x) { x = i < n ? x : pad; });
        }
    }

    /// Writes the first `length` elements of the row, whole vectors, past the caches.
    __device__ void store(T* row, int length) const {
#pragma unroll
        for (int q = 0; q < VECTORS; ++q) {
            if (index(q) < length) __stcs(reinterpret_cast<uint4*>(row + index(q)), vectors[q]);
        }
    }
};

/// Combines the values of the threads of one row; every thread gets the result.
template <int THREADS, class V, class Combine>
__device__ V row_reduce(const V& value, const Combine& combine) {
    if constexpr (THREADS == 32) {
        return gpu::warp_reduce(value, combine);
    } else {
        return gpu::block_reduce<THREADS>(value, combine);
    }
}

/// Rows per block, if THREADS threads process a row: a block of one warp would be too small.
template <int THREADS>
inline constexpr int kRowsOfBlock = THREADS == 32 ? 4 : 1;

/// Calls f(threads, vectors), both constants, large enough to hold a row of `length`, at most
/// kMostHeld: four vectors per thread are 16 registers. A row in a single warp needs no barrier.
template <class T, class F>
void with_held(std::int64_t length, const F& f) {
    using std::integral_constant;
    const std::int64_t vectors = length / kPerVector<T>;
    constexpr integral_constant<int, 4> four;
    if (vectors <= 32) return f(integral_constant<int, 32>(), integral_constant<int, 1>());
    if (vectors <= 64) return f(integral_constant<int, 32>(), integral_constant<int, 2>());
    if (vectors <= 128) return f(integral_constant<int, 32>(), four);
    if (vectors <= 256) return f(integral_constant<int, 64>(), four);
    if (vectors <= 512) return f(integral_constant<int, 128>(), four);
    if (vectors <= 1024) return f(integral_constant<int, 256>(), four);
    if (vectors <= 2048) return f(integral_constant<int, 512>(), four);
    return f(integral_constant<int, 1024>(), four);
}

}  // namespace sixdays::day06_transformer_ops
