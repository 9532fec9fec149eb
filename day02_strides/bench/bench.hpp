/// @file
/// What is timed, where the ports run on a GPU. On the emulator nothing is done.
#pragma once

#include <cstdint>
#include <vector>

#include "common/lesson/report.hpp"

namespace sixdays::day02_strides {

/// gather: (B, 12, 1024, 64) out of (B, 1024, 12, 64), each step of the ladder and gather_cuda.
/// Every element is compared with the loop's, before timing and after.
void time_gather(lesson::Report& report, std::int64_t B);

/// gather_cuda of a matrix of 2^26 floats: contiguous, with a pitch, with an odd one, and flipped.
void time_gather_of_matrices(lesson::Report& report);

/// pitched: matrices of 2^26 floats with rows of 32, 1024 and 4096, on both paths. Elements and the
/// room between rows are compared with the loop's, before timing and after.
void time_pitched(lesson::Report& report);

/// sum_columns, which reads, and ramp, which writes: every stride-th element of up to 2^30 floats.
/// The column `path` holds the seconds that the model says.
void time_sweep(lesson::Report& report, const std::vector<std::int64_t>& strides);

}  // namespace sixdays::day02_strides
