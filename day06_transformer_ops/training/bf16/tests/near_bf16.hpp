/// @file
/// near.hpp's numbers, where some are rounded to bf16 and tensor cores add up.
#pragma once

#include "common/tensor/half.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

namespace sixdays::day06_transformer_ops {

inline double exactly(bf16 x) {
    return double{float(x)};
}

/// Rounded: the nearest is half of the last place away, 2^-8 of itself at most. Which of two
/// neighbours it becomes may hang on what it was off.
inline Near to_bf16(const Near& x) {
    return {x.value, x.off + 0x1.01p-8 * (std::fabs(x.value) + x.off)};
}
/// The nearest number of so many bits.
inline double of_bits(double x, int bits) {
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    return std::ldexp(std::round(std::ldexp(fraction, bits)), exponent - bits);
}

/// A product of two bf16, which a float holds.
inline Near times(const Near& x, double factor) {
    return {x.value * factor, x.off * std::fabs(factor)};
}

/// As matmul_bf16.hpp says: (9 ceil(K / 8) + 4) 2^-23 of what is added up.
inline Near total_by_tensor_cores(const std::vector<Near>& terms) {
    Near sum;
    double sizes = 0;
    for (const Near& term : terms) {
        sum.value += term.value, sum.off += term.off;
        sizes += std::fabs(term.value) + term.off;
    }
    const double steps = std::ceil(static_cast<double>(terms.size()) / 8);
    sum.off += (9 * steps + 4) * 2 * kRounding * sizes;
    return sum;
}

/// x begins where another operand does.
template <class X, class Other>
void laid_over(X& x, const Other& other) {
    const void* const there = other.data;
    x.data = static_cast<decltype(x.data)>(const_cast<void*>(there));
}

inline Tensor<double> values_of(const Tensor<Near>& all) {
    Tensor<double> values(all.shape());
    for (std::int64_t i = 0; i < all.size(); ++i) values.data()[i] = all.data()[i].value;
    return values;
}

}  // namespace sixdays::day06_transformer_ops
