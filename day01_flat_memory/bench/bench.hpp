/// @file
/// What --bench measures beside the ladder of add.
#pragma once

#include "common/lesson/report.hpp"

namespace sixdays::day01_flat_memory {

/// square, scale, saxpy and invert over a large tensor, aligned and not, and over small ones in a
/// graph; fill in 2, 3 and 4 dims. Each is compared with its loop over every element, before it is
/// timed and after. Where the ports run on the emulator nothing is done.
void bench_all_but_add(lesson::Report& report);

}  // namespace sixdays::day01_flat_memory
