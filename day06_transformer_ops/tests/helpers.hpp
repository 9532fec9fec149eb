/// @file
/// Helpers for Day 06's test files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/packings.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/operation/operation.hpp"
#include "common/testing/testing.hpp"

namespace sixdays::day06_transformer_ops {

using testing::DeviceIn, testing::DeviceOut, testing::Expected, testing::HostIn, testing::HostOut,
    testing::Lead;

inline std::string last_kernel() {
    return gpu::last_kernel();
}

/// Half a unit in the last place of 1: the relative error of one rounding to float.
inline constexpr double kU = 0x1p-24;

/// The error of storing y as T, including subnormals.
template <class T>
double storing(double y) {
    return std::is_same_v<T, float> ? 1e-44 : std::fabs(y) * 0x1.02p-8 + 1e-40;
}

template <class Out>
testing::Comparison agrees(const Out& got, const Expected& want) {
    return got.close_to(
        want.value, [&](const Index& i) { return want.error.view()(i); },
        testing::Nans::where_expected);
}

/// The noise of golden.py: multiples of 1/8, exact in bf16 too.
template <class T>
Tensor<T> noise(const Shape& shape) {
    Tensor<T> x(shape);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        x.data()[i] = T(static_cast<float>((i * 37 + 11) % 101) / 8 - 6);
    }
    return x;
}

/// Multiples of 1/4 from -1.5 on, in scrambled order.
inline Tensor<float> few_values_of(const Shape& shape, std::int64_t factor, std::int64_t period) {
    Tensor<float> x(shape);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<float>(i * factor % period) / 4 - 1.5f;
    }
    return x;
}

/// The elements of the row of `x` along `dim` that contains index `at`.
template <class T>
std::vector<double> row_at(const Tensor<T>& x, int dim, Index at) {
    std::vector<double> row;
    for (at[dim] = 0; at[dim] < x.shape()[dim]; ++at[dim]) {
        row.push_back(static_cast<double>(static_cast<float>(x.view()(at))));
    }
    return row;
}

template <class T>
Tensor<T> tensor_of(const std::vector<double>& values) {
    Tensor<T> x(Shape{static_cast<std::int64_t>(values.size())});
    for (std::size_t i = 0; i < values.size(); ++i) x.data()[i] = T(static_cast<float>(values[i]));
    return x;
}

}  // namespace sixdays::day06_transformer_ops
