/// @file
/// What --bench prints, one row a version. The columns:
///
///     op, version    "add", "vectorized"
///     path           what the launcher chose; empty if it has no choice
///     dtype, shape   "float32", "64x1024x12"; "scalar" for rank 0
///     cache          "cold": inputs come from device memory; "warm": from the L2 cache
///     bytes_read, bytes_written, flops   the least that one run must move and do
///     median_s, p10_s, p90_s             seconds of one run
///     limit, share   which limit holds the run back, and its time at that limit over the median
///     peer, peer_s   a library call that does the same work, and its median; empty without one
///
/// A field that holds a comma or a quote is put in quotes, a quote in it doubled (RFC 4180).
#pragma once

#include <string>

#include "common/bench/measure.hpp"
#include "common/bench/roofline.hpp"
#include "common/lesson/version.hpp"

namespace sixdays::lesson {

/// "op,version,...", without a line end.
[[nodiscard]] std::string csv_columns();

/// One row, without a line end. @param peer_median  0 without a peer
/// @throws std::invalid_argument  a line end in a name, or a time that is not above 0
[[nodiscard]] std::string csv_row(const Version& version, const bench::Seconds& seconds,
                                  double peer_median, const bench::Limits& limits);

/// The driver's version as /proc/driver/nvidia/version writes it, "580.65.06"; "" if there is none.
[[nodiscard]] std::string driver_version_in(const std::string& text);

/// "" if the clock at the end is within 5 % of the one at the start; else a sentence that warns.
[[nodiscard]] std::string clock_warning(double hz_before, double hz_after);

}  // namespace sixdays::lesson
