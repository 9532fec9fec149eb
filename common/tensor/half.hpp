/// @file
/// Two 16-bit floating-point storage types. Arithmetic is done in float: load, convert, compute,
/// convert, store. Half the bytes means half the time for a memory-bound operation.
///
///             sign  exponent  fraction   largest   smallest above 0   integers exact up to
///     float    1       8         23      3.4e38       1.4e-45             16,777,216
///     bf16     1       8          7      3.4e38       9.2e-41                    256
///     f16      1       5         10       65504       6.0e-8                   2,048
///
/// A float between two of them rounds to the nearer one; halfway, to the one whose last bit is 0
/// ("round to nearest even", like the GPU's conversion instructions).
#pragma once

#include <cstdint>
#include <cstring>

#include "common/tensor/host_device.hpp"

namespace sixdays {

namespace detail {
// The same 32 bits as another type. To nvcc std::bit_cast is a host function. memcpy works on host
// and device, and compiles to no instruction.
SIXDAYS_HD inline std::uint32_t bits_of(float x) noexcept {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
SIXDAYS_HD inline float float_of(std::uint32_t bits) noexcept {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
}  // namespace detail

/// bfloat16: the upper half of a float. Same range, 8 significant bits. Bit for bit a CUDA
/// `__nv_bfloat16`.
struct bf16 {
    /// Sign, 8 exponent bits and 7 fraction bits, from the highest bit down.
    std::uint16_t bits;

    /// Uninitialized.
    bf16() = default;

    /// The nearest bf16; halfway between two, the one whose last bit is 0 (roundTiesToEven, IEEE
    /// 754-2019, section 4.3.1); from (2 - 2^-8) 2^127 on, infinity. The sum of bits that rounds is
    /// that of Eigen's float_to_bfloat16_rtne(). A NaN stays a NaN with the same sign.
    SIXDAYS_HD explicit bf16(float x) noexcept : bits(rounded(detail::bits_of(x))) {}

    /// The same value as a float; exact.
    SIXDAYS_HD explicit operator float() const noexcept {
        return detail::float_of(std::uint32_t{bits} << 16);
    }

    /// The bf16 with these bits; nothing is rounded.
    SIXDAYS_HD static bf16 from_bits(std::uint16_t bits) noexcept {
        bf16 x;
        x.bits = bits;
        return x;
    }

private:
    SIXDAYS_HD static std::uint16_t rounded(std::uint32_t x) noexcept {
        if ((x & 0x7FFFFFFF) > 0x7F800000) {  // NaN: keep the upper payload, but not 0
            const std::uint32_t cut = x >> 16;
            return static_cast<std::uint16_t>((cut & 0x7F) != 0 ? cut : cut | 0x40);
        }
        // Just under half of a last place, and the rest of the half only if that place is odd. A
        // carry propagates into the exponent, which correctly rounds up to the next power of 2.
        return static_cast<std::uint16_t>((x + 0x7FFF + ((x >> 16) & 1)) >> 16);
    }
};

/// IEEE binary16: 11 significant bits, but nothing above 65504. Bit for bit a CUDA `__half`.
struct f16 {
    /// Sign, 5 exponent bits and 10 fraction bits, from the highest bit down.
    std::uint16_t bits;

    /// Uninitialized.
    f16() = default;

    /// The nearest f16; halfway between two, the one whose last bit is 0 (roundTiesToEven, IEEE
    /// 754-2019, section 4.3.1); from 65520 on, infinity; below 2^-14, a multiple of 2^-24
    /// (subnormal). A NaN stays a NaN with the same sign.
    SIXDAYS_HD explicit f16(float x) noexcept : bits(rounded(detail::bits_of(x))) {}

    /// The same value as a float; exact.
    SIXDAYS_HD explicit operator float() const noexcept {
        const std::uint32_t sign = (std::uint32_t{bits} & 0x8000) << 16;
        const std::uint32_t magnitude = bits & 0x7FFF;
        std::uint32_t x;
        if (magnitude >= 0x7C00) {  // infinity or NaN: all exponent bits stay set
            x = 0x7F800000 | (magnitude << 13);
        } else if (magnitude >= 0x0400) {  // the exponent counts from -15 here, from -127 in float
            x = (magnitude << 13) + kExponentShift;
        } else {  // subnormal or 0: a multiple of 2^-24
            x = detail::bits_of(static_cast<float>(magnitude) * 0x1p-24f);
        }
        return detail::float_of(sign | x);
    }

    /// The f16 with these bits; nothing is rounded.
    SIXDAYS_HD static f16 from_bits(std::uint16_t bits) noexcept {
        f16 x;
        x.bits = bits;
        return x;
    }

private:
    static constexpr std::uint32_t kExponentShift = (127 - 15) << 23;

    SIXDAYS_HD static std::uint16_t rounded(std::uint32_t x) noexcept {
        const std::uint32_t sign = (x >> 16) & 0x8000;
        const std::uint32_t magnitude = x & 0x7FFFFFFF;
        std::uint32_t h;
        if (magnitude > 0x7F800000) {  // NaN: as in bf16
            const std::uint32_t payload = (magnitude >> 13) & 0x3FF;
            h = 0x7C00 | (payload != 0 ? payload : 0x200);
        } else if (magnitude >= 0x477FF000) {  // 65520: halfway from 65504 to 65536, and above
            h = 0x7C00;
        } else if (magnitude >= 0x38800000) {  // 2^-14
            h = (magnitude - kExponentShift + 0xFFF + ((magnitude >> 13) & 1)) >> 13;
        } else {
            // Floats from 0.5 to 1 are 2^-24 apart, so adding 0.5 rounds to a multiple of 2^-24,
            // and the difference in bits counts how many.
            h = detail::bits_of(detail::float_of(magnitude) + 0.5f) - detail::bits_of(0.5f);
        }
        return static_cast<std::uint16_t>(sign | h);
    }
};

}  // namespace sixdays
