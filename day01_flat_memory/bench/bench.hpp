/// @file
/// Code that only --bench and --trace use.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day01_flat_memory {

/// --bench: add, square, scale, saxpy and invert; indices in 2, 3 and 4 dimensions; small tensors
/// in a graph. Every element of every output is compared with the CPU reference, before and after
/// the timed runs.
void bench_all(lesson::Report& report);

/// --trace: the memory accesses of the warps.
void trace_all();

}  // namespace sixdays::day01_flat_memory
