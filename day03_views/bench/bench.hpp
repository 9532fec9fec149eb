/// @file
/// What is timed, where the ports run on a GPU: larger tensors than those that the run checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/lesson/report.hpp"
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

/// "rows, 16 bytes": the path of a copy, and how wide its elements have become.
[[nodiscard]] std::string path_of(const UntypedIn& in, const UntypedOut& out);

/// A step of the ladder, timed on a matrix (M, N); `check` is the caller's.
[[nodiscard]] lesson::Version step_of_transpose(TransposePath path, const Kind& kind,
                                                std::int64_t M, std::int64_t N);

/// --bench: the ladder, all copies, and add with a bias. Each is compared with its loop on a small
/// tensor, and where it is timed with the plainest port, over every byte.
void bench_all(lesson::Report& report);

/// --trace: what the warps touch.
void trace_all();

}  // namespace sixdays::day03_views
