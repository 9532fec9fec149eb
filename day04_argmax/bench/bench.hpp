/// @file
/// What is timed, where the ports run on a GPU: larger tensors than those that the run checks.
#pragma once

#include <cstdint>

#include "common/lesson/report.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/reduce.hpp"

namespace sixdays::day04_argmax {

/// argmax over `dim`: checked against the loop on `small`, timed on `large`, where it must give
/// what another step gives.
struct ArgmaxCase {
    Shape small, large;
    int dim;
};
[[nodiscard]] lesson::Version argmax_version(ArgmaxPath path, const ArgmaxCase& shapes);

/// --bench: the ladder, argmax and sums of many shapes, one line in a graph.
void bench_all(lesson::Report& report);

/// --trace: what the warps touch.
void trace_all();

}  // namespace sixdays::day04_argmax
