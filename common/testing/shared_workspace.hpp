/// @file
/// One workspace for many calls, as common/gpu/workspace.hpp allows: its counters are set to 0
/// once, and the memory after them may hold anything.
///
///     SharedWorkspace shared(1 << 20);
///     for (...) {  // operations, shapes and paths in any order
///         const auto memory = shared.next(argmax_workspace_bytes(in, dim, path));
///         argmax_cuda(in, dim, out, {.path = path, .workspace = memory});
///         CHECK(out.matches(want));
///         CHECK(shared.kept());
///     }
#pragma once

#include "common/gpu/workspace.hpp"
#include "common/testing/compare.hpp"
#include "common/testing/image.hpp"

namespace sixdays::testing {

/// One workspace for many calls, as gpu::Workspace allows: its counters are set to 0 once, and the
/// memory after them holds garbage.
class SharedWorkspace {
public:
    /// @param bytes  the largest size passed to next()
    explicit SharedWorkspace(std::int64_t bytes);

    /// Its first `bytes`, for one call. The memory after the counters holds new garbage: NaNs, ones
    /// and random bytes in turn.
    [[nodiscard]] gpu::Workspace next(std::int64_t bytes);

    /// Whether the call has left every counter at 0, and written nothing past its workspace.
    Comparison kept() const;

private:
    gpu::Buffer<std::byte> memory_;
    Bytes behind_;            // the memory after the counters, before the call
    std::int64_t given_ = 0;  // bytes after the counters that the call was given
    int calls_ = 0;
};

}  // namespace sixdays::testing
