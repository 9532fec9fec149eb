/// @file
/// What only --bench and --trace do.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day03_views {

/// --bench: the ladder, all copies, and add with a bias. Each is compared with its loop on a small
/// tensor, and where it is timed with the plainest port, over every byte.
void bench_all(lesson::Report& report);

/// --trace: what the warps touch.
void trace_all();

}  // namespace sixdays::day03_views
