/// @file
/// The timed part of the run, on a GPU. On the emulator the sweep does nothing, and pack's steps
/// are only checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/lesson/report.hpp"
#include "day02_strides/run/pair.hpp"

namespace sixdays::day02_strides {

/// The strides of the sweep.
inline const std::vector<std::int64_t> kStrides = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,
                                                   12, 13, 14, 15, 16, 32, 33, 64, 65, 128, 129};

/// pack: (B, 12, 1024, 64) from (B, 1024, 12, 64), by every path.
void pack_ladder(lesson::Report& report, std::int64_t B);

/// sum_columns, which reads, and ramp, which writes: every stride-th element of up to 2^30 floats.
/// The column `path` holds the seconds that stride_cost.hpp predicts.
void time_sweep(lesson::Report& report, const std::vector<std::int64_t>& strides);

/// The kernel of a pair as it is run and checked, and the description of its row.
[[nodiscard]] lesson::Trial trial(const std::shared_ptr<Pair>& pair, const Pair::Port& port);
[[nodiscard]] lesson::Version version(const std::string& op, const std::string& how,
                                      const Shape& shape, const std::string& path = "");

/// pack's pair for this layout.
[[nodiscard]] std::shared_ptr<Pair> packing(const Layout& from);

}  // namespace sixdays::day02_strides
