/// @file
/// Softmax turns a row of numbers into probabilities that add up to 1; the largest number gets the
/// largest probability. Attention computes its weights with it, and a language model the
/// probability of each next token.
///
///     softmax(x)(i) = exp(x(i)) / sum over j of exp(x(j))
///                   = exp(x(i) - m) / sum over j of exp(x(j) - m)     with any m
///
/// With the largest element as m, no exp exceeds 1 and one of them is 1, so nothing overflows and
/// the sum is not 0. (The formula: Goodfellow, Bengio and Courville, "Deep Learning", sections 4.1
/// and 6.2.2.3.)
///
/// For all versions: T is float or bf16; arithmetic is float. A row that contains a NaN or +infinity
/// becomes NaN, and so does a row of -infinity only, as in PyTorch; other rows are not affected.
#pragma once

#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Kernel versions of softmax and its variants.
enum class SoftmaxPath {
    thread_per_row,  // one thread per row: the twin
    warp_per_row,    // 02, softmax only: one warp per row; three passes
    online,          // 03, softmax only: one block per row; maximum and sum in one pass, two in all
    registers,       // 04: read once, with 128-bit loads; the row stays in registers
    shared,          // 05, not masked: longer rows, or rows of any alignment, in shared memory
    split,           // 06, softmax only, with a workspace: a split reduction, in two launches
    tile,  // softmax only, only on request: CUDA Tile C++; no negative strides, and one stride
           // from row to row
};
[[nodiscard]] const char* name(SoftmaxPath path);

/// Softmax of each row along `dim`: numbers become probabilities that add up to 1 (Goodfellow,
/// Bengio and Courville, "Deep Learning", section 6.2.2.3).
///
///     out(i) = exp(x(i) - m) / sum over j of exp(x(j) - m)     m: the row's largest
///
/// Error of element y in a row of N: y (|x(i) - m| + log N + A + 12) 2^-24, and a rounding to T, or
/// 1e-44. A, the cost of the additions, is N; 6 N with online softmax (online, shared, split),
/// where sums are rescaled.
/// @param in   any shape and strides; T is float or bf16
/// @param dim  the dimension along which rows run; negative: counted from the last
/// @param out  in's shape, any strides, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  other shapes, no such dimension, out not injective, a null
/// pointer, overlap of in and out that are not the same; a path that does not support these views
template <class T>
void softmax_cpu(View<const Same<T>> in, int dim, View<T> out);
/// @param how  a workspace allows a split reduction: softmax_workspace_bytes()
template <class T>
void softmax_cuda(View<const Same<T>> in, int dim, View<T> out,
                  const gpu::Launch<SoftmaxPath>& how = {});

/// The logarithm of softmax: log(softmax(x))(i) = x(i) - m - log(sum over j of exp(x(j) - m)), m
/// the row's largest. Not the logarithm of softmax's output: a probability below 1e-45 is 0 there,
/// and log(0) is -infinity. The relative error of a probability is the absolute error of its
/// logarithm, so near 0 few digits may be left: (|x(i) - m| + |y| + 3 log N + A + 6) 2^-24, with
/// softmax's A, and a rounding to T.
/// @param in   any shape and strides; T is float or bf16
/// @param dim  the dimension along which rows run; negative: counted from the last
/// @param out  in's shape, any strides, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  other shapes, no such dimension, out not injective, a null
/// pointer, overlap of in and out that are not the same; a path that does not support these views
template <class T>
void log_softmax_cpu(View<const Same<T>> in, int dim, View<T> out);
template <class T>
void log_softmax_cuda(View<const Same<T>> in, int dim, View<T> out,
                      const gpu::Launch<SoftmaxPath>& how = {});

/// Softmax of the unmasked elements; masked ones get 0. Masked elements are never used and may be
/// NaN. A row that is entirely masked becomes NaN, because no probabilities add up to 1. A row with
/// an unmasked NaN or +infinity becomes NaN too, including its masked elements. Error: softmax's,
/// over the unmasked elements.
/// @param in    any shape and strides; T is float or bf16
/// @param mask  not 0 where an element counts; broadcast to in's shape
/// @param dim   the dimension along which rows run; negative: counted from the last
/// @param out   in's shape, any strides, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  as softmax_cpu(); a mask that does not broadcast, or overlaps out
template <class T>
void masked_softmax_cpu(View<const Same<T>> in, View<const std::uint8_t> mask, int dim,
                        View<T> out);
template <class T>
void masked_softmax_cuda(View<const Same<T>> in, View<const std::uint8_t> mask, int dim,
                         View<T> out, const gpu::Launch<SoftmaxPath>& how = {});

/// Causal softmax along the last dimension of scores (..., T, S): token t sees itself and the
/// tokens before it, but no later ones. The last token sees all S: row t uses its first
/// t + 1 + S - T elements, and the rest gets 0, whatever its value. T <= S, so no row is empty.
/// (PyTorch's `is_causal` lets row t use its first t + 1 elements: the same if T = S, but not if
/// T < S.) Error: softmax's, over the elements used.
/// @param in   (..., T, S), any strides; float or bf16
/// @param out  in's shape, any strides, injective; may be `in` itself (in place)
/// @throws std::invalid_argument  as softmax_cpu(); a rank below 2, T > S
template <class T>
void causal_softmax_cpu(View<const Same<T>> in, View<T> out);
template <class T>
void causal_softmax_cuda(View<const Same<T>> in, View<T> out,
                         const gpu::Launch<SoftmaxPath>& how = {});

/// Softmax and its variants, for plan_softmax().
enum class SoftmaxKind {
    softmax,         // softmax_cuda()
    log_softmax,     // log_softmax_cuda()
    masked_softmax,  // masked_softmax_cuda()
    causal_softmax,  // causal_softmax_cuda(), with dimension -1
};
[[nodiscard]] const char* name(SoftmaxKind kind);

/// What a call of softmax or a variant launches: plan_softmax().
template <class T>
struct SoftmaxPlan {
    SoftmaxPath path;                    // the one asked for, else the best
    Rows<const T> in;                    // along the call's dimension
    Rows<T> out;                         // as those of in
    Rows<const std::uint8_t> mask = {};  // of masked_softmax
};

/// The one decision of a CPU reference and its CUDA version: rejects invalid arguments, and a path
/// in `how` that does not support these views. Without a path, the first of these that applies:
///
/// - `split` with a workspace, for at most 8 rows of 8,192 elements or more; softmax only
/// - `registers` if rows of `in` and `out` suit 128-bit loads, up to 16,384 elements
/// - `warp_per_row` if rows of `in` are contiguous, up to 1,024 elements; softmax only
/// - `shared` if rows of `in` are contiguous; not masked
/// - `thread_per_row` otherwise
///
/// @param mask  of masked_softmax
/// @throws std::invalid_argument  as the operation's CUDA version
template <class T>
[[nodiscard]] SoftmaxPlan<T> plan_softmax(SoftmaxKind kind, const View<const Same<T>>& in, int dim,
                                          const View<T>& out,
                                          const gpu::Launch<SoftmaxPath>& how = {},
                                          const View<const std::uint8_t>& mask = {});

/// Bytes of workspace that `path` needs: 'split' stores maximum and sum per 512 elements of a row,
/// the others need none. Without a path: the best one for rows like these.
/// @throws std::invalid_argument  no such dimension
template <class T>
[[nodiscard]] std::int64_t softmax_workspace_bytes(const View<const T>& in, int dim,
                                                   std::optional<SoftmaxPath> path = {});

}  // namespace sixdays::day06_transformer_ops
