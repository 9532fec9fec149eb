/// @file
/// Where the largest element is, along one dim of a tensor of any rank and any strides.
///
/// Which one that is, is said in full: of equal elements the one of the lowest index, -0 equals +0;
/// the first NaN beats all numbers. Where every element is minus infinity that gives index 0. NumPy
/// and PyTorch say the same, and ports are equal to the loop, whatever order they look in.
#pragma once

#include <cstdint>

#include "common/gpu/how.hpp"
#include "day04_argmax/joins.hpp"
#include "day04_argmax/lines.hpp"

namespace sixdays::day04_argmax {

using ArgmaxPath = LinePath;

/// Index of the largest element along `dim`.
/// @param in   shape S, rank 1 to 8, any strides, 0 and negative ones too
/// @param dim  0 <= dim < rank, or negative, counting from the back
/// @param out  S without `dim`, or with extent 1 there; any strides, injective, apart from `in`
/// @throws std::invalid_argument  no such dim, extent 0 along it, another shape of out, two indices
/// of out that share a place, a null pointer, overlap. An extent of 0 elsewhere is fine: no output
void argmax_cpu(View<const float> in, int dim, View<std::int64_t> out);

/// The port: by the path it is given, else by the best; blocks may share a line where there is a
/// workspace of argmax_workspace_bytes().
/// @throws std::invalid_argument  also a path that cannot take these views, and a workspace that is
/// too small
void argmax_cuda(View<const float> in, int dim, View<std::int64_t> out,
                 const gpu::Launch<ArgmaxPath>& how = {});

/// What both refuse; with a path also what that path cannot take.
void check_argmax(const View<const float>& in, int dim, const View<std::int64_t>& out,
                  std::optional<ArgmaxPath> path = {});

/// What argmax_cuda takes, if it is given a workspace or not.
[[nodiscard]] ArgmaxPath choose_argmax(const View<const float>& in, int dim,
                                       bool workspace = false);

/// Bytes that the path needs, or the best path with a workspace; 0: none would change anything.
/// @throws std::invalid_argument  what check_argmax refuses of `in`, `dim` and `path`
[[nodiscard]] std::int64_t argmax_workspace_bytes(const View<const float>& in, int dim,
                                                  std::optional<ArgmaxPath> path = {});

}  // namespace sixdays::day04_argmax
