/// @file
/// What only --bench and --trace do.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day01_flat_memory {

/// --bench: add, square, scale, saxpy and invert, and indices in 2, 3 and 4 dims; small
/// tensors in a graph. Each is compared with its loop over every element, before it is timed and
/// after.
void bench_all(lesson::Report& report);

/// --trace: what the warps touch.
void trace_all();

}  // namespace sixdays::day01_flat_memory
