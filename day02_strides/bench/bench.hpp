/// @file
/// Code that only --bench and --trace use.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day02_strides {

/// --bench: the optimization steps, pack and pitched on matrices of 2^26 floats, the sweep.
void bench_all(lesson::Report& report);

/// --trace: the memory accesses of the warps.
void trace_all();

}  // namespace sixdays::day02_strides
