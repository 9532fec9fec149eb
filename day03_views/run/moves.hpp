/// @file
/// Moves as rows of the run and of --bench: checked on small tensors, timed on large ones.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/lesson/version.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/run/small_move.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {

/// A layout to copy from, to a row-major tensor of its shape: small, and large for --bench.
struct CopyCase {
    const char* name;
    Layout small, large;
    Kind kind = kFloat;
    bool only_bench = false;
};
[[nodiscard]] std::vector<CopyCase> copy_cases();

/// "rows, 16 bytes": the path of a copy, and the width of its elements.
[[nodiscard]] std::string path_of(const UntypedIn& in, const UntypedOut& out);

/// An optimization step, timed on a matrix (M, N); the caller sets `check`.
[[nodiscard]] lesson::Version step_of_transpose(TransposePath path, const Kind& kind,
                                                std::int64_t M, std::int64_t N);

/// The description that all rows share.
[[nodiscard]] lesson::Version row_of(const std::string& op, const std::string& version,
                                     const Kind& kind, const Layout& in);

/// A move of large tensors. The naive kernel of copy gives the expected output; some elements are
/// also compared with the input itself.
/// @param seen  `in` under the indices of `out`: for a copy `in` itself
using Move = std::function<void(const UntypedIn&, const UntypedOut&)>;
[[nodiscard]] lesson::Trial large_move(const Kind& kind, const Layout& in, const Layout& out,
                                       const Layout& seen, const Move& move);

}  // namespace sixdays::day03_views
