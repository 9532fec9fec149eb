/// @file
/// What the run and --bench time, where the ports run on a GPU: longer tensors than those that the
/// run checks.
#pragma once

#include <cstdint>
#include <memory>

#include "common/lesson/arena.hpp"
#include "common/lesson/report.hpp"
#include "day01_flat_memory/elementwise.hpp"

namespace sixdays::day01_flat_memory {

/// Where tensors begin: elements past a multiple of 16 bytes, or of 16 elements if they are bytes.
struct Place {
    const char* name = "all aligned";
    std::int64_t in = 0, out = 0;
};
inline constexpr Place kPlaces[] = {
    {"all aligned", 0, 0}, {"all 4 bytes past", 1, 1}, {"inputs 4 bytes past", 1, 0}};

/// The loop of add with what it is timed on; `check` is the caller's.
[[nodiscard]] lesson::Version loop_of_add();

/// Device memory for the timed runs of the ports of add: inputs, and what the output must hold.
/// nullptr where ports are not timed.
using Timed = std::shared_ptr<lesson::Arena>;
[[nodiscard]] Timed memory_of_add(const lesson::Report& report);

/// The port, by that path and at that place; `check` is the caller's.
[[nodiscard]] lesson::Version port_of_add(ElementwisePath path, const Place& place,
                                          const Timed& memory);

/// --bench: add as above; square, scale, saxpy and invert, and indices in 2, 3 and 4 dims; small
/// tensors in a graph. Each is compared with its loop over every element, before it is timed and
/// after.
void bench_all(lesson::Report& report);

/// --trace: what the warps touch.
void trace_all();

}  // namespace sixdays::day01_flat_memory
