/// @file
/// Numerical gradients, without any formula of a gradient: each number is changed slightly in both
/// directions, and the change of a function is measured. In double, so that the remaining error is
/// 1e-9.
#pragma once

#include <functional>

#include "day06_transformer_ops/tests/helpers.hpp"

namespace sixdays::day06_transformer_ops {

template <class From>
Tensor<double> in_double(const Tensor<From>& x) {
    Tensor<double> wide(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) wide.data()[i] = static_cast<double>(x.data()[i]);
    return wide;
}

/// The derivative of `f`, which reads x, by each element of x: central differences.
inline Tensor<double> slopes(Tensor<double>& x, const std::function<double()>& f) {
    Tensor<double> slope(x.shape());
    constexpr double kStep = 1e-5;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const double there = x.data()[i];
        x.data()[i] = there + kStep;
        const double above = f();
        x.data()[i] = there - kStep;
        slope.data()[i] = (above - f()) / (2 * kStep);
        x.data()[i] = there;
    }
    return slope;
}

/// Error bound of a float gradient: some units of 2^-24 of the largest element, since an element is
/// a sum of terms of that size; and the error of central differences.
inline double bound_of(const Tensor<double>& want, double units = 64) {
    double largest = 0;
    for (std::int64_t i = 0; i < want.size(); ++i) {
        if (std::isfinite(want.data()[i])) largest = std::max(largest, std::fabs(want.data()[i]));
    }
    return units * kU * largest + 2e-8;
}

/// The same, derived: each element is a sum, and each of its terms takes part in at most this
/// many roundings, in any order of summation.
/// @param sizes  per element: the sum of the magnitudes of its terms
inline testing::Bound rounded(const Tensor<double>& sizes, std::int64_t roundings) {
    return [sizes, roundings](const Index& at) {
        return static_cast<double>(roundings + 1) * kU * sizes(at) + 2e-8;  // 1: of kU squared
    };
}

/// The previous values to which a gradient is added (+=).
inline Tensor<float> there_before(const Shape& shape) {
    return few_values_of(shape, 5, 13);
}

inline gpu::Buffer<std::byte> room_of(std::int64_t bytes) {
    gpu::Buffer<std::byte> memory(std::max<std::int64_t>(bytes, 1));
    memory.fill_bytes(0);
    return memory;
}

}  // namespace sixdays::day06_transformer_ops
