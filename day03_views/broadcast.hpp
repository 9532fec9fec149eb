/// @file
/// Operations on tensors of different shapes: inputs are broadcast to the output's shape by stride
/// 0, concatenated, or padded. Each tensor is accessed by its own strides.
///
/// For all of them: inputs of any strides; `out` injective, of any strides; 0 elements are valid.
/// An input may be `out` itself if the shapes are equal, but must not otherwise overlap it.
/// @throws std::invalid_argument  an input that cannot be broadcast, two indices of out with the
/// same offset, a null pointer, overlap
#pragma once

#include <cstdint>
#include <vector>

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// The paths of add_broadcast_cuda. `vectorized` needs an innermost dimension of extent 4 k with
/// stride 1 in out and stride 1 or 0 in a and b. A tensor with stride 1 must have all its rows
/// aligned to 16 bytes.
enum class AddBroadcastPath {
    one_element,  // naive: one thread per element
    any_layout,   // fast division, four loads in flight
    vectorized,
    tile,  // CUDA Tile C++, only on request: after simplify(), at most 4 dimensions, no stride < 0
};
[[nodiscard]] const char* name(AddBroadcastPath path);

/// The paths of where_cuda.
enum class WherePath {
    one_element,  // naive: one thread per element
    any_layout,   // fast division
};
[[nodiscard]] const char* name(WherePath path);

/// out = a + b, with NumPy's broadcast: shapes are aligned at the last dimension; a missing
/// dimension or one of extent 1 is repeated. A bias (N) added to (M, N) goes to every row, a bias
/// (M, 1) to every column, a bias () to every element.
/// @param out  its shape may be larger than the broadcast shape of a and b
void add_broadcast_cpu(View<const float> a, View<const float> b, View<float> out);
void add_broadcast_cuda(View<const float> a, View<const float> b, View<float> out,
                        const gpu::Launch<AddBroadcastPath>& how = {});
void check_add_broadcast(const View<const float>& a, const View<const float>& b,
                         const View<float>& out, std::optional<AddBroadcastPath> path = {});

/// out = mask != 0 ? a : b, all three broadcast to out's shape. Bits are copied, not computed: the
/// value not chosen has no effect, not even if it is a NaN. Like where in NumPy and PyTorch.
void where_cpu(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
               View<float> out);
void where_cuda(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                View<float> out, const gpu::Launch<WherePath>& how = {});
void check_where(const View<const std::uint8_t>& mask, const View<const float>& a,
                 const View<const float>& b, const View<float>& out,
                 std::optional<WherePath> path = {});

/// out(i) = in(i - before) where `in` has that element, and `value` where it does not. Reading past
/// an edge gives that value: 0 for a sum, minus infinity for a maximum. Elements of `in` past the
/// edge of `out` are dropped, so the same call writes a padded tile back.
/// torch.nn.functional.pad, and np.pad with mode "constant".
/// @param in      of out's rank, disjoint from out
/// @param before  per dimension, the indices of out before the first of in; if negative, the number
/// of leading indices of in that are dropped. -2^62 to 2^62
void pad_cpu(View<const float> in, const Dims& before, float value, View<float> out);
void pad_cuda(View<const float> in, const Dims& before, float value, View<float> out,
              gpu::Stream stream = {});

/// Concatenates the pieces along `dim`. Each piece is copied into its slice of out, by the path
/// that plan_copy() chooses for it. torch.cat, np.concatenate.
/// @param pieces  at least one; shapes equal to out's except in `dim`, where extents add up to
/// out's
/// @param dim     may be negative, counted from the end
/// @throws std::invalid_argument  also for other shapes; a piece must not overlap out
void concat_cpu(const std::vector<View<const float>>& pieces, int dim, View<float> out);
void concat_cuda(const std::vector<View<const float>>& pieces, int dim, View<float> out,
                 gpu::Stream stream = {});

void check_pad(const View<const float>& in, const Dims& before, const View<float>& out);
void check_concat(const std::vector<View<const float>>& pieces, int dim, const View<float>& out);

[[nodiscard]] AddBroadcastPath choose_add_broadcast(const View<const float>& a,
                                                    const View<const float>& b,
                                                    const View<float>& out);

/// Always any_layout: the naive kernel is not faster for any layout.
[[nodiscard]] WherePath choose_where(const View<const std::uint8_t>& mask,
                                     const View<const float>& a, const View<const float>& b,
                                     const View<float>& out);

}  // namespace sixdays::day03_views
