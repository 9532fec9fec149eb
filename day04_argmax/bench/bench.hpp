/// @file
/// What only --bench and --trace do.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day04_argmax {

/// --bench: the ladder, argmax and sums of many shapes, one line in a graph.
void bench_all(lesson::Report& report);

/// --trace: what the warps touch.
void trace_all();

}  // namespace sixdays::day04_argmax
