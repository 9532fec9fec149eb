/// @file
/// A floating-point number as a whole one.
#pragma once

#include <cstdint>
#include <limits>

namespace sixdays::emulator {

/// As a GPU converts it: beyond the type's range its nearest number; NaN is 0, or of 64 bits on
/// either side only the highest bit (PTX ISA, cvt).
/// @param whole  rounded already
template <class To, class From>
[[gnu::always_inline]] inline To to_whole(From whole) {
    using Limits = std::numeric_limits<To>;
    const auto x = static_cast<double>(whole);
    if (x != x) {
        const bool wide = sizeof(To) == 8 || sizeof(From) == 8;
        return wide ? static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1)) : To{0};
    }
    if (x <= static_cast<double>(Limits::min())) return Limits::min();
    if (x >= static_cast<double>(Limits::max())) return Limits::max();
    return static_cast<To>(whole);
}

}  // namespace sixdays::emulator
