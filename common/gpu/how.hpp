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
    std::optional<Path> path = {};  ///< none: the operation chooses
    Workspace workspace = {};       ///< none: a path that needs none
    Stream stream = {};             ///< `{}` is the default stream
};

}  // namespace sixdays::gpu
