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

/// Values written by golden_operations.py.
inline Tensor<float> floats(const Shape& shape, const std::vector<double>& values) {
    Tensor<float> x(shape);
    REQUIRE(x.size() == static_cast<std::int64_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) x.data()[i] = static_cast<float>(values[i]);
    return x;
}
inline Tensor<double> doubles(const Shape& shape, const std::vector<double>& values) {
    return Tensor<double>(shape, values);
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
inline Tensor<double> sum_of(const Tensor<float>& before, const Tensor<double>& added) {
    Tensor<double> sum(added.shape());
    for (std::int64_t i = 0; i < sum.size(); ++i) {
        sum.data()[i] = static_cast<double>(before.data()[i]) + added.data()[i];
    }
    return sum;
}

/// Layouts to test for a tensor of this shape.
inline std::vector<Layout> some_layouts(const Shape& shape) {
    Layout pitched = row_major(shape);  // two elements of padding after each row, rows backwards
    for (int d = 0; d + 1 < shape.rank; ++d) {
        pitched.stride(d) = -pitched.stride(d) / std::max<std::int64_t>(shape[shape.rank - 1], 1) *
                            (shape[shape.rank - 1] + 2);
    }
    return {row_major(shape), column_major(shape), pitched};
}

/// The paths for which check(path) does not throw; they must include the chosen one.
template <class Path, class Check>
std::vector<Path> taken(const std::vector<Path>& all, Path chosen, const Check& check) {
    std::vector<Path> some;
    for (const Path path : all) {
        bool rejected = false;
        try {
            check(path);
        } catch (const std::invalid_argument&) {
            rejected = true;
        }
        CHECK(!(rejected && path == chosen));
        if (!rejected) some.push_back(path);
    }
    return some;
}

inline gpu::Buffer<std::byte> room_of(std::int64_t bytes) {
    gpu::Buffer<std::byte> memory(std::max<std::int64_t>(bytes, 1));
    memory.fill_bytes(0);
    return memory;
}

}  // namespace sixdays::day06_transformer_ops
