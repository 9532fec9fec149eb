/// @file
/// What is timed, where the ports run on a GPU: larger matrices than those that the run checks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/lesson/report.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

/// The sizes of a product, whether its operands are transposed views: of a (K, M), b (N, K), and
/// whether a timed run adds a bias and cuts off at 0.
struct Sizes {
    std::int64_t M, N, K;
    bool a_transposed = false, b_transposed = false, bias_and_relu = false;
};
[[nodiscard]] std::string to_string(const Sizes& s);

/// The inputs of all timed runs: multiples of 1/256 from -1 to 1, without order. A product of two
/// is a multiple of 2^-16, and sums stay below 2^8: they are exact in whatever order they are added,
/// so that a timed run must give the bits of any other one.
[[nodiscard]] float noise(std::uint64_t seed, std::int64_t i);

/// A product by `path`, or by what choose_matmul() says, timed beside cuBLAS; `check` is the
/// caller's.
[[nodiscard]] lesson::Version timed_matmul(const std::string& op, const Sizes& s,
                                           std::optional<MatmulPath> path = {});

/// --bench: the ladder at 4,096, the last step at many sizes and layouts.
void bench_all(lesson::Report& report);

/// Of it the products of bf16, beside cuBLAS with the same operands.
void bench_bf16(lesson::Report& report);

/// --trace: what the warps touch.
void trace_all();

}  // namespace sixdays::day05_matmul
