/// @file
/// Softmax: a row of any numbers becomes a row of shares that add up to 1, and whatever was largest
/// has the largest share. Attention asks it how much each token counts; a language model asks it how
/// probable each next token is.
///
///     softmax(x)(i) = exp(x(i)) / sum over j of exp(x(j))
///                   = exp(x(i) - m) / sum over j of exp(x(j) - m)     with any m
///
/// The largest element is taken for m: then no exp is larger than 1, and one of them is 1, so that
/// nothing overflows and the sum is not 0.
///
/// For all versions: `in` and `out` of one shape and of any strides, injective `out`; `out` may be
/// `in` itself. T is float or bf16; arithmetic is float. A row that holds a NaN or +infinity
/// becomes NaN, and so does a row of -infinity alone, as in PyTorch; other rows do not notice.
/// Error: |x(i) - m| + N + 8 half units in the last place for a row of N elements, and a rounding to
/// bf16.
/// @throws std::invalid_argument  other shapes, no such dim, out not injective, a null pointer,
/// overlap of in and out that are not the same
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"
#include "common/tensor/half.hpp"
#include "day06_transformer_ops/rows.hpp"

namespace sixdays::day06_transformer_ops {

enum class SoftmaxPath;  // below

/// @param dim  along which a row lies; may count from the back
template <class T>
void softmax_cpu(View<const Same<T>> in, int dim, View<T> out);
/// @param workspace  lets many blocks share a row: softmax_workspace_bytes()
template <class T>
void softmax_cuda(View<const Same<T>> in, int dim, View<T> out, gpu::Workspace workspace,
                  gpu::Stream stream = {});
template <class T>
void softmax_cuda(View<const Same<T>> in, int dim, View<T> out, gpu::Stream stream = {}) {
    softmax_cuda<T>(in, dim, out, gpu::Workspace(), stream);
}
template <class T>
void softmax_cuda(SoftmaxPath path, View<const Same<T>> in, int dim, View<T> out,
                  gpu::Workspace workspace, gpu::Stream stream = {});
template <class T>
void softmax_cuda(SoftmaxPath path, View<const Same<T>> in, int dim, View<T> out,
                  gpu::Stream stream = {}) {
    softmax_cuda<T>(path, in, dim, out, gpu::Workspace(), stream);
}
/// For the path 'split': 8 bytes for each 512 elements of a row. They need not be 0.
template <class T>
[[nodiscard]] std::int64_t softmax_workspace_bytes(const View<const T>& in, int dim);

/// log(softmax(x))(i) = x(i) - m - log(sum over j of exp(x(j) - m)). Not the logarithm of what
/// softmax returns: a share below 1e-45 is 0 there, and log(0) is -infinity.
template <class T>
void log_softmax_cpu(View<const Same<T>> in, int dim, View<T> out);
template <class T>
void log_softmax_cuda(View<const Same<T>> in, int dim, View<T> out, gpu::Stream stream = {});
template <class T>
void log_softmax_cuda(SoftmaxPath path, View<const Same<T>> in, int dim, View<T> out,
                      gpu::Stream stream = {});

/// Softmax of what the mask lets through; the rest gets 0. What is masked is never computed with: it
/// may be NaN. A row of which nothing is let through becomes NaN: 0 shares cannot add up to 1.
/// @param mask  not 0 where an element counts; broadcast to in's shape
template <class T>
void masked_softmax_cpu(View<const Same<T>> in, View<const std::uint8_t> mask, int dim,
                        View<T> out);
template <class T>
void masked_softmax_cuda(View<const Same<T>> in, View<const std::uint8_t> mask, int dim,
                         View<T> out, gpu::Stream stream = {});

/// Softmax along the last dim of scores (..., T, S), where token t may look at itself and at what
/// came before it, but not ahead. The last token sees all S: row t counts its first t + 1 + S - T
/// elements, and the rest gets 0, whatever it holds. T <= S, so every row sees something.
/// @throws std::invalid_argument  also a rank below 2, T > S
template <class T>
void causal_softmax_cpu(View<const Same<T>> in, View<T> out);
template <class T>
void causal_softmax_cuda(View<const Same<T>> in, View<T> out, gpu::Stream stream = {});
template <class T>
void causal_softmax_cuda(SoftmaxPath path, View<const Same<T>> in, View<T> out,
                         gpu::Stream stream = {});

/// How surprised a model is by what came: out(i) = -log(softmax(logits(i))(targets(i))), 0 if it was
/// certain. Targets of a port lie in device memory, where a launcher cannot look without waiting: a
/// target that names no logit becomes NaN there. The loop refuses it.
/// @param logits   (..., V), any strides
/// @param targets  (...), any strides, 0 <= target < V
/// @param out      (...), injective, apart from the inputs
/// @throws std::invalid_argument  also V = 0; the loop: a target that names no logit
void cross_entropy_cpu(View<const float> logits, View<const std::int64_t> targets, View<float> out);
void cross_entropy_cpu(View<const bf16> logits, View<const std::int64_t> targets, View<float> out);
void cross_entropy_cuda(View<const float> logits, View<const std::int64_t> targets, View<float> out,
                        gpu::Stream stream = {});
void cross_entropy_cuda(View<const bf16> logits, View<const std::int64_t> targets, View<float> out,
                        gpu::Stream stream = {});

/// What the operations refuse; with a path also what that path cannot take.
template <class T>
void check_softmax(const View<const Same<T>>& in, int dim, const View<T>& out);
template <class T>
void check_softmax(SoftmaxPath path, const View<const Same<T>>& in, int dim, const View<T>& out);
template <class T>
void check_log_softmax(SoftmaxPath path, const View<const Same<T>>& in, int dim,
                       const View<T>& out);
template <class T>
void check_masked_softmax(const View<const Same<T>>& in, const View<const std::uint8_t>& mask,
                          int dim, const View<T>& out);
template <class T>
void check_causal_softmax(const View<const Same<T>>& in, const View<T>& out);
template <class T>
void check_causal_softmax(SoftmaxPath path, const View<const Same<T>>& in, const View<T>& out);
template <class T>
void check_cross_entropy(const View<const T>& logits, const View<const std::int64_t>& targets,
                         const View<float>& out);

/// How softmax, log_softmax and causal_softmax go about their rows.
enum class SoftmaxPath {
    thread_a_row,  // a thread, a row: the loop's twin
    warp_a_row,    // 02, softmax only: a warp's lanes are neighbours in the row; three passes
    online,        // 03, softmax only: a block, a row: maximum and sum in one pass, two in all
    registers,     // 04: memory is read once, in quads, and the row waits in registers
    shared,        // 05: a longer row, or one that begins anywhere, waits in shared memory
    split,         // 06, softmax only, with a workspace: many blocks share a row, in two launches
};
[[nodiscard]] const char* name(SoftmaxPath path);

/// The best of them. Views that check_softmax() has not refused.
/// @param workspace  is there one? Without, no row is shared
template <class T>
[[nodiscard]] SoftmaxPath choose_softmax(const View<const Same<T>>& in, int dim, const View<T>& out,
                                         bool workspace = false);
/// The best of those that log_softmax and causal_softmax have as well.
template <class T>
[[nodiscard]] SoftmaxPath choose_log_softmax(const View<const Same<T>>& in, int dim,
                                             const View<T>& out);

/// Elements of a row for each block of the path 'split'.
inline constexpr std::int64_t kSplitPart = 512;
/// For the path 'split': (rows, parts, 2), maximum and sum of each part.
template <class T>
[[nodiscard]] View<float> softmax_parts(gpu::Carver& carver, const View<const T>& in, int dim);

// Without a path: the best one.
template <class T>
void softmax_cuda(View<const Same<T>> in, int dim, View<T> out, gpu::Workspace workspace,
                  gpu::Stream stream) {
    check_softmax<T>(in, dim, out);
    softmax_cuda<T>(choose_softmax<T>(in, dim, out, bool(workspace)), in, dim, out, workspace,
                    stream);
}
template <class T>
void log_softmax_cuda(View<const Same<T>> in, int dim, View<T> out, gpu::Stream stream) {
    check_softmax<T>(in, dim, out);
    log_softmax_cuda<T>(choose_log_softmax<T>(in, dim, out), in, dim, out, stream);
}
template <class T>
void causal_softmax_cuda(View<const Same<T>> in, View<T> out, gpu::Stream stream) {
    check_causal_softmax<T>(in, out);
    causal_softmax_cuda<T>(choose_log_softmax<T>(in, -1, out), in, out, stream);
}

}  // namespace sixdays::day06_transformer_ops
