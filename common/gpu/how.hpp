/// @file
/// The last argument of every operation that has several paths: which path, which workspace, which
/// stream. All three are optional:
///
///     softmax_cuda<float>(in, 1, out);                                 // the best path
///     softmax_cuda<float>(in, 1, out, {.path = SoftmaxPath::online});  // this one, or throw
///     softmax_cuda<float>(in, 1, out, {.workspace = m, .stream = s});  // best with workspace
#pragma once

#include <optional>

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"

namespace sixdays::gpu {

/// How to launch an operation: the last argument of every operation with several paths. All three
/// are optional, as in {.path = SoftmaxPath::online, .stream = s}.
template <class Path>
struct Launch {
    /// The kernel version to launch; none: the operation chooses, as its `choose_` function does. A
    /// path that does not support the arguments is rejected.
    std::optional<Path> path = {};
    /// Device memory that the caller owns; none: a path that needs none is chosen.
    Workspace workspace = {};
    /// The stream of the launch; a null pointer, as `{}` is, means CUDA's default stream.
    Stream stream = {};
};

}  // namespace sixdays::gpu
