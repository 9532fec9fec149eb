/// @file
/// Floating-point to integer conversion.
#pragma once

#include <cstdint>
#include <limits>

namespace sixdays::emulator {

/// A GPU's result for a number outside the integer type's range: the nearest integer of the type.
/// For NaN it is 0 or, if either type has 64 bits, only the highest bit set (PTX ISA, cvt).
/// @param wide  either type has 64 bits
constexpr std::uint64_t beyond_range(double x, unsigned bits, bool is_signed, bool wide) {
    const std::uint64_t top = std::uint64_t{1} << (bits - 1), all = top | (top - 1);
    if (x != x) return wide ? top : 0;
    if (x < 0) return is_signed ? top : 0;
    return is_signed ? top - 1 : all;
}

/// Converts like a GPU. @param whole  already rounded to an integer
template <class To, class From>
[[gnu::always_inline]] inline To to_whole(From whole) {
    using Limits = std::numeric_limits<To>;
    const auto x = static_cast<double>(whole);
    if (x >= static_cast<double>(Limits::min()) && x < static_cast<double>(Limits::max())) {
        return static_cast<To>(whole);
    }
    return static_cast<To>(
        beyond_range(x, 8 * sizeof(To), Limits::is_signed, sizeof(To) == 8 || sizeof(From) == 8));
}

}  // namespace sixdays::emulator
