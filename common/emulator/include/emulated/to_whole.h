/// @file
/// A floating-point number as a whole one.
#pragma once

#include <cstdint>
#include <limits>

namespace sixdays::emulator {

/// The bits of what a GPU makes of a number that the integer type cannot hold: its nearest one; of
/// NaN 0 or, of 64 bits on either side, the highest bit alone (PTX ISA, cvt).
/// @param wide  64 bits on either side?
constexpr std::uint64_t beyond_range(double x, unsigned bits, bool is_signed, bool wide) {
    const std::uint64_t top = std::uint64_t{1} << (bits - 1), all = top | (top - 1);
    if (x != x) return wide ? top : 0;
    if (x < 0) return is_signed ? top : 0;
    return is_signed ? top - 1 : all;
}

/// As a GPU converts it. @param whole  rounded already
template <class To, class From>
[[gnu::always_inline]] inline To to_whole(From whole) {
    using Limits = std::numeric_limits<To>;
    const auto x = static_cast<double>(whole);
    if (x >= static_cast<double>(Limits::min()) && x < static_cast<double>(Limits::max())) {
        return static_cast<To>(whole);
    }
    return static_cast<To>(beyond_range(x, 8 * sizeof(To), Limits::is_signed,
                                        sizeof(To) == 8 || sizeof(From) == 8));
}

}  // namespace sixdays::emulator
