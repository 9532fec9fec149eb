/// @file
/// Exercise 14 of Day 06: rotate queries and keys by their positions.
///
/// Easy, 20 minutes.
///
/// Page: docs/llama.md
///
/// The models of the Llama family have no table of positions that is added. Each head of a query or
/// key consists of pairs of neighbours, and each pair is rotated by an angle that grows with the
/// token's position. `table` has the cosines and sines of all positions. A token's row has D
/// numbers: the cosines of its D / 2 angles, then their sines:
///
///     in (1, 1, 4) = 1 2 3 4      table (2, 4), first = 1      row 1:  0 1   1 0
///     pair 0, cosine 0, sine 1:  1 * 0 - 2 * 1, 1 * 1 + 2 * 0  =  -2 1
///     pair 1, cosine 1, sine 0:  3 * 1 - 4 * 0, 3 * 0 + 4 * 1  =   3 4
///     out = -2 1 3 4
///
/// Token t has row first + t of the table, the same for all of its heads. Two tokens of two heads,
/// with one pair per head:
///
///     in (2, 2, 2) = 1 2  3 4  5 6  7 8     table (4, 2), first = 1, rows 1 and 2:  0 1  -1 0
///     token 0, row 1: cosine 0, sine 1      heads 1 2 and 3 4 become  -2 1 and -4 3
///     token 1, row 2: cosine -1, sine 0     heads 5 6 and 7 8 become  -5 -6 and -7 -8
///     out = -2 1  -4 3  -5 -6  -7 -8
///
/// A model overwrites its queries and keys: `out` may be the same memory as `in`.
///
/// Write the kernel in my/day06_transformer_ops/rotate_pair.cu, then run
/// `common/learn check day06`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// With a = in(t, h, 2 i), b = in(t, h, 2 i + 1), c = table(first + t, i) and
/// s = table(first + t, D / 2 + i):
///
///     out(t, h, 2 i)     = a * c - b * s
///     out(t, h, 2 i + 1) = a * s + b * c
///
/// Su and others 2021, "RoFormer", arXiv 2104.09864, section 3.2.2.
/// @param in     (T, H, D), contiguous: T tokens of H heads, D even
/// @param table  (P, D), contiguous: a row per position, D / 2 cosines and then D / 2 sines
/// @param first  the position of token 0: 0 .. P - T
/// @param out    (T, H, D), contiguous; `in` itself, or memory that no input overlaps
/// @throws std::invalid_argument  other shapes or strides, an odd D, a position that the table does
/// not have, a null pointer, overlap
void rotate_pair_cpu(View<const float> in, View<const float> table, std::int64_t first,
                     View<float> out);
void rotate_pair_cuda(View<const float> in, View<const float> table, std::int64_t first,
                      View<float> out, gpu::Stream stream = {});
void check_rotate_pair(const View<const float>& in, const View<const float>& table,
                       std::int64_t first, const View<float>& out);

}  // namespace sixdays::day06_transformer_ops
