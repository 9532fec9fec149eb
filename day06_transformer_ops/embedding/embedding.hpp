/// @file
/// From numbers to vectors: what a network can compute with. A text is a list of token ids, and
/// each id names a row of a table that was learned; a second table has a row for every position.
/// The two rows are added, so that the same word is another vector at another place (as GPT-2 does:
/// Radford and others 2019, "Language models are unsupervised multitask learners").
///
/// The ids of a port lie in device memory, where its launcher cannot see them without waiting for
/// the device. So an id that names no row is met differently. The loop refuses it before anything
/// is written, and says which. The port never touches memory outside of a table: it fills the row
/// of `out` with NaN, which no later result can hide. If you have the ids on the host, as a
/// tokenizer has, ask check_ids() first. (PyTorch stops the whole process' use of the GPU by an
/// assert.)
#pragma once

#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/tensor.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of embed. Quads need C of whole quads, columns that are neighbours in memory, and rows
/// that begin at multiples of 16 bytes, in both tables and in out.
enum class EmbedPath {
    one_element,  // a thread, an element: the loop's twin
    quads,        // 02: a warp, a row; its id is read once, and the row in quads
    tile,  // never chosen unasked: CUDA Tile C++; no negative stride in tables and out, and, after
           // simplifying, three dims of ids at most
};
[[nodiscard]] const char* name(EmbedPath path);

/// out(i.., c) = tokens(ids(i..), c) + positions(places(i..), c).
/// @param tokens     (V, C), any strides. T is float or bf16; the sum is rounded once
/// @param ids        any shape S and strides, 0 <= id < V
/// @param positions  (P, C), any strides; {}, of rank 0: nothing is added
/// @param places     broadcast to S, 0 <= place < P: (T) for ids (B, T). In device memory, for a
///                   cache that grows by a token changes them without a new launch
/// @param out        (S.., C), injective, apart from all inputs
/// @throws std::invalid_argument  shapes that do not fit, out not injective, a null pointer,
/// overlap; the loop: an id or a place that names no row, and where it stands
template <class T>
void embed_cpu(View<const T> tokens, View<const std::int64_t> ids, View<const Same<T>> positions,
               View<const std::int64_t> places, View<Same<T>> out);
template <class T>
void embed_cuda(View<const T> tokens, View<const std::int64_t> ids, View<const Same<T>> positions,
                View<const std::int64_t> places, View<Same<T>> out,
                const gpu::Launch<EmbedPath>& how = {});

/// What the operation refuses; with a path also what that path cannot take.
template <class T>
void check_embed(const View<const T>& tokens, const View<const std::int64_t>& ids,
                 const View<const Same<T>>& positions, const View<const std::int64_t>& places,
                 const View<Same<T>>& out, std::optional<EmbedPath> path = {});

/// The best path for views that check_embed() has not refused.
template <class T>
[[nodiscard]] EmbedPath choose_embed(const View<const T>& tokens,
                                     const View<const Same<T>>& positions,
                                     const View<Same<T>>& out);

/// For ids in host memory. @throws std::invalid_argument  not 0 <= id < rows, with its place
void check_ids(const char* op, const char* name, const View<const std::int64_t>& ids,
               std::int64_t rows);

/// Which two numbers of a head are one pair.
enum class Pairing {
    neighbours,  // 0 and 1, 2 and 3, ...
    halves,      // 0 and D / 2, 1 and D / 2 + 1, ...: the same angles, other partners
};

/// cos and sin of place * base^(-2 i / D) for pair i: row p has D / 2 cosines and then as many
/// sines. Computed in double, for an angle of 1,000 has only 4 digits behind the point in float.
/// @throws std::invalid_argument  D odd or below 2, base not above 0
[[nodiscard]] Tensor<float> rotary_table(std::int64_t places, std::int64_t D, double base = 10000);

/// Rotary position: every pair (a, b) of a query or key is turned by an angle that grows with its
/// place, so that the product of a query and a key depends on how far apart they are.
///
///     a cos - b sin,  a sin + b cos
///
/// A model is trained with one pairing and means nothing with the other. (Su and others 2021, arXiv
/// 2104.09864.)
/// @param in      (..., T, D), any strides; D even
/// @param table   rotary_table(P, D)
/// @param places  broadcast to (..., T), 0 <= place < P; a port answers another one with NaN
/// @param out     in's shape, injective; may be `in` itself
/// @throws std::invalid_argument  shapes that do not fit, out not injective, a null pointer,
/// overlap; the loop: a place that has no row
void rotary_cpu(View<const float> in, View<const float> table, View<const std::int64_t> places,
                Pairing pairing, View<float> out);
void rotary_cuda(View<const float> in, View<const float> table, View<const std::int64_t> places,
                 Pairing pairing, View<float> out, gpu::Stream stream = {});
void check_rotary(const View<const float>& in, const View<const float>& table,
                  const View<const std::int64_t>& places, const View<float>& out);

/// out = in, in another type: float to bf16 or f16, rounded to nearest even, or back, exactly.
/// @param in, out  of one shape and any strides; out injective and apart from in
/// @throws std::invalid_argument  other shapes, out not injective, a null pointer, overlap
template <class From, class To>
void convert_cpu(View<const From> in, View<To> out);
template <class From, class To>
void convert_cuda(View<const From> in, View<To> out, gpu::Stream stream = {});
template <class From, class To>
void check_convert(const View<const From>& in, const View<To>& out);

}  // namespace sixdays::day06_transformer_ops
