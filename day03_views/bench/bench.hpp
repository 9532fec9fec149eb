/// @file
/// Code that only --bench and --trace use.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day03_views {

/// --bench: the optimization steps, all copies, and add with a bias. Every byte is compared: with
/// the CPU reference on a small tensor, and with the naive kernel where it is timed.
void bench_all(lesson::Report& report);

/// --trace: the memory accesses of the warps.
void trace_all();

}  // namespace sixdays::day03_views
