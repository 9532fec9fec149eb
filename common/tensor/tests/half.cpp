// bf16 and f16 against NumPy, against a search for the nearest value, and bit by bit.
#include <cmath>
#include <limits>
#include <type_traits>

#include "common/tensor/half.hpp"
#include "common/tensor/packings.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using sixdays::packings::Cases;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct GoldenHalf {
    float value;
    std::uint16_t bits;
};
#include "common/tensor/tests/golden_half.inc"

std::uint32_t bits_of(float x) {
    return detail::bits_of(x);
}

float float_of(std::uint32_t bits) {
    return detail::float_of(bits);
}

// golden_half.py's checksum.
struct Checksum {
    std::uint64_t k = 0, sum = 0;
    void add(std::uint64_t bits) { sum += ++k * bits; }
};

// The value of a pattern, by definition: sign, then 1.fraction times a power of two, or 0.fraction
// times the smallest one.
double value_of(std::uint16_t bits, int exponent_bits, int fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) {
        return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    }
    const int whole = exponent > 0 ? 1 << fraction_bits : 0;
    return sign * std::ldexp(whole + fraction, std::max(exponent, 1) - bias - fraction_bits);
}

// The pattern nearest to a finite x >= 0, ties to even, by bisection: the patterns of nonnegative
// numbers sort like their values. Infinity counts as the next power of two.
std::uint16_t nearest(double x, int exponent_bits, int fraction_bits) {
    const auto value = [&](int pattern) {
        const double v =
            value_of(static_cast<std::uint16_t>(pattern), exponent_bits, fraction_bits);
        return std::isinf(v) ? std::ldexp(1.0, 1 << (exponent_bits - 1)) : v;
    };
    int low = 0, high = ((1 << exponent_bits) - 1) << fraction_bits;  // 0 and infinity
    if (x >= value(high)) return static_cast<std::uint16_t>(high);
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (value(middle) <= x ? low : high) = middle;
    }
    const double below = x - value(low), above = value(high) - x;
    const bool up = above < below || (above == below && (high & 1) == 0);
    return static_cast<std::uint16_t>(up ? high : low);
}

// Every `step`-th nonnegative finite float, starting with the bits `start`: each exponent is hit
// many times.
template <class F>
void for_each_float(std::uint32_t start, std::uint32_t step, const F& f) {
    for (std::uint64_t bits = start; bits < 0x7F800000; bits += step) {
        f(float_of(static_cast<std::uint32_t>(bits)));
    }
}

template <class H>
std::uint16_t round(float x) {
    return H(x).bits;
}

template <class H>
void check_every_pattern(int exponent_bits, int fraction_bits) {
    Cases cases;
    for (std::uint32_t p = 0; p < 65536; ++p) {
        const auto pattern = static_cast<std::uint16_t>(p);
        const auto name = [&] { return "pattern " + std::to_string(p); };
        const float x = static_cast<float>(H::from_bits(pattern));
        cases.expect(H(x).bits == pattern, name);
        const double want = value_of(pattern, exponent_bits, fraction_bits);
        cases.expect(
            std::isnan(want) ? std::isnan(x) : x == want && std::signbit(x) == std::signbit(want),
            name);
    }
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 2 * 65536);
}

// The midpoint of two adjacent values rounds to the even one, and the floats on either side of it
// round to the nearer one.
template <class H>
void check_ties(std::uint32_t infinity) {
    Cases cases;
    for (std::uint32_t p = 0; p + 1 < infinity; ++p) {
        const auto name = [&] { return "pattern " + std::to_string(p); };
        const auto low = static_cast<std::uint16_t>(p), high = static_cast<std::uint16_t>(p + 1);
        const double a = static_cast<float>(H::from_bits(low));
        const double b = static_cast<float>(H::from_bits(high));
        const auto middle = static_cast<float>((a + b) / 2);
        if (static_cast<double>(middle) != (a + b) / 2) continue;  // not a float
        cases.expect(round<H>(middle) == (p % 2 == 0 ? low : high), name);
        cases.expect(round<H>(-middle) == ((p % 2 == 0 ? low : high) | 0x8000), name);
        cases.expect(round<H>(std::nextafter(middle, kInfinity)) == high, name);
        cases.expect(round<H>(std::nextafter(middle, -kInfinity)) == low, name);
    }
    CHECK(cases.failure() == "");
    CHECK(cases.count() > 4 * (infinity - 200));
}

template <class H>
void check_nearest(int exponent_bits, int fraction_bits, std::uint32_t step) {
    Cases cases;
    for_each_float(0, step, [&](float x) {
        const std::uint16_t want = nearest(x, exponent_bits, fraction_bits);
        const auto name = [&] { return "float of bits " + std::to_string(bits_of(x)); };
        cases.expect(round<H>(x) == want, name);
        cases.expect(round<H>(-x) == (want | 0x8000), name);
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 2 * (0x7F800000 / step + 1));
}

template <class H>
void check_specials(std::uint16_t infinity) {
    CHECK(round<H>(kInfinity) == infinity);
    CHECK(round<H>(-kInfinity) == (infinity | 0x8000));
    CHECK(round<H>(std::numeric_limits<float>::max()) == infinity);
    CHECK(round<H>(std::numeric_limits<float>::denorm_min()) == 0);
    CHECK(round<H>(-std::numeric_limits<float>::denorm_min()) == 0x8000);
    // A NaN never becomes a number or an infinity, whichever of its bits are set.
    Cases cases;
    for (std::uint64_t bits = 0x7F800001; bits < 0x80000000; bits += bits < 0x7F820000 ? 1 : 511) {
        for (const std::uint32_t sign : {0u, 0x80000000u}) {
            const float x = float_of(static_cast<std::uint32_t>(bits) | sign);
            const std::uint16_t half = round<H>(x);
            cases.expect((half & 0x7FFF) > infinity && (half & 0x8000) == (sign >> 16),
                         [&] { return "NaN of bits " + std::to_string(bits); });
        }
    }
    CHECK(cases.failure() == "");
    CHECK(cases.count() > 200000);
    CHECK(std::is_trivially_copyable_v<H>);
    CHECK(std::is_trivially_default_constructible_v<H>);
    CHECK(sizeof(H) == 2);
    CHECK(alignof(H) == 2);
}

}  // namespace

TEST_CASE("all 65,536 patterns have the right value and survive a round trip through float",
          "[tensor][small]") {
    check_every_pattern<f16>(5, 10);
    check_every_pattern<bf16>(8, 7);
}

TEST_CASE("a float halfway between two 16-bit floats rounds to even", "[tensor][small]") {
    check_ties<f16>(0x7C00);
    check_ties<bf16>(0x7F80);
}

TEST_CASE("a float rounds to the nearest 16-bit float", "[tensor][small]") {
    check_nearest<f16>(5, 10, 10007);
    check_nearest<bf16>(8, 7, 10007);
}

TEST_CASE("4 million floats round to the nearest 16-bit float", "[tensor][full]") {
    check_nearest<f16>(5, 10, 1021);
    check_nearest<bf16>(8, 7, 1021);
}

TEST_CASE("out-of-range floats become infinity or 0, and NaNs stay NaN", "[tensor][small]") {
    check_specials<f16>(0x7C00);
    check_specials<bf16>(0x7F80);
}

TEST_CASE("f16 converts as NumPy's float16 does", "[tensor][small]") {
    for (const GoldenHalf& golden : golden_hard_halves) {
        CAPTURE(golden.value);
        CHECK(round<f16>(golden.value) == golden.bits);
    }
    for (std::uint32_t group = 0; group < 64; ++group) {
        Checksum checksum;
        for (std::uint32_t p = group * 1024; p < (group + 1) * 1024; ++p) {
            const float x = static_cast<float>(f16::from_bits(static_cast<std::uint16_t>(p)));
            if (!std::isnan(x)) checksum.add(bits_of(x));
        }
        CAPTURE(group);
        CHECK(checksum.sum == golden_f16_to_float[group]);
    }
    for (std::uint64_t group = 0; group < 256; ++group) {
        Checksum checksum;
        for (std::uint64_t bits = group << 24; bits < (group + 1) << 24; bits += 4099) {
            const float x = float_of(static_cast<std::uint32_t>(bits));
            if (!std::isnan(x)) checksum.add(round<f16>(x));
        }
        CAPTURE(group);
        CHECK(checksum.sum == golden_float_to_f16[group]);
    }
}
