/// @file
/// Operations of several tensors that need not be laid out alike: inputs are broadcast to the
/// output's shape by stride 0, and every layout is walked by its own strides.
///
/// For all of them: inputs of any strides; `out` injective, of any strides; no elements are fine.
/// An input may be `out` itself where its shape is the same, but not overlap it otherwise.
/// @throws std::invalid_argument  an input that cannot be broadcast, two indices of out that share
/// a place, a null pointer, overlap
#pragma once

#include <cstdint>
#include <vector>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// out = a + b, with NumPy's broadcast: shapes are aligned at the last dim, a missing dim or one of
/// extent 1 is repeated. A bias (N) added to (M, N) goes to every row, a bias (M, 1) to every
/// column, a bias () to every element.
/// @param out  its shape is given; it may be larger than a and b together need
void add_broadcast_cpu(View<const float> a, View<const float> b, View<float> out);
void add_broadcast_cuda(View<const float> a, View<const float> b, View<float> out,
                        gpu::Stream stream = {});
void check_add_broadcast(const View<const float>& a, const View<const float>& b,
                         const View<float>& out);

/// Which kernel add_broadcast_cuda takes. Quads of four neighbours move 16 bytes at once: possible
/// where the innermost dim has extent 4 k and lies along memory in out, in a and b along memory or
/// on one place, and all that lies along memory begins at a multiple of 16 bytes in every row.
enum class AddBroadcastPath { quads, any_layout };
[[nodiscard]] AddBroadcastPath choose_add_broadcast(const View<const float>& a,
                                                    const View<const float>& b,
                                                    const View<float>& out);
[[nodiscard]] const char* name(AddBroadcastPath path);

/// out = mask != 0 ? a : b, all three broadcast to out's shape. Bits are moved, not computed: what
/// is not chosen leaves no trace, not even a NaN. NumPy's and PyTorch's where.
void where_cpu(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
               View<float> out);
void where_cuda(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                View<float> out, gpu::Stream stream = {});
void check_where(const View<const std::uint8_t>& mask, const View<const float>& a,
                 const View<const float>& b, const View<float>& out);

/// The pieces one behind the other along `dim`. Each piece is copied into its slice of out, by the
/// path that copy() chooses for it. torch.cat, np.concatenate.
/// @param pieces  at least one; shapes equal to out's but for `dim`, where they add up to out's
/// @param dim     may count from the back
/// @throws std::invalid_argument  also for other shapes; a piece may not be part of out
void concat_cpu(const std::vector<View<const float>>& pieces, int dim, View<float> out);
void concat_cuda(const std::vector<View<const float>>& pieces, int dim, View<float> out,
                 gpu::Stream stream = {});
void check_concat(const std::vector<View<const float>>& pieces, int dim, const View<float>& out);

}  // namespace sixdays::day03_views
