/// @file
/// Division by an invariant integer, by multiplication and shift. A GPU has no instruction for
/// integer division; it takes dozens of others, and for 64 bits several times as many as for 32.
/// unravel() divides once per dimension, always by the same extents. So the host prepares each
/// extent once, and the kernel multiplies and shifts.
///
/// The idea is that of a decimal fraction. To divide by 7, multiply by 0.142857...; with whole
/// numbers, multiply by 2^k / 7, rounded up, and drop the last k bits:
///
///     n / 7  =  (n * 2454267027) >> 34        2^34 / 7 = 2454267026.29, rounded up
///
/// The result is exact. Let m = 2^k / d rounded up, so m * d = 2^k + e with 0 <= e < d. Then
///
///     n * m / 2^k  =  n / d  +  (n * e / 2^k) / d
///
/// and the second term changes nothing while n * e < 2^k: n / d, written as a fraction, is at least
/// 1 / d below the next whole number. With n < 2^31, e < d <= 2^l and k = 31 + l that holds for
/// every n and d, and m still fits in 32 bits. (Granlund and Montgomery, "Division by Invariant
/// Integers using Multiplication", 1994.)
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "common/tensor/host_device.hpp"
#include "common/tensor/sentence.hpp"

namespace sixdays {

/// A divisor d, 1 <= d < 2^31, prepared on the host for numerators 0 <= n < 2^31: a multiplication
/// and a shift replace the division, and the result is exact. Plain numbers, passed to a kernel by
/// value. The method is that of Granlund and Montgomery, [Division by Invariant Integers using
/// Multiplication](https://gmplib.org/~tege/divcnst-pldi94.pdf), 1994; fast_division.hpp has the
/// proof.
struct FastDivisor {
    std::uint32_t divisor = 1;                          ///< d, the extent that is divided by
    std::uint32_t multiplier = std::uint32_t{1} << 31;  ///< m: 2^k / d, rounded up
    std::uint32_t shift = 31;                           ///< k: 31 + ceil(log2(d))

    /// Divides by 1.
    FastDivisor() = default;

    /// Prepares the division by d.
    /// @throws std::invalid_argument  d not in 1 .. 2^31 - 1
    explicit FastDivisor(std::int64_t d) {
        if (d < 1 || d > INT32_MAX) {
            reject("a FastDivisor of ", d, " was asked for, but it must lie in 1 .. 2^31 - 1");
        }
        std::uint32_t l = 0;
        while (std::int64_t{1} << l < d) ++l;
        divisor = static_cast<std::uint32_t>(d);
        shift = 31 + l;
        const std::uint64_t two_to_k = std::uint64_t{1} << shift;
        multiplier = static_cast<std::uint32_t>((two_to_k + divisor - 1) / divisor);
    }

    /// n / divisor, rounded down. Unchecked: n < 2^31.
    SIXDAYS_HD std::uint32_t quotient(std::uint32_t n) const noexcept {
        return static_cast<std::uint32_t>((std::uint64_t{n} * multiplier) >> shift);
    }

    /// n - quotient(n) * divisor: n modulo the divisor. Where the quotient is at hand, compute it
    /// this way. Unchecked: n < 2^31.
    SIXDAYS_HD std::uint32_t remainder(std::uint32_t n) const noexcept {
        return n - quotient(n) * divisor;
    }
};

}  // namespace sixdays
