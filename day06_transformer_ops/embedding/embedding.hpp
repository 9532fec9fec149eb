/// @file
/// The embedding turns token ids into vectors. Each id selects a row of a learned table, and a
/// second table has a row per position. The two rows are added, so that a token has a different
/// vector at each position (as in GPT-2: Radford and others 2019, "Language models are
/// unsupervised multitask learners").
///
/// The CUDA version's ids are in device memory, where the launcher cannot read them without waiting
/// for the device. So an id out of range is handled in two ways. The CPU reference rejects it
/// before anything is written, and names it. The CUDA version never accesses memory outside of a
/// table: it fills the row of `out` with NaN, which no later result can hide. If you have the ids
/// on the host, as a tokenizer does, call check_ids() first. (PyTorch's device assert makes the GPU
/// unusable for the rest of the process.)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/tensor.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions of embed. Vectors (128-bit loads) need rows of whole vectors, contiguous in
/// memory and aligned to 16 bytes, in both tables and in out.
enum class EmbedPath {
    one_element,  // one thread per element: the twin
    vectorized,   // 02: one warp per row; its id is read once, and the row with 128-bit loads
    tile,  // only on request: CUDA Tile C++; no negative stride in tables and out, and at most
           // three dimensions of ids after simplification
};
[[nodiscard]] const char* name(EmbedPath path);

/// out(i.., c) = tokens(ids(i..), c) + positions(places(i..), c).
/// @param tokens     (V, C), any strides. T is float or bf16; the sum is rounded once
/// @param ids        any shape S and strides, 0 <= id < V
/// @param positions  (P, C), any strides; {}, of rank 0: nothing is added
/// @param places     broadcast to S, 0 <= place < P: (T) for ids (B, T). In device memory, so that
///                   a replayed launch can use new positions as a KV cache grows
/// @param out        (S.., C), injective, overlapping no input
/// @throws std::invalid_argument  shapes that do not match, out not injective, a null pointer,
/// overlap; the CPU reference: an id or a place out of range, with its index
template <class T>
void embed_cpu(View<const T> tokens, View<const std::int64_t> ids, View<const Same<T>> positions,
               View<const std::int64_t> places, View<Same<T>> out);
template <class T>
void embed_cuda(View<const T> tokens, View<const std::int64_t> ids, View<const Same<T>> positions,
                View<const std::int64_t> places, View<Same<T>> out,
                const gpu::Launch<EmbedPath>& how = {});

/// Rejects invalid arguments; with a path, also views that the path does not support.
template <class T>
void check_embed(const View<const T>& tokens, const View<const std::int64_t>& ids,
                 const View<const Same<T>>& positions, const View<const std::int64_t>& places,
                 const View<Same<T>>& out, std::optional<EmbedPath> path = {});

/// The path that embed_cuda() takes without one in gpu::Launch: `vectorized` if both tables and
/// `out` suit 128-bit loads, else one_element. For views that check_embed() accepts.
template <class T>
[[nodiscard]] EmbedPath choose_embed(const View<const T>& tokens,
                                     const View<const Same<T>>& positions,
                                     const View<Same<T>>& out);

/// For ids in host memory. @throws std::invalid_argument  not 0 <= id < rows, with its index
void check_ids(const char* op, const char* name, const View<const std::int64_t>& ids,
               std::int64_t rows);

/// Which two elements of a head form a pair.
enum class Pairing {
    neighbours,  // 0 and 1, 2 and 3, ...
    halves,      // 0 and D / 2, 1 and D / 2 + 1, ...: the same angles, different pairs
};

/// The angle per position of each of D / 2 pairs: base^(-2 i / D) for pair i. A model for longer
/// texts divides some of them.
/// @throws std::invalid_argument  D odd or below 2, base not above 0
[[nodiscard]] std::vector<double> rotary_frequencies(std::int64_t D, double base = 10000);

/// cos and sin of place * frequencies[i] for pair i: row p has D / 2 cosines, then D / 2 sines.
/// Computed in double, because a float angle of 1,000 has only 4 digits after the point.
[[nodiscard]] Tensor<float> rotary_table(std::int64_t places,
                                         const std::vector<double>& frequencies);
/// The same with the frequencies of rotary_frequencies(D, base).
[[nodiscard]] Tensor<float> rotary_table(std::int64_t places, std::int64_t D, double base = 10000);

/// Rotary position embedding (RoPE): every pair (a, b) of a query or key is rotated by an angle
/// that grows with its position, so that the product of a query and a key depends on their
/// distance.
///
///     a cos - b sin,  a sin + b cos
///
/// A model works only with the pairing that it was trained with. (Su and others 2021, arXiv
/// 2104.09864.)
/// @param in      (..., T, D), any strides; D even
/// @param table   rotary_table(P, D)
/// @param places  broadcast to (..., T), 0 <= place < P; the CUDA version gives NaN for others
/// @param out     in's shape, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  shapes that do not match, out not injective, a null pointer,
/// overlap; the CPU reference: a place out of range
void rotary_cpu(View<const float> in, View<const float> table, View<const std::int64_t> places,
                Pairing pairing, View<float> out);
void rotary_cuda(View<const float> in, View<const float> table, View<const std::int64_t> places,
                 Pairing pairing, View<float> out, gpu::Stream stream = {});
void check_rotary(const View<const float>& in, const View<const float>& table,
                  const View<const std::int64_t>& places, const View<float>& out);

/// Converts the type: float to bf16 or f16, rounded to nearest even, or back, exactly.
/// @param in, out  of the same shape, any strides; out injective, not overlapping in
/// @throws std::invalid_argument  other shapes, out not injective, a null pointer, overlap
template <class From, class To>
void convert_cpu(View<const From> in, View<To> out);
template <class From, class To>
void convert_cuda(View<const From> in, View<To> out, gpu::Stream stream = {});
template <class From, class To>
void check_convert(const View<const From>& in, const View<To>& out);

}  // namespace sixdays::day06_transformer_ops
