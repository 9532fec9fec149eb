/// @file
/// The last argument of every operation that has a choice of paths: by which one, with which
/// memory, on which stream. All three may be left out:
///
///     softmax_cuda<float>(in, 1, out);                                 // the best path
///     softmax_cuda<float>(in, 1, out, {.path = SoftmaxPath::online});  // this one, or refuse
///     softmax_cuda<float>(in, 1, out, {.workspace = m, .stream = s});  // the best with memory
#pragma once

#include <optional>

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"

namespace sixdays::gpu {

/// How an operation is to be launched.
template <class Path>
struct Launch {
    std::optional<Path> path = {};  // none: the operation chooses
    Workspace workspace = {};       // none: it takes a path that needs none
    Stream stream = {};
};

}  // namespace sixdays::gpu
