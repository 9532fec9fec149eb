/// @file
/// Exercise 8 of Day 06: one transformer block.
///
/// Medium, 30 minutes.
///
/// The operations of a block are given. Call them in the right order, on the right views:
///
///     y   = x + attention(norm(x)) * projection
///     out = y + gelu(norm(y) * up) * down
///
///     norm(in, out, stream)        each row of `in` with mean 0 and variance 1
///     product(a, b, out, stream)   out = a * b
///     attention(q, k, v, scale, causal, out, stream)    (B, H, T, D) each, with any strides
///     gelu(x, stream)              in place
///     add(a, b, out, stream)       out = a + b; `out` may be `a` or `b`
///
/// Results between two operations go into `buffers`: normed, qkv, mixed (attention's output),
/// hidden, and part (what is added to the stream).
///
/// One product makes the 3 C numbers per token of buffers.qkv: the query, the key and the value, C
/// numbers each. Each of the three consists of H heads of D = C / H numbers. Attention takes one
/// matrix (T, D) per head, and it reads and writes through views, so nothing is copied. As on Day
/// 03, slice(v, dim, begin, end), reshape(v, {...}) and transpose(v, dim, dim) make these views.
/// Choose `scale` and `causal`, too.
///
/// The page's example: with its weights, the rows of "the cat sat" become
///
///     the     3  1  3  1           5.0000 -1.0000  5.0000 -1.0000
///     cat     5  5  1  1    ->     7.1163  6.2016 -0.2016 -1.1163
///     sat     4  2  2  4           6.2434  0.4523  0.2684  4.8645
///
/// Write the calls in my/day06_transformer_ops/one_block.cu, then run
/// `common/learn check day06 one_block`.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// Matrices are stored (in, out). To keep the exercise short, there are no biases, and norms have
/// no weights.
struct BlockWeights {
    View<const float> qkv;         // (C, 3 C)
    View<const float> projection;  // (C, C), which joins the heads
    View<const float> up;          // (C, F)
    View<const float> down;        // (F, C)
    std::int64_t heads = 1;        // H
};

/// Device memory for what is between the operations, contiguous.
struct BlockBuffers {
    View<float> normed;  // (B, T, C)
    View<float> qkv;     // (B, T, 3 C)
    View<float> mixed;   // (B, T, C), attention's output
    View<float> hidden;  // (B, T, F)
    View<float> part;    // (B, T, C), what is added to the residual stream
};

/// The given operations. Each launches a kernel on `stream` and returns at once.
/// @throws std::invalid_argument  shapes that do not match, an output that overlaps an input
void norm(View<const float> in, View<float> out, gpu::Stream stream);
void product(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream);
/// @param scale   the factor of the dot products of queries and keys; above 0
/// @param causal  a token attends to itself and the tokens before it; else to all of its sequence
void attention(View<const float> q, View<const float> k, View<const float> v, double scale,
               bool causal, View<float> out, gpu::Stream stream);
void gelu(View<float> x, gpu::Stream stream);
void add(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream);

/// The block as above. It does not change x.
/// @param x    (B, T, C)
/// @param out  (B, T, C), contiguous
/// @throws std::invalid_argument  shapes that do not match, heads that do not divide C, a null
/// pointer, overlap
void one_block_cpu(const BlockWeights& weights, View<const float> x, View<float> out);
void one_block_cuda(const BlockWeights& weights, View<const float> x, const BlockBuffers& buffers,
                    View<float> out, gpu::Stream stream = {});
void check_one_block(const BlockWeights& weights, const View<const float>& x,
                     const View<float>& out);
void check_buffers(const BlockWeights& weights, const View<const float>& x,
                   const BlockBuffers& buffers);

}  // namespace sixdays::day06_transformer_ops
