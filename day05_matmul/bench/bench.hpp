/// @file
/// What --bench times on a GPU: larger matrices than those that are checked.
#pragma once

#include <optional>
#include <string>

#include "common/lesson/report.hpp"
#include "day05_matmul/run/product.hpp"

namespace sixdays::day05_matmul {

/// A product by `path`, or by the path that choose_matmul() returns, timed next to cuBLAS; the
/// caller sets `check`.
[[nodiscard]] lesson::Version timed_matmul(const std::string& op, const Sizes& s,
                                           std::optional<MatmulPath> path = {});

/// --bench: the ladder at 4,096, the last step at many sizes and layouts.
void bench_all(lesson::Report& report);

/// The bf16 products of --bench, next to cuBLAS with the same operands.
void bench_bf16(lesson::Report& report);

/// The value of a numeric flag of this day, or `otherwise`.
/// @throws std::invalid_argument  not a number from 1 to `most`
[[nodiscard]] std::int64_t number_of(const lesson::Report& report, const char* flag,
                                     std::int64_t otherwise, std::int64_t most);

/// --tune: times every way to compute some products, or one of size --size.
/// @throws std::runtime_error  on the emulator
void tune(lesson::Report& report);

/// --trace: which memory the warps access.
void trace_all();

}  // namespace sixdays::day05_matmul
