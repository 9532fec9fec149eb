/// @file
/// Checks a timed product. Each timed run must give the bits of the first one, but a deterministic
/// bug would pass that test. So a few outputs are also summed in double.
#pragma once

#include <cstdint>
#include <string>

#include "day05_matmul/bench/bench.hpp"

namespace sixdays::day05_matmul {

/// Checks 64 outputs in each of three rows, the first and the last among them. Sums must be exact
/// in float, as those of noise() are.
/// @param a, b  of (m, k) and of (k, n)
/// @param then  the epilogue, of (sum, n)
/// @param row   row m of the output, N floats in host memory
/// @returns  empty, or a message about the first wrong output
template <class A, class B, class Then, class Row>
[[nodiscard]] std::string wrong_sample(const Sizes& s, const A& a, const B& b, const Then& then,
                                       const Row& row) {
    for (const std::int64_t m : {std::int64_t{0}, s.M / 2, s.M - 1}) {
        const auto got = row(m);
        for (std::int64_t i = 0; i < 64; ++i) {
            const std::int64_t n = i * (s.N - 1) / 63;
            double sum = 0;
            for (std::int64_t k = 0; k < s.K; ++k) sum += static_cast<double>(a(m, k)) * b(k, n);
            const double want = then(sum, n);
            if (got[static_cast<std::size_t>(n)] == want) continue;
            return "output (" + std::to_string(m) + ", " + std::to_string(n) + ") of " +
                   sixdays::to_string(Shape{s.M, s.N, s.K}) + " is " +
                   std::to_string(got[static_cast<std::size_t>(n)]) +
                   ", but summed in double it is " + std::to_string(want);
        }
    }
    return "";
}

}  // namespace sixdays::day05_matmul
