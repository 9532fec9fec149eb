/// @file
/// Used only by --bench and --trace.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day04_argmax {

/// --bench: the ladder, argmax and sums of many shapes, one line in a graph.
void bench_all(lesson::Report& report);

/// --trace: which memory the warps access.
void trace_all();

}  // namespace sixdays::day04_argmax
