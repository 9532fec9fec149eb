/// @file
/// The ladder's launchers, one idea a file. Step 1 is the twin in softmax_cuda.cu. They check
/// nothing. Each is there for OP = Shares and LogShares, T = float and bf16.
#pragma once

#include <cfloat>

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/softmax.hpp"
#include "day06_transformer_ops/steps/rows.hpp"

namespace sixdays::day06_transformer_ops {

// [operations]
/// What becomes of x: held(x - m) waits for the sum of all term(held), and of() is the result.
struct Shares {
    __device__ static float held(float x_minus_m) { return expf(x_minus_m); }
    __device__ static float term(float held) { return held; }
    __device__ static float tail(float sum) { return 1 / sum; }
    __device__ static float of(float held, float tail) { return held * tail; }
};
struct LogShares {
    __device__ static float held(float x_minus_m) { return x_minus_m; }
    __device__ static float term(float held) { return expf(held); }
    __device__ static float tail(float sum) { return logf(sum); }
    __device__ static float of(float held, float tail) { return held - tail; }
};
// [operations]

// [part_sum]
/// What exp(x - m) adds up to for part of a row, whose largest element is m. m begins with the
/// smallest number there is, as in step 3.
struct PartSum {
    float m = -FLT_MAX, sum = 0;

    /// N numbers at once: one correction for all of them.
    template <int N>
    __device__ void take(const float (&x)[N]) {
        const float old = m;
#pragma unroll
        for (int e = 0; e < N; ++e) m = fmaxf(m, x[e]);
        sum *= expf(old - m);
#pragma unroll
        for (int e = 0; e < N; ++e) sum += expf(x[e] - m);
    }
};

/// What all threads of a block have, joined: a sum is corrected once, when the largest m is known.
template <int THREADS>
__device__ PartSum join_block(const PartSum& mine) {
    PartSum all;
    all.m = gpu::block_reduce<THREADS>(mine.m, Larger());
    all.sum = gpu::block_reduce<THREADS>(mine.sum * expf(mine.m - all.m), Plus());
    return all;
}
// [part_sum]

/// The tokens of rows as a third tensor, which nobody reads: the offset of its element is its token.
/// Without tokens, all are 0.
inline Layout token_layout(const Shape& rows, std::int64_t tokens) {
    Layout layout(rows, Dims::filled(rows.rank, 0));
    if (tokens > 0) layout.stride(rows.rank - 1) = 1;
    return layout;
}

/// How many elements of its row token 0 sees, and every further token one more; without tokens all
/// rows see all.
inline std::int64_t first_sees(std::int64_t length, std::int64_t tokens) {
    return tokens > 0 ? 1 + length - tokens : length;
}

/// @param tokens  0, or how many the rows' last dim counts, if softmax is causal
template <class OP, class T>
void launch_softmax_warp(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                         gpu::Stream stream);
template <class OP, class T>
void launch_softmax_online(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                           gpu::Stream stream);
template <class OP, class T>
void launch_softmax_registers(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                              gpu::Stream stream);
/// Shared memory that a block of step 5 needs for a row, its own variables included.
template <class T>
std::size_t bytes_of_shared_row(std::int64_t length) {
    return (static_cast<std::size_t>(length) + 2 * kOfQuad<T>)*sizeof(T) + 1024;
}
/// @throws std::invalid_argument  this device has not as much
template <class OP, class T>
void launch_softmax_shared(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                           gpu::Stream stream);
/// @param found  (rows, parts, 2): maximum and sum of each part
template <class OP, class T>
void launch_softmax_split(const Rows<const T>& in, const Rows<T>& out, const View<float>& found,
                          gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
