/// @file
/// Inputs that expose a wrong index: every element has a different value.
#pragma once

#include <cstdint>

#include "common/testing/element.hpp"

namespace sixdays::testing {

namespace detail {

/// One more than the largest value that distinct() uses for a type, so that every value is exact: a
/// prime p with (p - 1) / 2 prime too, so that almost no row length divides the period p - 1.
template <class T>
constexpr std::int64_t distinct_modulus() {
    if (std::is_same_v<T, bf16>) return 227;        // integers are exact up to 256
    if (std::is_same_v<T, f16>) return 2039;        // up to 2,048
    if (std::is_same_v<T, float>) return 16776899;  // up to 16,777,216
    if (sizeof(T) == 1) return std::is_signed_v<T> ? 107 : 227;
    if (sizeof(T) == 2) return std::is_signed_v<T> ? 32603 : 65267;
    return 2147483579;
}

void check_factor(std::int64_t factor, std::int64_t modulus);

/// Number `k` of the random stream `seed`, 53 bits as a double in [0, 1). Computed from k alone
/// (splitmix64), so elements can be computed in any order.
double uniform(std::uint64_t seed, std::int64_t k);
std::uint64_t random_bits(std::uint64_t seed, std::int64_t k);

}  // namespace detail

/// Element number k (row-major) holds factor * (k + 1): 1, 2, 3, ... or, with factor 7, 7, 14, 21,
/// ... Two inputs with different factors differ in every element, so that swapped operands show.
///
/// Values that would no longer be exact in T wrap around: factor * (k mod (p - 1) + 1) mod p with
/// the prime p of the type, 16,776,899 for float. Elements p - 1 = 16,776,898 apart then have the
/// same value, and closer ones never do.
/// @throws std::invalid_argument  factor not in 1 .. p - 1
template <class T>
[[nodiscard]] Tensor<T> distinct(const Shape& shape, std::int64_t factor = 1) {
    constexpr std::int64_t p = detail::distinct_modulus<T>();
    detail::check_factor(factor, p);
    Tensor<T> tensor(shape);
    std::int64_t value = 0;
    for (std::int64_t k = 0; k < tensor.size(); ++k) {
        value = (k % (p - 1) == 0 ? 0 : value) + factor;
        if (value >= p) value -= p;
        if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
            tensor.data()[k] = static_cast<T>(value);
        } else {
            tensor.data()[k] = static_cast<T>(static_cast<float>(value));  // bf16, f16
        }
    }
    return tensor;
}

/// Random floats, low <= x <= high, the same on every machine and with every compiler: the standard
/// library's distributions are not.
template <class T>
[[nodiscard]] Tensor<T> seeded(const Shape& shape, std::uint64_t seed, double low, double high) {
    Tensor<T> tensor(shape);
    for (std::int64_t k = 0; k < tensor.size(); ++k) {
        const double x = low + (high - low) * detail::uniform(seed, k);
        if constexpr (std::is_floating_point_v<T>) {
            tensor.data()[k] = static_cast<T>(x);
        } else {
            tensor.data()[k] = static_cast<T>(static_cast<float>(x));
        }
    }
    return tensor;
}

/// Random integers, low <= x <= high, as T: their sums are exact in float while they are below
/// 2^24, so every order of summation must give the same bits.
template <class T>
[[nodiscard]] Tensor<T> seeded_integers(const Shape& shape, std::uint64_t seed, std::int64_t low,
                                        std::int64_t high) {
    Tensor<T> tensor(shape);
    const auto count = static_cast<std::uint64_t>(high - low + 1);
    for (std::int64_t k = 0; k < tensor.size(); ++k) {
        const auto x = low + static_cast<std::int64_t>(detail::random_bits(seed, k) % count);
        if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
            tensor.data()[k] = static_cast<T>(x);
        } else {
            tensor.data()[k] = static_cast<T>(static_cast<float>(x));
        }
    }
    return tensor;
}

}  // namespace sixdays::testing
