/// @file
/// What only --bench and --trace do.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day02_strides {

/// --bench: the ladder, pack and pitched on matrices of 2^26 floats, the sweep.
void bench_all(lesson::Report& report);

/// --trace: what the warps touch.
void trace_all();

}  // namespace sixdays::day02_strides
