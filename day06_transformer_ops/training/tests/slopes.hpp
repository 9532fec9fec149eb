/// @file
/// A gradient found without any formula of a gradient: by moving each number a little, both ways,
/// and looking at how much a function changes. In double, so that what is left of the error is
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

/// What golden_operations.py wrote down.
inline Tensor<float> floats(const Shape& shape, const std::vector<double>& values) {
    Tensor<float> x(shape);
    REQUIRE(x.size() == static_cast<std::int64_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) x.data()[i] = static_cast<float>(values[i]);
    return x;
}
inline Tensor<double> doubles(const Shape& shape, const std::vector<double>& values) {
    return Tensor<double>(shape, values);
}

/// How `f`, which reads x, changes with each element of x: central differences.
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

/// What a float gradient may be off: some units of 2^-24 of the largest element, for an element is
/// a sum of terms of that size; and what the differences are off.
inline double bound_of(const Tensor<double>& want, double units = 64) {
    double largest = 0;
    for (std::int64_t i = 0; i < want.size(); ++i) {
        if (std::isfinite(want.data()[i])) largest = std::max(largest, std::fabs(want.data()[i]));
    }
    return units * kU * largest + 2e-8;
}

/// The same where it can be derived: each element is a sum, and each of its terms goes through so
/// many roundings at most, in whatever order they are added up.
/// @param sizes  of each element: what its terms add up to without their signs
inline testing::Bound rounded(const Tensor<double>& sizes, std::int64_t roundings) {
    return [sizes, roundings](const Index& at) {
        return static_cast<double>(roundings + 1) * kU * sizes(at) + 2e-8;  // 1: of kU squared
    };
}

/// What a gradient that is added (+=) finds there.
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

/// The layouts that a tensor of this shape is tried in.
inline std::vector<Layout> some_layouts(const Shape& shape) {
    Layout pitched = row_major(shape);  // two elements of room behind each row, rows backwards
    for (int d = 0; d + 1 < shape.rank; ++d) {
        pitched.stride(d) = -pitched.stride(d) / std::max<std::int64_t>(shape[shape.rank - 1], 1) *
                            (shape[shape.rank - 1] + 2);
    }
    return {row_major(shape), column_major(shape), pitched};
}

/// Of all paths those that do not reject what check(path) asks about; the chooser's own is one.
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
