/// @file
/// Softmax: a row of any numbers becomes a row of shares that add up to 1, and whatever was largest
/// has the largest share. Attention asks it how much each token counts; a language model asks it
/// how probable each next token is.
///
///     softmax(x)(i) = exp(x(i)) / sum over j of exp(x(j))
///                   = exp(x(i) - m) / sum over j of exp(x(j) - m)     with any m
///
/// The largest element is taken for m: then no exp is larger than 1, and one of them is 1, so that
/// nothing overflows and the sum is not 0. (The formula: Goodfellow, Bengio and Courville, "Deep
/// Learning", sections 4.1 and 6.2.2.3.)
///
/// For all versions: `in` and `out` of one shape and of any strides, injective `out`; `out` may be
/// `in` itself. T is float or bf16; arithmetic is float. A row that holds a NaN or +infinity
/// becomes NaN, and so does a row of -infinity alone, as in PyTorch; other rows do not notice.
/// @throws std::invalid_argument  other shapes, no such dim, out not injective, a null pointer,
/// overlap of in and out that are not the same; a path that cannot take these views
#pragma once

#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// The paths of softmax and its siblings.
enum class SoftmaxPath {
    thread_a_row,  // a thread, a row: the loop's twin
    warp_a_row,    // 02, softmax only: a warp's lanes are neighbours in the row; three passes
    online,        // 03, softmax only: a block, a row: maximum and sum in one pass, two in all
    registers,     // 04: memory is read once, in quads, and the row waits in registers
    shared,        // 05, not masked: a longer row, or one that begins anywhere, in shared memory
    split,         // 06, softmax only, with a workspace: many blocks share a row, in two launches
    tile,  // softmax only, never chosen unasked: CUDA Tile C++; strides that are not negative,
           // and one step from row to row
};
[[nodiscard]] const char* name(SoftmaxPath path);

/// Error of element y in a row of N: y (|x(i) - m| + log N + A + 12) 2^-24, and a rounding to T, or
/// 1e-44. A, what additions cost, is N; 6 N where the maximum is found on the way (online, shared,
/// split), for there sums are corrected.
/// @param dim  along which a row lies; may count from the back
template <class T>
void softmax_cpu(View<const Same<T>> in, int dim, View<T> out);
/// @param how  a workspace lets many blocks share a row: softmax_workspace_bytes()
template <class T>
void softmax_cuda(View<const Same<T>> in, int dim, View<T> out,
                  const gpu::Launch<SoftmaxPath>& how = {});

/// log(softmax(x))(i) = x(i) - m - log(sum over j of exp(x(j) - m)). Not the logarithm of what
/// softmax returns: a share below 1e-45 is 0 there, and log(0) is -infinity. What was a relative
/// error of a share is an absolute one of its logarithm, so near 0 few digits may be left:
/// (|x(i) - m| + |y| + 3 log N + A + 6) 2^-24, with softmax' A, and a rounding to T.
template <class T>
void log_softmax_cpu(View<const Same<T>> in, int dim, View<T> out);
template <class T>
void log_softmax_cuda(View<const Same<T>> in, int dim, View<T> out,
                      const gpu::Launch<SoftmaxPath>& how = {});

/// Softmax of what the mask lets through; the rest gets 0. What is masked is never computed with:
/// it may be NaN. A row of which nothing is let through becomes NaN, for 0 shares cannot add up to
/// 1; and so does a row where the mask lets a NaN or +infinity through, all of it: there are no
/// shares then, and no 0 either. Error: softmax', of what is let through.
/// @param mask  not 0 where an element counts; broadcast to in's shape
template <class T>
void masked_softmax_cpu(View<const Same<T>> in, View<const std::uint8_t> mask, int dim,
                        View<T> out);
template <class T>
void masked_softmax_cuda(View<const Same<T>> in, View<const std::uint8_t> mask, int dim,
                         View<T> out, const gpu::Launch<SoftmaxPath>& how = {});

/// Softmax along the last dim of scores (..., T, S), where token t may look at itself and at what
/// came before it, but not ahead. The last token sees all S: row t counts its first t + 1 + S - T
/// elements, and the rest gets 0, whatever it holds. T <= S, so every row sees something.
/// (PyTorch's `is_causal` lets row t count its first t + 1 elements: the same if T = S, and not if
/// T < S.) Error: softmax', of what is counted.
/// @throws std::invalid_argument  also a rank below 2, T > S
template <class T>
void causal_softmax_cpu(View<const Same<T>> in, View<T> out);
template <class T>
void causal_softmax_cuda(View<const Same<T>> in, View<T> out,
                         const gpu::Launch<SoftmaxPath>& how = {});

/// What the operations refuse; with a path also what that path cannot take.
template <class T>
void check_softmax(const View<const Same<T>>& in, int dim, const View<T>& out,
                   std::optional<SoftmaxPath> path = {});
template <class T>
void check_log_softmax(const View<const Same<T>>& in, int dim, const View<T>& out,
                       std::optional<SoftmaxPath> path = {});
template <class T>
void check_masked_softmax(const View<const Same<T>>& in, const View<const std::uint8_t>& mask,
                          int dim, const View<T>& out, std::optional<SoftmaxPath> path = {});
template <class T>
void check_causal_softmax(const View<const Same<T>>& in, const View<T>& out,
                          std::optional<SoftmaxPath> path = {});

/// The best path for views that check_softmax() has not refused.
/// @param workspace  is there one? Without, no row is shared
template <class T>
[[nodiscard]] SoftmaxPath choose_softmax(const View<const Same<T>>& in, int dim, const View<T>& out,
                                         bool workspace = false);

/// Bytes that `path` needs: 'split' has maximum and sum of each 512 elements of a row in its
/// workspace, the others need none. Without a path: of the best one for rows like these.
/// @throws std::invalid_argument  no such dim
template <class T>
[[nodiscard]] std::int64_t softmax_workspace_bytes(const View<const T>& in, int dim,
                                                   std::optional<SoftmaxPath> path = {});

}  // namespace sixdays::day06_transformer_ops
