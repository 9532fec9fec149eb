/// @file
/// The CSV that --bench prints, one row per version. The columns:
///
///     op, version    "add", "vectorized"
///     path           the path that the launcher chose; empty if there is only one
///     dtype, shape   "float32", "64x1024x12"; "scalar" for rank 0
///     cache          "cold": inputs come from device memory; "warm": from the L2 cache
///     bytes_read, bytes_written, flops   the minimum work of one run
///     median_s, p10_s, p90_s             seconds of one run
///     limit, share   the run's limit, and its time at that limit divided by the median
///     peer, peer_s   a library call that does the same work, and its median; empty without one
///
/// A field with a comma or a quote is quoted, and quotes in it are doubled (RFC 4180).
#pragma once

#include <string>

#include "common/bench/measure.hpp"
#include "common/bench/roofline.hpp"
#include "common/lesson/version.hpp"

namespace sixdays::lesson {

/// "op,version,...", without a line break.
[[nodiscard]] std::string csv_columns();

/// One row, without a line break. @param peer_median  0 without a peer
/// @throws std::invalid_argument  a line break in a name, or a time that is not above 0
[[nodiscard]] std::string csv_row(const Version& version, const bench::Seconds& seconds,
                                  double peer_median, const bench::Limits& limits);

/// The driver's version in the text of /proc/driver/nvidia/version, "580.65.06"; "" if missing.
[[nodiscard]] std::string driver_version_in(const std::string& text);

/// "" if the clock at the end is within 5 % of the one at the start; else a warning.
[[nodiscard]] std::string clock_warning(double hz_before, double hz_after);

}  // namespace sixdays::lesson
