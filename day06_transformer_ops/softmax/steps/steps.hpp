/// @file
/// Launchers of the steps, one idea per file. Step 1 is the twin in softmax_cuda.cu. They check
/// nothing. Each exists for T = float and bf16 and, if it has an OP, for Softmax and
/// LogSoftmax.
#pragma once

#include <cfloat>

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/held_row.hpp"
#include "day06_transformer_ops/softmax/softmax_plan.hpp"

namespace sixdays::day06_transformer_ops {

/// The operation on x: the sum adds term(held(x - m)); when it is known, of(held(x - m), tail) is
/// the result.
struct Softmax {
    __device__ static float held(float x_minus_m) { return expf(x_minus_m); }
    __device__ static float term(float held) { return held; }
    __device__ static float tail(float sum) { return 1 / sum; }
    __device__ static float of(float held, float tail) { return held * tail; }
};
struct LogSoftmax {
    __device__ static float held(float x_minus_m) { return x_minus_m; }
    __device__ static float term(float held) { return expf(held); }
    __device__ static float tail(float sum) { return logf(sum); }
    __device__ static float of(float held, float tail) { return held - tail; }
};

/// A row of any alignment: a scalar head of `head` elements up to the next sector of 32 bytes,
/// `vectors` from there, and a scalar tail.
template <class T>
struct CutRow {
    const T* x;
    int head, vectors, scalars;  // scalars: elements of the scalar head and tail

    __device__ CutRow(const T* row, std::int64_t n) : x(row) {
        constexpr int kSector = 2 * kPerVector<T>;  // elements
        const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) % 32 / sizeof(T));
        head = (kSector - past) % kSector;
        if (head > n) head = static_cast<int>(n);
        vectors = static_cast<int>((n - head) / kPerVector<T>);
        scalars = static_cast<int>(n - elements());
    }
    __device__ const uint4& vector(int q) const {
        return reinterpret_cast<const uint4*>(x + head)[q];
    }
    __device__ std::int64_t elements() const { return std::int64_t{vectors} * kPerVector<T>; }
    __device__ std::int64_t length() const { return elements() + scalars; }
    /// The index in the row of element i of head and tail.
    __device__ std::int64_t place(int i) const { return i < head ? i : i + elements(); }
};

/// The sum of exp(x - m) over part of a row whose maximum is m. m starts at the lowest finite
/// float, as in step 3.
struct PartSum {
    float m = -FLT_MAX, sum = 0;

    /// N elements at once: one rescaling for all of them.
    template <int N>
    __device__ void take(const float (&x)[N]) {
        const float old = m;
#pragma unroll
        for (int e = 0; e < N; ++e) m = fmaxf(m, x[e]);
        sum *= expf(old - m);
#pragma unroll
        for (int e = 0; e < N; ++e) sum += expf(x[e] - m);
    }
    template <class T>
    __device__ void take_vector(uint4 vector) {
        float x[kPerVector<T>];
        unpack<T>(vector, x);
        take(x);
    }
    /// Scalar head and tail, one element per thread; returns the thread's element.
    template <class T>
    __device__ float take_scalars(const CutRow<T>& row) {
        const int t = threadIdx.x;
        const float x[1] = {t < row.scalars ? float(row.x[row.place(t)]) : -INFINITY};
        take(x);
        return x[0];
    }
};

/// Combines the results of a block's threads: each sum is rescaled once, when the maximum is known.
template <int THREADS>
__device__ PartSum join_block(const PartSum& mine) {
    PartSum all;
    all.m = gpu::block_reduce<THREADS>(mine.m, Larger());
    all.sum = gpu::block_reduce<THREADS>(mine.sum * expf(mine.m - all.m), Plus());
    return all;
}

/// The tokens of rows as the layout of a third tensor that is never read: the offset of a row's
/// element is its token. Without tokens, all are 0.
inline Layout token_layout(const Shape& rows, std::int64_t tokens) {
    Layout layout(rows, Dims::filled(rows.rank, 0));
    if (tokens > 0) layout.stride(rows.rank - 1) = 1;
    return layout;
}

/// The number of elements that token 0 sees; each later token sees one more. Without tokens, all
/// rows see all elements.
inline std::int64_t first_sees(std::int64_t length, std::int64_t tokens) {
    return tokens > 0 ? 1 + length - tokens : length;
}

template <class T>
void launch_softmax_warp(const Rows<const T>& in, const Rows<T>& out, gpu::Stream stream);
template <class T>
void launch_softmax_online(const Rows<const T>& in, const Rows<T>& out, gpu::Stream stream);

/// @param tokens  for causal softmax the extent of the rows' last dimension, else 0
template <class OP, class T>
void launch_softmax_registers(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                              gpu::Stream stream);
template <class T>
void launch_masked_softmax(const Rows<const T>& in, const Rows<const std::uint8_t>& mask,
                           const Rows<T>& out, gpu::Stream stream);
/// in's rows are contiguous; out's need not be.
template <class OP, class T>
void launch_softmax_shared(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                           gpu::Stream stream);
/// @param found  (rows, parts, 2): maximum and sum of each part
template <class T>
void launch_softmax_split(const Rows<const T>& in, const Rows<T>& out, const View<float>& found,
                          gpu::Stream stream);
/// The logits' rows are contiguous.
template <class T>
void launch_cross_entropy(const Rows<const T>& logits, const View<const std::int64_t>& targets,
                          const View<float>& out, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
