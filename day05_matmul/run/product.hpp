/// @file
/// Products as rows of the run and of --bench: their sizes, their inputs, and a small one that is
/// checked against the CPU reference bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/lesson/both.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

/// The sizes of a product, whether its operands are transposed views (of a (K, M), of b (N, K)),
/// and whether a timed run adds a bias and ReLU.
struct Sizes {
    std::int64_t M, N, K;
    bool a_transposed = false, b_transposed = false, bias_and_relu = false;
};
[[nodiscard]] std::string to_string(const Sizes& s);

/// The inputs of all products: pseudo-random multiples of 1/256 from -1 to 1. A product of two is a
/// multiple of 2^-16, and with the seeds and sizes here sums stay below 2^8. So they are exact in
/// any order, and every run must give the same bits.
[[nodiscard]] float noise(std::uint64_t seed, std::int64_t i);

/// An operand of (rows, columns), or the transposed view of one of (columns, rows).
[[nodiscard]] inline Layout operand(std::int64_t rows, std::int64_t columns, bool transposed) {
    return transposed ? transpose(row_major({columns, rows})) : row_major({rows, columns});
}

struct MatmulStep {
    int number;
    MatmulPath path;
    std::string name() const { return std::to_string(number) + " " + day05_matmul::name(path); }
};
[[nodiscard]] std::vector<MatmulStep> ladder();

class SmallProduct {
public:
    explicit SmallProduct(const Sizes& s)
        : a_(operand(s.M, s.K, s.a_transposed), [](std::int64_t i) { return noise(1, i); }),
          b_(operand(s.K, s.N, s.b_transposed), [](std::int64_t i) { return noise(99, i); }),
          out_(row_major({s.M, s.N})) {
        matmul_cpu(a_.host(), b_.host(), out_.host());
    }

    /// Runs f(a, b, out) on the device; it must give the bits of the CPU
    /// reference.
    template <class F>
    [[nodiscard]] lesson::Trial trial(const F& f) {
        const View<const float> a = a_.device(), b = b_.device();
        return {[=, out = out_.device()](int) { f(a, b, out); }, {out_.outcome()}};
    }

    /// Does the device's output equal the CPU reference bit for bit?
    [[nodiscard]] bool same() const { return out_.same(); }

private:
    lesson::Both<float> a_, b_, out_;
};

/// The path that a product of these sizes takes. @param workspace  is there the workspace that it
/// needs?
[[nodiscard]] std::string chosen_for(const Sizes& s, bool workspace = false);

}  // namespace sixdays::day05_matmul
