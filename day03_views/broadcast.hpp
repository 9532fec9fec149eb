/// @file
/// Operations on tensors of different shapes: inputs are broadcast to the output's shape by stride
/// 0, concatenated, or padded. Each tensor is accessed by its own strides.
#pragma once

#include <cstdint>
#include <vector>

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_add_broadcast().
enum class AddBroadcastPath {
    one_element,  ///< naive: one thread per element
    any_layout,   ///< fast division, four loads in flight
    vectorized,   ///< float4: needs an innermost dimension of extent 4 k, with stride 1 in out and
                  ///< 1 or 0 in a and b, and rows of stride 1 aligned to 16 bytes
    tile,         ///< CUDA Tile C++, only on request: after simplify(), at most 4 dimensions and
                  ///< no stride < 0
};
[[nodiscard]] const char* name(AddBroadcastPath path);

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_where().
enum class WherePath {
    one_element,  ///< naive: one thread per element
    any_layout,   ///< fast division
};
[[nodiscard]] const char* name(WherePath path);

/// out = a + b, with NumPy's broadcast: shapes are aligned at the last dimension; a missing
/// dimension or one of extent 1 is repeated. A bias (N) added to (M, N) goes to every row, a bias
/// (M, 1) to every column, a bias () to every element.
/// @param a, b  any strides; may be `out` itself if the shapes are equal, but must not otherwise
/// overlap it
/// @param out   injective, any strides; its shape may be larger than the broadcast shape of a and b
/// @throws std::invalid_argument  an input that cannot be broadcast to out's shape, two indices of
/// out with the same offset, a null pointer, overlap
void add_broadcast_cpu(View<const float> a, View<const float> b, View<float> out);
/// @throws std::invalid_argument  also a path that does not support these views
void add_broadcast_cuda(View<const float> a, View<const float> b, View<float> out,
                        const gpu::Launch<AddBroadcastPath>& how = {});
void check_add_broadcast(const View<const float>& a, const View<const float>& b,
                         const View<float>& out, std::optional<AddBroadcastPath> path = {});

/// out = mask != 0 ? a : b, all three broadcast to out's shape. Bits are copied, not computed: the
/// value not chosen has no effect, not even if it is a NaN. Like where in NumPy and PyTorch.
/// @param mask, a, b  any strides; may be `out` itself if the shapes are equal, but must not
/// otherwise overlap it
/// @param out         injective, any strides
/// @throws std::invalid_argument  an input that cannot be broadcast to out's shape, two indices of
/// out with the same offset, a null pointer, overlap
void where_cpu(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
               View<float> out);
void where_cuda(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                View<float> out, const gpu::Launch<WherePath>& how = {});
void check_where(const View<const std::uint8_t>& mask, const View<const float>& a,
                 const View<const float>& b, const View<float>& out,
                 std::optional<WherePath> path = {});

/// out(i) = in(i - before) where `in` has that element, and `value` where it does not. Reading past
/// an edge gives that value: 0 for a sum, minus infinity for a maximum. Elements of `in` past the
/// edge of `out` are dropped, so the same call writes a padded tile back. torch.nn.functional.pad,
/// and np.pad with mode "constant".
/// @param in      of out's rank, any strides, disjoint from out
/// @param before  per dimension, the indices of out before the first of in; if negative, the number
/// of leading indices of in that are dropped. -2^62 to 2^62
/// @param out     injective, any strides
/// @throws std::invalid_argument  ranks that differ, `before` out of range, two indices of out with
/// the same offset, a null pointer, overlap
void pad_cpu(View<const float> in, const Dims& before, float value, View<float> out);
void pad_cuda(View<const float> in, const Dims& before, float value, View<float> out,
              gpu::Stream stream = {});

/// Concatenates the pieces along `dim`. Each piece is copied into its slice of out, by the path
/// that plan_copy() chooses for it. torch.cat, np.concatenate.
/// @param pieces  at least one; any strides, disjoint from out; shapes equal to out's except in
/// `dim`, where extents add up to out's
/// @param dim     may be negative, counted from the end
/// @param out     injective, any strides
/// @throws std::invalid_argument  no such dimension, no piece, other shapes, two indices of out
/// with the same offset, a null or misaligned pointer, overlap
void concat_cpu(const std::vector<View<const float>>& pieces, int dim, View<float> out);
void concat_cuda(const std::vector<View<const float>>& pieces, int dim, View<float> out,
                 gpu::Stream stream = {});

void check_pad(const View<const float>& in, const Dims& before, const View<float>& out);
void check_concat(const std::vector<View<const float>>& pieces, int dim, const View<float>& out);

/// The path that add_broadcast_cuda() takes: `vectorized` where its conditions hold, else
/// any_layout. For views that check_add_broadcast() accepts.
[[nodiscard]] AddBroadcastPath choose_add_broadcast(const View<const float>& a,
                                                    const View<const float>& b,
                                                    const View<float>& out);

/// The path that where_cuda() takes: always any_layout, for the naive kernel is not faster for any
/// layout.
[[nodiscard]] WherePath choose_where(const View<const std::uint8_t>& mask,
                                     const View<const float>& a, const View<const float>& b,
                                     const View<float>& out);

}  // namespace sixdays::day03_views
