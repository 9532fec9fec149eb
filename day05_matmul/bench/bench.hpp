/// @file
/// What is timed, where the ports run on a GPU: larger matrices than those that the run checks.
#pragma once

#include <optional>
#include <string>

#include "common/lesson/report.hpp"
#include "day05_matmul/run/product.hpp"

namespace sixdays::day05_matmul {

/// A product by `path`, or by what choose_matmul() says, timed beside cuBLAS; `check` is the
/// caller's.
[[nodiscard]] lesson::Version timed_matmul(const std::string& op, const Sizes& s,
                                           std::optional<MatmulPath> path = {});

/// --bench: the ladder at 4,096, the last step at many sizes and layouts.
void bench_all(lesson::Report& report);

/// Of it the products of bf16, beside cuBLAS with the same operands.
void bench_bf16(lesson::Report& report);

/// The number that a flag of this day was given, or `otherwise`.
/// @throws std::invalid_argument  not a number from 1 to `most`
[[nodiscard]] std::int64_t number_of(const lesson::Report& report, const char* flag,
                                     std::int64_t otherwise, std::int64_t most);

/// --tune: times every way that there is to compute some products, or one of --size.
/// @throws std::runtime_error  on the emulator
void tune(lesson::Report& report);

/// --trace: what the warps touch.
void trace_all();

}  // namespace sixdays::day05_matmul
