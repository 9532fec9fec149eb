/// @file
/// The index of the largest element along one dimension of a tensor of any rank and any strides.
#pragma once

#include <cstdint>

#include "common/gpu/how.hpp"
#include "day04_argmax/joins.hpp"
#include "day04_argmax/lines.hpp"

namespace sixdays::day04_argmax {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_argmax().
using ArgmaxPath = LinePath;

/// Index of the largest element along `dim`. Fully specified: of equal elements the one with the
/// lowest index wins, -0 equals +0, and the first NaN beats all numbers. If every element is minus
/// infinity, the index is 0. NumPy and PyTorch agree.
/// @param in   shape S, rank 1 to 8, any strides, including 0 and negative ones
/// @param dim  0 <= dim < rank, or negative, counted from the end
/// @param out  S without `dim`, or with extent 1 there; any strides, injective, not overlapping
/// `in`
/// @throws std::invalid_argument  no such dimension, extent 0 along it, wrong shape of out, two
/// indices of out at the same address, a null pointer, overlap. An extent of 0 elsewhere is valid
/// and gives no output
void argmax_cpu(View<const float> in, int dim, View<std::int64_t> out);

/// Equals argmax_cpu() whatever order it reads in. It allocates nothing: for `split`, the caller
/// allocates a workspace of argmax_workspace_bytes() in device memory and sets it to 0 once, see
/// gpu::Workspace. Without one, a single block, warp or thread reads a line.
/// @throws std::invalid_argument  also for a path that does not support these views, and for a
/// workspace that is too small
void argmax_cuda(View<const float> in, int dim, View<std::int64_t> out,
                 const gpu::Launch<ArgmaxPath>& how = {});

/// Rejects what both versions reject, and chooses the path: plan_lines().
/// @throws std::invalid_argument  as argmax_cuda()
[[nodiscard]] LinesPlan<std::int64_t> plan_argmax(const View<const float>& in, int dim,
                                                  const View<std::int64_t>& out,
                                                  const gpu::Launch<ArgmaxPath>& how);

/// The path that argmax_cuda() takes, with or without a workspace of argmax_workspace_bytes(): that
/// of choose_path().
/// @throws std::invalid_argument  no such dimension
[[nodiscard]] ArgmaxPath choose_argmax(const View<const float>& in, int dim,
                                       bool workspace = false);

/// Bytes of workspace that the path needs, or the best path with a workspace; 0 if a workspace
/// would change nothing. At most 24 KiB: 16 KiB of counters and 8 bytes per block of `split`.
/// @throws std::invalid_argument  what plan_argmax() rejects of `in`, `dim` and `path`
[[nodiscard]] std::int64_t argmax_workspace_bytes(const View<const float>& in, int dim,
                                                  std::optional<ArgmaxPath> path = {});

}  // namespace sixdays::day04_argmax
