// Tests __half and __nv_bfloat16 against an independent method, a search for the nearest of all
// 65,536 values, and against a GPU's results in a file.
#include "common/emulator/tests/small_float.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator::tests;
using sixdays::emulator::Rounding;
using sixdays::emulator::small_bits;

namespace {

#if defined(__SIZEOF_FLOAT128__)
__extension__ using Wide = __float128;
#else  // arm64
using Wide = long double;
static_assert(std::numeric_limits<Wide>::digits == 113);
#endif

// The values of one sign from 0 to infinity, by definition of the format.
std::vector<double> all_values(int exponent_bits) {
    const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const int end = ((1 << exponent_bits) - 1) << fraction_bits;
    std::vector<double> values;
    for (int bits = 0; bits <= end; ++bits) {  // infinity counts as the next power of two
        const int fraction = bits % (1 << fraction_bits), exponent = bits >> fraction_bits;
        const double significand = std::ldexp(fraction, -fraction_bits) + (exponent > 0 ? 1 : 0);
        values.push_back(std::ldexp(significand, std::max(exponent, 1) - bias));
    }
    return values;
}

std::uint16_t nearest(const std::vector<double>& values, Wide x) {
    const std::uint16_t sign = x < 0 ? 0x8000 : 0;
    const Wide magnitude = x < 0 ? -x : x;
    const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
    const auto index = static_cast<std::uint16_t>(above - values.begin() - 1);
    if (above == values.end()) return sign | index;
    const Wide below = magnitude - values[index], rest = *above - magnitude;
    const bool up = rest < below || (!(below < rest) && index % 2 == 1);
    return static_cast<std::uint16_t>(sign | (index + up));
}

std::uint32_t random_bits() {
    static std::uint64_t state = 99;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 32);
}

// F is one of the two types, with `exponent_bits` exponent bits.
template <class F>
void check_rounding(int exponent_bits) {
    const std::vector<double> values = all_values(exponent_bits);
    const auto finite = [&] {
        const auto index = random_bits() % (values.size() - 1);
        return F::from_bits(static_cast<std::uint16_t>(index | (random_bits() & 0x8000)));
    };
    int wrong = 0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        wrong += static_cast<float>(F::from_bits(static_cast<std::uint16_t>(i))) != values[i];
    }
    CHECK(wrong == 0);
    for (int i = 0; i < 50000; ++i) {
        const F a = finite(), b = finite(), c = finite();
        const Wide x = a.value(), y = b.value(), z = c.value();
        const double d = a.value() * (1 + (random_bits() % 5 - 2.0) / (2 << (15 - exponent_bits)));
        if (d != 0) wrong += F(d).bits != nearest(values, d);
        if (x + y != 0) wrong += __hadd(a, b).bits != nearest(values, x + y);
        if (x - y != 0) wrong += __hsub(a, b).bits != nearest(values, x - y);
        if (x * y != 0) wrong += __hmul(a, b).bits != nearest(values, x * y);
        if (x / y != 0 && y != 0) wrong += __hdiv(a, b).bits != nearest(values, x / y);
        const Wide sum = x * y + z;  // exact unless the two are more than 113 bits apart
        if (sum != 0 && sum - z == x * y && sum - x * y == z)
            wrong += __hfma(a, b, c).bits != nearest(values, sum);
    }
    CHECK(wrong == 0);
}

// Compares with float's operators; where those are not enough, -0 is less than 0 and a NaN loses.
template <class F>
void check_comparisons() {
    const float numbers[] = {-HUGE_VALF, -1, -0.0f, 0, 1, 2, HUGE_VALF, NAN};
    for (const float x : numbers) {
        const F a = x;
        CHECK(__hisnan(a) == (x != x));
        CHECK(__hisinf(a) == (x == HUGE_VALF ? 1 : x == -HUGE_VALF ? -1 : 0));
        for (const float y : numbers) {
            INFO(x << " and " << y);
            const F b = y;
            CHECK((a == b) == (x == y));
            CHECK((a != b) == (x != y));
            CHECK((a < b) == (x < y));
            CHECK((a <= b) == (x <= y));
            CHECK((a > b) == (x > y));
            CHECK((a >= b) == (x >= y));
            CHECK(__hne(a, b) == (x < y || x > y));
            const bool a_is_more = x > y || (x == y && std::signbit(y));
            const bool nan = x != x || y != y;
            const F more = x != x ? b : y != y || a_is_more ? a : b;
            const F less = x != x ? b : y != y || !a_is_more ? a : b;
            CHECK(__hmax(a, b).bits == more.bits);
            CHECK(__hmin(a, b).bits == less.bits);
            CHECK(__hmax_nan(a, b).bits == (nan ? 0x7fff : more.bits));
            CHECK(__hmin_nan(a, b).bits == (nan ? 0x7fff : less.bits));
        }
    }
}

// A value between two neighbours rounds down and up to them; an exact one to itself.
template <int EXPONENT>
void check_directions() {
    const std::vector<double> values = all_values(EXPONENT);
    const auto rounded = [](double x, Rounding how) { return small_bits<EXPONENT>(x, how); };
    const auto infinity = static_cast<int>(values.size()) - 1;
    int wrong = 0;
    for (int i = 0; i < infinity; ++i) {
        const double low = values[static_cast<std::size_t>(i)];
        const double gap = values[static_cast<std::size_t>(i) + 1] - low;
        for (const double part : {0.0, 0x1p-30, 0.5, 1 - 0x1p-30}) {
            const double x = low + part * gap;
            const int above = x == low ? i : i + 1;
            wrong += rounded(x, Rounding::down) != i;
            wrong += rounded(x, Rounding::to_zero) != i;
            wrong += rounded(x, Rounding::up) != above;
            wrong += rounded(-x, Rounding::up) != (i | 0x8000);
            wrong += rounded(-x, Rounding::to_zero) != (i | 0x8000);
            wrong += rounded(-x, Rounding::down) != (above | 0x8000);
        }
    }
    CHECK(wrong == 0);
    CHECK(rounded(1e300, Rounding::up) == infinity);
    CHECK(rounded(1e300, Rounding::down) == infinity - 1);
    CHECK(rounded(-1e300, Rounding::up) == ((infinity - 1) | 0x8000));
    CHECK(rounded(HUGE_VAL, Rounding::to_zero) == infinity);
    CHECK(rounded(1e-300, Rounding::up) == 1);
    CHECK(rounded(1e-300, Rounding::nearest) == 0);
}

}  // namespace

TEST_CASE("16-bit floats compare correctly, and round up or down on request") {
    check_comparisons<__half>();
    check_comparisons<__nv_bfloat16>();
    check_directions<5>();
    check_directions<8>();
}

TEST_CASE("16-bit floats are rounded once, to nearest") {
    check_rounding<__half>(5);
    check_rounding<__nv_bfloat16>(8);
    // Only the last of 60 bits of the exact sum keeps it from being a tie: double rounding would
    // miss that.
    const auto of = [](int bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); };
    CHECK(__half_as_ushort(__hfma(of(0x7801), of(0x1001), of(0x0001))) ==
          nearest(all_values(5), Wide(32768 + 32) * (0x1p-11 + 0x1p-21) + Wide(0x1p-24)));
}

TEST_CASE("shuffles and atomics accept 16-bit floats") {
    const Device<float> sums(8);
    small_float_sums(64, sums.data());
    REQUIRE(cudaGetLastError() == cudaSuccess);
    CHECK(sums.host() == std::vector<float>(8, 64.0f));
}

TEST_CASE("results of 16-bit floats equal a GPU's") {
    std::string path = __FILE__;
    path.replace(path.rfind("small_float.cpp"), std::string::npos,
                 "beside_gpu/small_float_h200.csv");
    std::ifstream file(path);
    std::istringstream ours(small_float_table());
    std::string line, expected;
    int rows = 0;
    while (std::getline(ours, line)) {
        ++rows;
        if (std::getline(file, expected)) CHECK(line == expected);
    }
    CHECK(rows == 2 * (8 + 6 * 22 + 2 * 8 * 8 + 16));
}
