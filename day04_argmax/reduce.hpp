/// @file
/// The reductions besides argmax: maximum, minimum, sum, mean and product over one or several
/// dimensions, and argmin. The kernels are argmax's naive kernel and steps with another operation.
#pragma once

#include <cstdint>

#include "common/gpu/how.hpp"
#include "day04_argmax/joins.hpp"
#include "day04_argmax/lines.hpp"

namespace sixdays::day04_argmax {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_reduce().
/// shared_tree is for argmax only.
using ReducePath = LinePath;

/// Index of the smallest element along `dim`: argmax with the order reversed. Of equal elements the
/// one with the lowest index wins, -0 equals +0, and the first NaN beats all numbers.
/// @param in   shape S, rank 1 to 8, any strides, including 0 and negative ones
/// @param dim  0 <= dim < rank, or negative, counted from the end
/// @param out  S without `dim`, or with extent 1 there; any strides, injective, not overlapping
/// `in`
/// @throws std::invalid_argument  no such dimension, extent 0 along it, wrong shape of out, two
/// indices of out at the same address, a null pointer, overlap
void argmin_cpu(View<const float> in, int dim, View<std::int64_t> out);
/// Blocks may share a line if the workspace has argmin_workspace_bytes().
/// @throws std::invalid_argument  also a path that does not support these views, and a workspace
/// that is too small
void argmin_cuda(View<const float> in, int dim, View<std::int64_t> out,
                 const gpu::Launch<ReducePath>& how = {});
/// Rejects what both versions reject, and chooses the path: plan_lines().
/// @throws std::invalid_argument  as argmin_cuda()
[[nodiscard]] LinesPlan<std::int64_t> plan_argmin(const View<const float>& in, int dim,
                                                  const View<std::int64_t>& out,
                                                  const gpu::Launch<ReducePath>& how);

/// What reduce_cpu() and reduce_cuda() compute of a line of n elements.
enum class Reduction {
    max,      ///< the largest; a NaN if there is one. Of zeros of both signs: either
    min,      ///< the smallest; a NaN if there is one. Of zeros of both signs: either
    sum,      ///< the sum; 0 if n is 0
    mean,     ///< sum / n
    product,  ///< the product; 1 if n is 0
};
[[nodiscard]] const char* name(Reduction what);

/// Maximum, minimum, sum, mean or product over one or several dimensions. The CPU reference
/// combines the elements of a line in row-major order.
/// @param in    shape S, rank up to 8, any strides
/// @param dims  the reduced dimensions, negative from the end; if empty, each element is a line
/// @param out   S without the reduced dimensions, or with extent 1 in their place; any strides,
/// injective, not overlapping `in`
/// @throws std::invalid_argument  an unknown reduction, no such dimension, or one named twice;
/// wrong shape of out, two indices of out at the same address, a null pointer, overlap; max, min or
/// mean of no elements
void reduce_cpu(Reduction what, View<const float> in, const Dims& dims, View<float> out);
/// A kernel combines in another order than the reference, the same in every run. So sums and
/// products may differ in the last bits, by at most n - 1 roundings of the sum of |x|, or of the
/// product. This holds as long as no order leaves the range of floats: the product of 1e30, 1e30,
/// 1e-30 and 1e-30 is infinite in row-major order, 1 in another order, and NaN (infinity times 0)
/// if pairs are combined first.
/// @throws std::invalid_argument  also a path that does not support these views, and a workspace
/// that is too small
void reduce_cuda(Reduction what, View<const float> in, const Dims& dims, View<float> out,
                 const gpu::Launch<ReducePath>& how = {});
/// Rejects what both versions reject, and chooses the path: plan_lines().
/// @throws std::invalid_argument  as reduce_cuda()
[[nodiscard]] LinesPlan<float> plan_reduce(Reduction what, const View<const float>& in,
                                           const Dims& dims, const View<float>& out,
                                           const gpu::Launch<ReducePath>& how);

/// The path that reduce_cuda() takes and, for one dimension, argmin_cuda(), with or without a
/// workspace: that of choose_path().
/// @throws std::invalid_argument  no such dimension, or one named twice
[[nodiscard]] ReducePath choose_reduce(const View<const float>& in, const Dims& dims,
                                       bool workspace = false);
/// Bytes of workspace that the path needs, or the best path with a workspace; 0 if a workspace
/// would change nothing.
/// @throws std::invalid_argument  no such dimension, or one named twice; a path that does not
/// support these views
[[nodiscard]] std::int64_t reduce_workspace_bytes(const View<const float>& in, const Dims& dims,
                                                  std::optional<ReducePath> path = {});

/// Bytes of workspace that argmin_cuda() needs on this path, or on the best path with a workspace;
/// 0 if a workspace would change nothing.
/// @throws std::invalid_argument  no such dimension; a path that does not support these views
[[nodiscard]] std::int64_t argmin_workspace_bytes(const View<const float>& in, int dim,
                                                  std::optional<ReducePath> path = {});

}  // namespace sixdays::day04_argmax
