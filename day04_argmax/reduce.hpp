/// @file
/// The reductions besides argmax: maximum, minimum, sum, mean and product over one or several
/// dimensions, and argmin. The kernels are argmax's naive kernel and steps with another operation.
///
/// For all of them: `in` of rank up to 8 and any strides; `out` has in's shape without the reduced
/// dimensions, or with extent 1 in their place; any strides, injective, not overlapping `in`.
/// @throws std::invalid_argument  no such dimension, or one named twice; wrong shape of out, two
/// indices of out at the same address, a null pointer, overlap; max, min, mean or argmin of no
/// elements; a path that does not support these views; a workspace that is too small
#pragma once

#include <cstdint>

#include "common/gpu/how.hpp"
#include "day04_argmax/joins.hpp"
#include "day04_argmax/lines.hpp"

namespace sixdays::day04_argmax {

using ReducePath = LinePath;

/// Index of the smallest element along `dim`: argmax with the order reversed. Ties and NaN are
/// resolved the same way.
void argmin_cpu(View<const float> in, int dim, View<std::int64_t> out);
void argmin_cuda(View<const float> in, int dim, View<std::int64_t> out,
                 const gpu::Launch<ReducePath>& how = {});
void check_argmin(const View<const float>& in, int dim, const View<std::int64_t>& out,
                  std::optional<ReducePath> path = {});

/// The result for a line of n elements:
enum class Reduction {
    max,      // the largest; a NaN if there is one. Of zeros of both signs: either
    min,      // the smallest, with the same rules
    sum,      // 0 if n is 0
    mean,     // sum / n
    product,  // 1 if n is 0
};
[[nodiscard]] const char* name(Reduction what);

/// The CPU reference combines the elements of a line in row-major order. A kernel uses another
/// order, the same in every run. So sums and products may differ from the CPU reference's in the
/// last bits, by at most n - 1 roundings of the sum of |x|, or of the product. This holds as long
/// as no order leaves the range of floats: the product of 1e30, 1e30, 1e-30 and 1e-30 is infinite
/// in row-major order, 1 in another order, and NaN (infinity times 0) if pairs are combined first.
/// @param dims  the reduced dimensions, negative from the end; if empty, each element is a line
void reduce_cpu(Reduction what, View<const float> in, const Dims& dims, View<float> out);
void reduce_cuda(Reduction what, View<const float> in, const Dims& dims, View<float> out,
                 const gpu::Launch<ReducePath>& how = {});
void check_reduce(Reduction what, const View<const float>& in, const Dims& dims,
                  const View<float>& out, std::optional<ReducePath> path = {});

/// The path that reduce_cuda and, for one dimension, argmin_cuda choose, and the workspace it
/// needs: as for argmax.
[[nodiscard]] ReducePath choose_reduce(const View<const float>& in, const Dims& dims,
                                       bool workspace = false);
[[nodiscard]] std::int64_t reduce_workspace_bytes(const View<const float>& in, const Dims& dims,
                                                  std::optional<ReducePath> path = {});

/// The same for argmin, whose name the messages then contain. @throws std::invalid_argument  as
/// reduce_workspace_bytes()
[[nodiscard]] std::int64_t argmin_workspace_bytes(const View<const float>& in, int dim,
                                                  std::optional<ReducePath> path = {});

}  // namespace sixdays::day04_argmax
