/// @file
/// The reductions beside argmax: the largest and the smallest element, sum, mean and product over
/// one or several dims, and argmin. The ports are argmax's twin and steps with another operation.
///
/// For all of them: `in` of any rank to 8 and any strides; `out` has in's shape without the reduced
/// dims, or with extent 1 in their place; any strides, injective, apart from `in`.
/// @throws std::invalid_argument  no such dim, or one named twice; another shape of out, two
/// indices of out that share a place, a null pointer, overlap; max, min, mean or argmin of nothing;
/// a path that cannot take these views; a workspace that is too small
#pragma once

#include <cstdint>

#include "common/gpu/how.hpp"
#include "day04_argmax/joins.hpp"
#include "day04_argmax/lines.hpp"

namespace sixdays::day04_argmax {

using ReducePath = LinePath;

/// Index of the smallest element along `dim`: argmax with the order reversed. Ties and NaN alike.
void argmin_cpu(View<const float> in, int dim, View<std::int64_t> out);
void argmin_cuda(View<const float> in, int dim, View<std::int64_t> out,
                 const gpu::Launch<ReducePath>& how = {});
void check_argmin(const View<const float>& in, int dim, const View<std::int64_t>& out,
                  std::optional<ReducePath> path = {});

/// What becomes of a line of n elements:
enum class Reduction {
    max,      // the largest; a NaN if there is one. Which zero, if both are the largest: either
    min,      // the smallest, likewise
    sum,      // 0 if n is 0
    mean,     // sum / n
    product,  // 1 if n is 0
};
[[nodiscard]] const char* name(Reduction what);

/// The loop joins the elements of a line in row-major order. A port joins them in another order,
/// the same in every run. So sums and products differ from the loop's in the last bits, but by no
/// more than n - 1 roundings of the sum of |x|, or of the product; as long as no order of joining
/// them leaves the range of floats. Of 1e30, 1e30, 1e-30 and 1e-30 the product is infinite in the
/// loop's order, 1 in another, and NaN, infinity times 0, where each two are joined first.
/// @param dims  the reduced ones, each may count from the back; none: every element is a line
void reduce_cpu(Reduction what, View<const float> in, const Dims& dims, View<float> out);
void reduce_cuda(Reduction what, View<const float> in, const Dims& dims, View<float> out,
                 const gpu::Launch<ReducePath>& how = {});
void check_reduce(Reduction what, const View<const float>& in, const Dims& dims,
                  const View<float>& out, std::optional<ReducePath> path = {});

/// What reduce_cuda and, with its one dim, argmin_cuda take, and what they need for it: as argmax.
[[nodiscard]] ReducePath choose_reduce(const View<const float>& in, const Dims& dims,
                                       bool workspace = false);
[[nodiscard]] std::int64_t reduce_workspace_bytes(const View<const float>& in, const Dims& dims,
                                                  std::optional<ReducePath> path = {});

/// The same for argmin, in its name. @throws std::invalid_argument  as reduce_workspace_bytes()
[[nodiscard]] std::int64_t argmin_workspace_bytes(const View<const float>& in, int dim,
                                                  std::optional<ReducePath> path = {});

}  // namespace sixdays::day04_argmax
