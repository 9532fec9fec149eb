/// @file
/// Operations on tensors whose shapes differ: inputs are broadcast to the output's shape by stride
/// 0, put one behind the other, or given an edge. Every layout is walked by its own strides.
///
/// For all of them: inputs of any strides; `out` injective, of any strides; no elements are fine.
/// An input may be `out` itself where its shape is the same, but not overlap it otherwise.
/// @throws std::invalid_argument  an input that cannot be broadcast, two indices of out that share
/// a place, a null pointer, overlap
#pragma once

#include <cstdint>
#include <vector>

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// How add_broadcast_cuda adds. Quads are possible where the innermost dim has extent 4 k
/// and lies along memory in out, in a and b along memory or on one place, and all that lies along
/// memory begins at a multiple of 16 bytes in every row.
enum class AddBroadcastPath {
    one_element,  // a thread, an element: the loop's twin
    any_layout,   // the same, walked by fast divisions, four loads in flight
    quads,
    tile,  // CUDA Tile C++, never chosen unasked: once simplified, four dims at most, no stride < 0
};
[[nodiscard]] const char* name(AddBroadcastPath path);

/// How where_cuda chooses.
enum class WherePath {
    one_element,  // a thread, an element: the loop's twin
    any_layout,   // the same, walked by fast divisions
};
[[nodiscard]] const char* name(WherePath path);

/// out = a + b, with NumPy's broadcast: shapes are aligned at the last dim, a missing dim or one of
/// extent 1 is repeated. A bias (N) added to (M, N) goes to every row, a bias (M, 1) to every
/// column, a bias () to every element.
/// @param out  its shape is given; it may be larger than a and b together need
void add_broadcast_cpu(View<const float> a, View<const float> b, View<float> out);
void add_broadcast_cuda(View<const float> a, View<const float> b, View<float> out,
                        const gpu::Launch<AddBroadcastPath>& how = {});
void check_add_broadcast(const View<const float>& a, const View<const float>& b,
                         const View<float>& out, std::optional<AddBroadcastPath> path = {});

/// out = mask != 0 ? a : b, all three broadcast to out's shape. Bits are moved, not computed: what
/// is not chosen leaves no trace, not even a NaN. NumPy's and PyTorch's where.
void where_cpu(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
               View<float> out);
void where_cuda(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                View<float> out, const gpu::Launch<WherePath>& how = {});
void check_where(const View<const std::uint8_t>& mask, const View<const float>& a,
                 const View<const float>& b, const View<float>& out,
                 std::optional<WherePath> path = {});

/// out(i) = in(i - before) where `in` has that element, and `value` where it does not. Reading past
/// an edge gives a chosen value: 0 for a sum, minus infinity for a maximum. And what of `in` lies
/// past the edge of `out` is dropped, so a padded tile is written back by the same call.
/// torch.nn.functional.pad, and np.pad with mode "constant".
/// @param in      of out's rank, apart from out
/// @param before  per dim, how many indices of out come before the first of in; negative: so many
/// of in's first indices are dropped. -2^62 to 2^62
void pad_cpu(View<const float> in, const Dims& before, float value, View<float> out);
void pad_cuda(View<const float> in, const Dims& before, float value, View<float> out,
              gpu::Stream stream = {});

/// The pieces one behind the other along `dim`. Each piece is copied into its slice of out, by the
/// path that plan_copy() chooses for it. torch.cat, np.concatenate.
/// @param pieces  at least one; shapes equal to out's but for `dim`, where they add up to out's
/// @param dim     may count from the back
/// @throws std::invalid_argument  also for other shapes; a piece may not be part of out
void concat_cpu(const std::vector<View<const float>>& pieces, int dim, View<float> out);
void concat_cuda(const std::vector<View<const float>>& pieces, int dim, View<float> out,
                 gpu::Stream stream = {});

void check_pad(const View<const float>& in, const Dims& before, const View<float>& out);
void check_concat(const std::vector<View<const float>>& pieces, int dim, const View<float>& out);

[[nodiscard]] AddBroadcastPath choose_add_broadcast(const View<const float>& a,
                                                    const View<const float>& b,
                                                    const View<float>& out);

/// Always any_layout: no layout is better served by the twin.
[[nodiscard]] WherePath choose_where(const View<const std::uint8_t>& mask,
                                     const View<const float>& a, const View<const float>& b,
                                     const View<float>& out);

}  // namespace sixdays::day03_views
