/// @file
/// Like near.hpp, for operands rounded to bf16 and sums on tensor cores.
#pragma once

#include "common/tensor/half.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

namespace sixdays::day06_transformer_ops {

/// The same numbers in another type, row-major.
template <class To, class From>
Tensor<To> converted(const View<From>& x) {
    Tensor<To> made(x.shape());
    for (std::int64_t i = 0; i < made.size(); ++i) {
        made.data()[i] = To(float(x(unravel(i, x.shape()))));
    }
    return made;
}

/// Rounded to nearest: the error is at most half a unit in the last place, 2^-8 relative. Which of
/// two neighbours it becomes may depend on the error before.
inline Near to_bf16(const Near& x) {
    return {x.value, x.off + 0x1.01p-8 * (std::fabs(x.value) + x.off)};
}
/// The nearest number with this many significant bits.
inline double of_bits(double x, int bits) {
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    return std::ldexp(std::round(std::ldexp(fraction, bits)), exponent - bits);
}

/// A product of two bf16, exact in float.
inline Near times(const Near& x, double factor) {
    return {x.value * factor, x.off * std::fabs(factor)};
}

/// The bound of matmul_bf16.hpp: (9 ceil(K / 8) + 4) 2^-23 of the sum of magnitudes.
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

}  // namespace sixdays::day06_transformer_ops
