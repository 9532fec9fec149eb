/// @file
/// One workspace for many calls, as a caller may hold it (the rule of common/gpu/workspace.hpp):
/// its counters are set to 0 once, and anything may lie behind them.
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

class SharedWorkspace {
public:
    /// @param bytes  the most that next() is asked for
    explicit SharedWorkspace(std::int64_t bytes);

    /// Its first `bytes`, for one call. What lies behind the counters is new garbage: in turn NaNs,
    /// counts of one, and bytes that have no order.
    [[nodiscard]] gpu::Workspace next(std::int64_t bytes);

    /// Has the call left every counter at 0, and written nothing behind what it was given?
    Comparison kept() const;

private:
    gpu::Buffer<std::byte> memory_;
    Bytes behind_;            // what lies behind the counters before the call
    std::int64_t given_ = 0;  // bytes of the call, of those behind the counters
    int calls_ = 0;
};

}  // namespace sixdays::testing
