/// @file
/// Derived error bounds: a formula is evaluated again in double, and each number carries the error
/// bound of the same computation in float. So no tolerance is chosen by hand. (Running error
/// analysis: Higham, Accuracy and Stability of Numerical Algorithms, 3.3.)
#pragma once

#include <algorithm>

#include "common/testing/operation/operation.hpp"
#include "day06_transformer_ops/training/tests/slopes.hpp"

namespace sixdays::day06_transformer_ops {

/// Numbers from -2 to 2, deterministic for a seed.
inline Tensor<float> random(const Shape& shape, std::uint64_t seed) {
    return testing::seeded<float>(shape, seed, -2, 2);
}

/// A number, and the error bound of its float approximation.
struct Near {
    double value = 0, off = 0;
};

inline constexpr double kRounding = kU * 1.001;  // with room for products of errors

/// A result with the error from its operands, and its own roundings.
inline Near result(double value, double off, double roundings = 1) {
    return {value, off + roundings * kRounding * std::fabs(value)};
}
inline Near constant(double value) {  // written as a float
    return result(value, 0);
}
inline Near operator+(const Near& a, const Near& b) {
    return result(a.value + b.value, a.off + b.off);
}
inline Near operator-(const Near& a, const Near& b) {
    return result(a.value - b.value, a.off + b.off);
}
inline Near operator*(const Near& a, const Near& b) {
    return result(a.value * b.value,
                  std::fabs(a.value) * b.off + std::fabs(b.value) * a.off + a.off * b.off);
}
inline Near operator/(const Near& a, const Near& b) {
    const double value = a.value / b.value;
    return result(value, (a.off + std::fabs(value) * b.off) / (std::fabs(b.value) - b.off));
}
inline Near root(const Near& a) {
    const double value = std::sqrt(a.value);
    return result(value, a.off / value);
}
/// exp and erfc of a library: 2 and 4 units in the last place. exp is clamped at 80, beyond which
/// all results here are negligible, or 1.
inline Near exp_of(const Near& a) {
    const double value = std::exp(std::min(a.value, 80.0));
    return result(value, value * std::expm1(a.off), 4);
}
inline Near log_of(const Near& a) {
    return result(std::log(a.value), a.off / a.value, 2);
}
inline Near erfc_of(const Near& a) {
    const double slope = 2 / std::sqrt(M_PI) * std::exp(-a.value * a.value);
    return result(std::erfc(a.value), slope * a.off, 8);
}
/// In any order: each term takes part in at most one addition per other term.
inline Near total(const std::vector<Near>& terms) {
    Near sum;
    double sizes = 0;
    for (const Near& term : terms) {
        sum.value += term.value, sum.off += term.off;
        sizes += std::fabs(term.value) + term.off;
    }
    sum.off += kRounding * sizes * static_cast<double>(terms.size());
    return sum;
}

/// Bounds of a tensor's elements. The error of central differences is added.
inline testing::Bound bound_of(const Tensor<Near>& all) {
    return [all](const Index& at) { return std::isfinite(all(at).off) ? all(at).off + 2e-8 : 0; };
}

/// The same for an output of T in a description's `exact`.
template <class T = float>
testing::Expected expected(const Tensor<Near>& all) {
    testing::Expected want(all.shape());
    for (std::int64_t k = 0; k < all.size(); ++k) {
        const Near& near = all.data()[k];
        want.value.data()[k] = near.value;
        if (std::isfinite(near.off)) {
            want.error.data()[k] = near.off + storing<T>(std::fabs(near.value) + near.off);
        }
    }
    return want;
}

}  // namespace sixdays::day06_transformer_ops
