// Numerics that the documentation of CUDA Tile C++ leaves open: NaN, signed zeros, rounding,
// integers, orders. The cases run with the emulator's cuda_tile.h and with nvcc's.
#include "common/gpu/tests/tiles/values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/tensor/half.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using gpu::Buffer;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

template <class T>
Buffer<T> on_device(const std::vector<T>& x) {
    return Buffer<T>(Tensor<T>({static_cast<std::int64_t>(x.size())}, x));
}

// All NaNs are equal. An error of 0 requires the same bits, including the sign of 0.
bool agrees(float got, float want, float error) {
    if (std::isnan(want)) return std::isnan(got);
    if (error == 0 || std::isinf(want)) return std::bit_cast<int>(got) == std::bit_cast<int>(want);
    return std::fabs(got - want) <= error * std::fabs(want) + std::numeric_limits<float>::min();
}
template <std::integral T>
bool agrees(T got, T want, float) {
    return got == want;
}

template <class T>
struct Rule {
    const char* name;
    std::function<T(T, T)> want;
    float error = 0;  // relative
};

template <class T>
void check_rules(const std::vector<T>& x, const std::vector<T>& y,
                 const std::vector<Rule<T>>& rules) {
    const auto xs = on_device(x), ys = on_device(y);
    const std::int64_t n = gpu::tests::kTileValues;
    const auto count = static_cast<std::int64_t>(rules.size());
    Buffer<T> out(count * n);
    gpu::tests::tile_rules<T>(xs.view({n}), ys.view({n}), out.view({count, n}));
    const std::vector<T> got = out.download();
    for (std::size_t r = 0; r < rules.size(); ++r) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            const T want = rules[r].want(x[i], y[i]), value = got[r * x.size() + i];
            INFO(rules[r].name << ", x " << +x[i] << ", y " << +y[i] << ": want " << +want
                               << ", got " << +value);
            CHECK(agrees(value, want, rules[r].error));
        }
    }
}

template <class T>
std::vector<Rule<T>> rules_of_all() {
    const auto number = [](bool b) { return static_cast<T>(b); };
    const auto max = [](T x, T y) { return y != y || x > y ? x : y; };
    const auto min = [](T x, T y) { return y != y || x < y ? x : y; };
    return {{"x + y", [](T x, T y) { return static_cast<T>(x + y); }},
            {"x - y", [](T x, T y) { return static_cast<T>(x - y); }},
            {"x * y", [](T x, T y) { return static_cast<T>(x * y); }},
            {"x / y", [](T x, T y) { return static_cast<T>(x / y); }},
            {"-x", [](T x, T) { return static_cast<T>(-x); }},
            {"abs(x)", [](T x, T) { return static_cast<T>(std::abs(x)); }},
            {"max(x, y)", max},
            {"min(x, y)", min},
            {"x < y", [=](T x, T y) { return number(x < y); }},
            {"x == y", [=](T x, T y) { return number(x == y); }},
            {"x != y", [=](T x, T y) { return number(x != y); }},
            {"element_cast<float>(x)", [](T x, T) { return x; }}};
}

template <class T>
std::vector<Rule<T>> rules_of_integers() {
    std::vector<Rule<T>> rules = rules_of_all<T>();
    const auto ceildiv = [](T x, T y) { return std::ceil(static_cast<double>(x) / y); };
    rules.insert(rules.end(),
                 {{"x % y", [](T x, T y) { return static_cast<T>(x % y); }},
                  {"ceildiv(x, y)", [=](T x, T y) { return static_cast<T>(ceildiv(x, y)); }},
                  {"x & y", [](T x, T y) { return static_cast<T>(x & y); }},
                  {"x | y", [](T x, T y) { return static_cast<T>(x | y); }},
                  {"x ^ y", [](T x, T y) { return static_cast<T>(x ^ y); }}});
    return rules;
}

float to_tf32(float x) {
    if (std::isnan(x) || std::isinf(x)) return x;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

std::vector<Rule<float>> rules_of_floats() {
    constexpr float kUlps = 4e-7f;  // a few ulps, for functions
    std::vector<Rule<float>> rules = rules_of_all<float>();
    const auto nan = [](float x, float y) { return std::isnan(x) || std::isnan(y); };
    rules.insert(
        rules.end(),
        {{"x * x - y, which nvcc 13.5 rounds once",
          [](float x, float y) { return gpu::is_emulated() ? x * x - y : std::fma(x, x, -y); }},
         {"fma(x, x, -y)", [](float x, float y) { return std::fma(x, x, -y); }},
         {"max(x, y), or NaN", [=](float x, float y) { return nan(x, y) ? kNan
                                                              : x > y   ? x
                                                                        : y; }},
         {"min(x, y), or NaN", [=](float x, float y) { return nan(x, y) ? kNan
                                                              : x < y   ? x
                                                                        : y; }},
         {"isnan(x)", [](float x, float) { return std::isnan(x) ? 1.0f : 0.0f; }},
         {"isinf(x)", [](float x, float) { return std::isinf(x) ? 1.0f : 0.0f; }},
         {"floor(x)", [](float x, float) { return std::floor(x); }},
         {"ceil(x)", [](float x, float) { return std::ceil(x); }},
         {"sqrt(x)", [](float x, float) { return std::sqrt(x); }},
         {"a half of x", [](float x, float) { return static_cast<float>(f16(x)); }},
         {"a bfloat16 of x", [](float x, float) { return static_cast<float>(bf16(x)); }},
         {"a TF32 of x", [](float x, float) { return to_tf32(x); }},
         {"the bits of x", [](float x, float) { return x; }},
         {"exp(x)", [](float x, float) { return std::exp(x); }, kUlps},
         {"exp2(x)", [](float x, float) { return std::exp2(x); }, kUlps},
         {"log(x)", [](float x, float) { return std::log(x); }, kUlps},
         {"log2(x)", [](float x, float) { return std::log2(x); }, kUlps},
         {"rsqrt(x)", [](float x, float) { return 1 / std::sqrt(x); }, kUlps},
         {"tanh(x)", [](float x, float) { return std::tanh(x); }, kUlps},
         {"pow(x, y)", [](float x, float y) { return std::pow(x, y); }, 4 * kUlps},
         {"sin(x)", [](float x, float) { return std::sin(x); }, kUlps},
         {"cos(x)", [](float x, float) { return std::cos(x); }, kUlps}});
    return rules;
}

}  // namespace

TEST_CASE("float tiles match C++, with NaN, infinities and signed zeros too", "[small]") {
    constexpr float kNearOne = 1 + 0x1p-12f;  // its square is not a float
    check_rules<float>(
        {kNan, 1, kNan, kInf, -kInf, 2.5f, -2.5f, kNearOne, 3, -7, 65519, 65520, 2049, 0.1f,
         1 + 0x1p-8f, 257.5f},
        {1, kNan, kNan, 1, 2, -2, 3, kNearOne * kNearOne, 7, 2, 1, 2, 3, 0.3f, 9, 11},
        rules_of_floats());
    check_rules<float>({0, -0.0f, 5, -5, 0x1p-130f, 0x1p-149f, 0x1p-126f, 1e30f, -1e30f, 20, -20,
                        88, -100, 0.5f, -1, 1e-10f},
                       {3, 4, 0.0f, -0.0f, 2, 1, 0.5f, 1e30f, 1e30f, 5, 5, 1, 1, -0.5f, 3, 1e-30f},
                       rules_of_floats());
}

TEST_CASE("integer tiles truncate quotients, and small types are not promoted", "[small]") {
    const std::vector<int> x = {7,  -7,  7,       -7,         6, -6, 0, 1,
                                -1, 100, 1 << 20, -(1 << 20), 5, 6,  7, 8};
    const std::vector<int> y = {2, 2, -2, -2, 3, 3, 5, 1, 7, -9, 3, 1 << 10, 10, -10, 2, 8};
    check_rules<int>(x, y, rules_of_integers<int>());
    const std::vector<std::uint8_t> u = {200, 100, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 254};
    const std::vector<std::uint8_t> v = {100, 200, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 255};
    check_rules<std::uint8_t>(u, v, rules_of_integers<std::uint8_t>());
    const std::vector<std::int8_t> s = {100, -100, 7, -7, 0, 1, -1, 2, 3, 4, 5, 6, 7, 8, 9, 127};
    const std::vector<std::int8_t> t = {2, 3, -2, 2, 5, 7, 7, -3, 3, 4, 5, 6, 7, 8, 9, -1};
    check_rules<std::int8_t>(s, t, rules_of_integers<std::int8_t>());
}

namespace {

// in (4, 4), reduced by the kernel's rules, in their order.
template <class T>
void check_reductions(const std::vector<T>& in) {
    using Line = std::vector<T>;
    using Of = std::function<T(const Line&)>;
    const auto fold = [](auto join) {
        return [join](const Line& line) {
            T x = line[0];
            for (std::size_t i = 1; i < line.size(); ++i) x = join(x, line[i]);
            return x;
        };
    };
    const auto nan = [](T x) { return x != x; };
    const Of sum = fold([](T a, T b) { return a + b; }),
             prod = fold([](T a, T b) { return a * b; }),
             max = fold([=](T a, T b) { return nan(a) || b > a ? b : a; }),
             min = fold([=](T a, T b) { return nan(a) || b < a ? b : a; }),
             max_or_nan = fold([=](T a, T b) { return nan(a) || b <= a ? a : b; }),
             min_or_nan = fold([=](T a, T b) { return nan(a) || b >= a ? a : b; }),
             all = [](const Line&l) { return T(l[0] > 0 && l[1] > 0 && l[2] > 0 && l[3] > 0); },
             any = [](const Line&l) { return T(l[0] > 0 || l[1] > 0 || l[2] > 0 || l[3] > 0); };
    struct Row {
        const char* name;
        Of of;
        int dim;
    };
    std::vector<Row> rows = {{"sum", sum, 0},        {"sum", sum, 1},        {"prod", prod, 0},
                             {"prod", prod, 1},      {"reduce_max", max, 0}, {"reduce_max", max, 1},
                             {"reduce_min", min, 0}, {"reduce_min", min, 1}, {"all_of", all, 1},
                             {"any_of", any, 0}};
    if constexpr (std::is_same_v<T, float>) {
        rows.push_back({"reduce_max, or NaN", max_or_nan, 1});
        rows.push_back({"reduce_min, or NaN", min_or_nan, 0});
    }
    const auto x = on_device(in);
    const auto count = static_cast<std::int64_t>(rows.size());
    Buffer<T> out(4 * count);
    gpu::tests::tile_reductions<T>(x.view({4, 4}), out.view({count, 4}));
    const std::vector<T> got = out.download();
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t i = 0; i < 4; ++i) {
            Line line;
            for (std::size_t k = 0; k < 4; ++k)
                line.push_back(in[rows[r].dim == 0 ? 4 * k + i : 4 * i + k]);
            const T want = rows[r].of(line);
            INFO(rows[r].name << " along dim " << rows[r].dim << ", number " << i << ": want "
                              << want << ", got " << got[4 * r + i]);
            CHECK(agrees(got[4 * r + i], want, 0));
        }
    }
}

}  // namespace

TEST_CASE("max and min reductions skip NaN unless told to propagate it", "[small]") {
    check_reductions<float>({1, -2, 3, 4, 5, 6, -7, 8, -1, -2, -3, -4, 9, 10, 11, 12});
    check_reductions<float>({kNan, 2, 3, 4, 5, kNan, 7, 8, kNan, kNan, kNan, kNan, 9, 1, 2, -3});
    check_reductions<int>({1, -2, 3, 4, 5, 6, -7, 8, -1, -2, -3, -4, 9, 10, 11, 12});
}

TEST_CASE("a padded load fills out-of-bounds elements with the padding value", "[small]") {
    const auto in = on_device<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    const std::vector<float> paddings = {0, 0, -0.0f, kInf, -kInf, kNan, 3};
    const auto count = static_cast<std::int64_t>(paddings.size());
    Buffer<float> out(8 * count);
    gpu::tests::tile_paddings(in.view({10}), out.view({count, 8}));
    const std::vector<float> got = out.download();
    for (std::size_t r = 0; r < paddings.size(); ++r) {
        for (std::size_t i = 0; i < 8; ++i) {
            const float want = i < 2 ? static_cast<float>(8 + i) : paddings[r];
            INFO("padding " << paddings[r] << ", element " << i << ", got " << got[8 * r + i]);
            CHECK(agrees(got[8 * r + i], want, 0));
        }
    }
}

TEST_CASE("shape functions move every element to its position", "[small]") {
    using Want = std::function<int(int)>;  // of element n
    const std::vector<std::pair<const char*, Want>> rows = {
        {"reshape", [](int n) { return n; }},
        {"transpose (4, 4)", [](int n) { return n % 4 * 4 + n / 4; }},
        {"transpose (2, 4, 2)", [](int n) { return n / 2 % 2 * 8 + n / 4 * 2 + n % 2; }},
        {"permute (2, 4, 2) by 2, 0, 1", [](int n) { return n / 4 % 2 * 8 + n % 4 * 2 + n / 8; }},
        {"cat along 0", [](int n) { return n < 8 ? n : 92 + n; }},
        {"cat along 1", [](int n) { return (n % 4 < 2 ? 0 : 100) + n / 4 * 2 + n % 2; }},
        {"broadcast a column", [](int n) { return n / 4; }},
        {"a column and a row", [](int n) { return n / 4 * 10 + n % 4; }},
        {"irange(3, 20, 5)", [](int) { return 3081318; }}};
    const auto count = static_cast<std::int64_t>(rows.size());
    Buffer<int> out(16 * count);
    gpu::tests::tile_shapes(out.view({count, 16}));
    const std::vector<int> got = out.download();
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (int n = 0; n < 16; ++n) {
            INFO(rows[r].first << ", element " << n);
            CHECK(got[16 * r + static_cast<std::size_t>(n)] == rows[r].second(n));
        }
    }
}

TEST_CASE("float products keep all fraction bits, TF32 keeps ten", "[small]") {
    // One number of each product has more bits than TF32, all others are small: sums are exact.
    std::vector<float> a(256), b(256);
    for (std::size_t i = 0; i < 256; ++i) {
        a[i] = static_cast<float>(i * 7 % 11) - 5;
        b[i] = static_cast<float>(i * 5 % 13) - 6;
    }
    for (const bool fine : {false, true}) {
        if (fine) a[17] = 1 + 0x1p-12f;  // row 1: TF32, half and bfloat16 round it to 1
        std::vector<double> exact(256), rounded(256);
        for (std::size_t n = 0; n < 256; ++n) {
            for (std::size_t k = 0; k < 16; ++k) {
                const float x = a[n / 16 * 16 + k], y = b[k * 16 + n % 16];
                exact[n] += double{x} * y;
                rounded[n] += double{std::round(x)} * y;
            }
        }
        const auto as = on_device(a), bs = on_device(b);
        const std::vector<std::pair<const char*, bool>> rows = {
            {"mma of floats", true},   {"of TF32", false},     {"of half", false},
            {"sums of half", false},   {"of bfloat16", false}, {"of 8-bit integers", false},
            {"matmul of floats", true}};
        const auto count = static_cast<std::int64_t>(rows.size());
        Buffer<float> out(256 * count);
        gpu::tests::tile_products(as.view({16, 16}), bs.view({16, 16}), out.view({count, 16, 16}));
        const std::vector<float> got = out.download();
        for (std::size_t r = 0; r < rows.size(); ++r) {
            for (std::size_t n = 0; n < 256; ++n) {
                INFO(rows[r].first << ", element (" << n / 16 << ", " << n % 16 << ")");
                CHECK(got[256 * r + n] ==
                      static_cast<float>(rows[r].second ? exact[n] : rounded[n]));
            }
        }
    }
}

// --- rounding ------------------------------------------------------------------------------------
namespace {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Wide;  // 113 bits: products of doubles are exact
#else
using Wide = long double;
#endif

enum class Mode { nearest, zero, negative, positive, away };
constexpr Mode kModes[] = {Mode::nearest, Mode::zero, Mode::negative, Mode::positive};
const char* const kModeNames[] = {"to nearest even", "toward zero", "toward negative",
                                  "toward positive", "to nearest, ties away"};

/// Fraction bits after the leading one, and the smallest exponent of a normal number.
struct Format {
    int fraction, least;
    double largest;
};
template <class T>
constexpr Format kFormat{};
template <>
constexpr Format kFormat<double>{52, -1022, std::numeric_limits<double>::max()};
template <>
constexpr Format kFormat<float>{23, -126, std::numeric_limits<float>::max()};
template <>
constexpr Format kFormat<bf16>{7, -126, 0x1.fep127};
template <>
constexpr Format kFormat<f16>{10, -14, 65504};
constexpr Format kTf32{10, -126, 0x1.ffcp127};

Wide power_of_2(int e) {
    Wide x = 1;
    for (; e > 0; --e) x *= 2;
    for (; e < 0; ++e) x /= 2;
    return x;
}

/// An exact nonzero value rounded to the format, by counting its ulps.
double rounded(Wide exact, Mode mode, const Format& f) {
    const bool negative = exact < 0;
    const Wide size = negative ? -exact : exact;
    int e = static_cast<int>(std::ilogb(static_cast<long double>(size)));
    if (power_of_2(e) > size) --e;  // the long double was rounded up
    const Wide place = power_of_2(std::max(e, f.least) - f.fraction);
    auto whole = static_cast<unsigned long long>(size / place);
    const Wide rest = size / place - static_cast<Wide>(whole), half = Wide(1) / 2;
    const bool odd = whole % 2 != 0;
    const bool up = mode == Mode::nearest    ? rest > half || (rest == half && odd)
                    : mode == Mode::away     ? rest >= half
                    : mode == Mode::negative ? negative && rest != 0
                    : mode == Mode::positive ? !negative && rest != 0
                                             : false;
    const Wide result = static_cast<Wide>(whole + up) * place;
    const bool stays = mode == Mode::zero || mode == (negative ? Mode::positive : Mode::negative);
    const double value = result > static_cast<Wide>(f.largest)
                             ? (stays ? f.largest : std::numeric_limits<double>::infinity())
                             : static_cast<double>(result);
    return negative ? -value : value;
}

Wide root(Wide x) {
    const Wide near = static_cast<Wide>(std::sqrt(static_cast<long double>(x)));
    return near == 0 ? near : (near + x / near) / 2;
}

/// a + b; a remainder below 113 bits moves the last bit, so that the sum does not look exact.
Wide sum_of(Wide a, Wide b) {
    const Wide sum = a + b, of_b = sum - a, lost = (a - (sum - of_b)) + (b - of_b);
    const Wide last = (sum < 0 ? -sum : sum) * power_of_2(-112);
    return lost == 0 ? sum : lost > 0 ? sum + last : sum - last;
}

/// a + b where the sum is exactly 0.
double zero_of(double a, double b, Mode mode) {
    if (std::signbit(a) == std::signbit(b)) return std::signbit(a) ? -0.0 : 0.0;
    return mode == Mode::negative ? -0.0 : 0.0;
}
double rounded_sum(Wide exact, double a, double b, Mode mode, const Format& f) {
    return exact == 0 ? zero_of(a, b, mode) : rounded(exact, mode, f);
}

/// The expected value of a kernel's row; x and y are in the format.
double wanted(int row, double x, double y, Mode mode, const Format& f) {
    const Wide a = static_cast<Wide>(x), b = static_cast<Wide>(y);
    const bool finite = std::isfinite(x) && std::isfinite(y);
    switch (row) {
        case 0:
            return finite ? rounded_sum(sum_of(a, b), x, y, mode, f) : x + y;
        case 1:
            return finite ? rounded_sum(sum_of(a, -b), x, -y, mode, f) : x - y;
        case 2:
            return finite && x != 0 && y != 0 ? rounded(a * b, mode, f) : x * y;
        case 3:
            return finite && x != 0 && y != 0 ? rounded(a / b, mode, f) : x / y;
        case 4:
            if (finite && x == 0) return zero_of(x * y, x, mode);
            if (!finite || y == 0) return x * y + x;
            return rounded_sum(sum_of(a * b, a), x * y, x, mode, f);
        default:
            return std::isfinite(x) && x != 0 ? rounded(root(a < 0 ? -a : a), mode, f)
                                              : std::sqrt(std::fabs(x));
    }
}

bool same(double got, double want) {
    return std::isnan(want)
               ? std::isnan(got)
               : std::bit_cast<std::uint64_t>(got) == std::bit_cast<std::uint64_t>(want);
}
template <class T>
double value_of(T x) {
    using Wider = std::conditional_t<sizeof(T) == 2, float, T>;
    return static_cast<double>(static_cast<Wider>(x));
}

template <class T>
void check_roundings(const std::vector<double>& xs, const std::vector<double>& ys) {
    constexpr int kRows = 6;
    const char* const names[] = {"x + y", "x - y", "x * y", "x / y", "x y + x", "root of |x|"};
    constexpr auto n = static_cast<std::size_t>(gpu::tests::kTileValues);
    REQUIRE((xs.size() == n && ys.size() == n));
    std::vector<T> x, y;
    for (const double v : xs)
        x.push_back(T(static_cast<std::conditional_t<sizeof(T) == 2, float, T>>(v)));
    for (const double v : ys)
        y.push_back(T(static_cast<std::conditional_t<sizeof(T) == 2, float, T>>(v)));
    const auto dx = on_device(x), dy = on_device(y);
    Buffer<T> out(4 * kRows * n);
    gpu::tests::tile_roundings<T>(dx.view({16}), dy.view({16}), out.view({4, kRows, 16}));
    const std::vector<T> got = out.download();
    for (std::size_t m = 0; m < 4; ++m) {
        for (std::size_t row = 0; row < kRows; ++row) {
            for (std::size_t i = 0; i < n; ++i) {
                const double want = wanted(static_cast<int>(row), value_of(x[i]), value_of(y[i]),
                                           kModes[m], kFormat<T>);
                const double value = value_of(got[(m * kRows + row) * n + i]);
                INFO(names[row] << ' ' << kModeNames[m] << ", x " << value_of(x[i]) << ", y "
                                << value_of(y[i]) << ": want " << want << ", got " << value);
                CHECK(same(value, want));
            }
        }
    }
}

}  // namespace

TEST_CASE("tile arithmetic is correctly rounded in every mode", "[small]") {
    const double inf = std::numeric_limits<double>::infinity();
    // Cancellation, infinite quotients, ties, signs, zeros, the limits of the range.
    const std::vector<double> x = {1,  -1,  0.1, -0.1, 3,   1.5, -1.5, 7,
                                   10, 1e4, -3,  2,    -0., 0,   5,    inf},
                              y = {0x1p-9, 0x1p-9, 0.3, 0.3,  7,   -1.5, 1.5, -11,
                                   0.7,    3e-4,   1e2, 1e-3, 0.0, -5,   0,   -inf};
    check_roundings<f16>(x, y);
    check_roundings<bf16>(x, y);
    check_roundings<float>(x, y);
    check_roundings<double>(x, y);
    check_roundings<f16>(
        {65504, -65504, 6e-8, -6e-8, 6e-5, 300, -300, 1e-4, 1, 1, 1, 1, 1, 1, 1, 1},
        {65504, 1000, 0.5, 0.3, 7, 300, 300, 1e-3, 3, 5, 6, 9, 11, 13, -3, -7});
    const std::vector<double> near = {1e38, -1e38, 1e-38, -1e-38, 1e-40, 1e30, -1e30, 1e-20,
                                      1,    1,     1,     1,      1,     1,    1,     1},
                              far = {3e38, 1e3, 0.5, 0.3, 7,  1e30, 1e30, 1e-20,
                                     3,    5,   6,   9,   11, 13,   -3,   -7};
    check_roundings<bf16>(near, far);
    check_roundings<float>(near, far);
    const std::vector<double> third = {1 + 0x1p-52,
                                       1 - 0x1p-53,
                                       -1 - 0x1p-52,
                                       1e300,
                                       1e-300,
                                       2,
                                       3,
                                       5,
                                       1,
                                       1,
                                       1,
                                       1,
                                       1,
                                       1,
                                       1,
                                       1},
                              other = {1 + 0x1p-52, 0x1p-53, 0x1p-54, 1e300, 1e-20, 3,  7,  11,
                                       3,           5,       6,       9,     11,    13, -3, -7};
    check_roundings<double>(third, other);
}

TEST_CASE("casts between float types are correctly rounded in every mode", "[small]") {
    const std::vector<double> x = {
        1.0 / 3, -1.0 / 3, 1 + 0x1p-24, 1 + 0x1p-11,    -1 - 0x1p-8, 1 + 0x3p-12, 65519,  65520,
        -1e10,   1e39,     -1e300,      0x1.ffffffp127, 0x1p-150,    -0x1.8p-149, 1e-310, -0.0};
    struct Row {
        const char* name;
        Format to;
        Mode mode;
        bool of_double;
    };
    const Format f32 = kFormat<float>, half = kFormat<f16>, b16 = kFormat<bf16>;
    const std::vector<Row> rows = {
        {"float", f32, Mode::nearest, true},     {"float", f32, Mode::zero, true},
        {"float", f32, Mode::negative, true},    {"float", f32, Mode::positive, true},
        {"half", half, Mode::nearest, false},    {"half", half, Mode::zero, false},
        {"bfloat16", b16, Mode::nearest, false}, {"bfloat16", b16, Mode::zero, false},
        {"TF32", kTf32, Mode::nearest, false},   {"TF32", kTf32, Mode::zero, false},
        {"TF32", kTf32, Mode::away, false},      {"half, and back", half, Mode::nearest, false}};
    const auto dx = on_device(x);
    const auto count = static_cast<std::int64_t>(rows.size());
    Buffer<float> out(16 * count);
    gpu::tests::tile_casts(dx.view({16}), out.view({count, 16}));
    const std::vector<float> got = out.download();
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double near =
                x[i] == 0 ? x[i] : rounded(static_cast<Wide>(x[i]), Mode::nearest, f32);
            const double from = rows[r].of_double ? x[i] : near;
            const double want = from == 0 || std::isinf(from)
                                    ? from
                                    : rounded(static_cast<Wide>(from), rows[r].mode, rows[r].to);
            INFO("a " << rows[r].name << ' ' << kModeNames[static_cast<int>(rows[r].mode)] << " of "
                      << from << ": want " << want << ", got " << got[16 * r + i]);
            CHECK(same(static_cast<double>(got[16 * r + i]), want));
        }
    }
}

TEST_CASE("subnormal operands and results are flushed on request", "[small]") {
    const std::vector<float> x = {
        0x1p-130f, -0x1p-130f, 0x1.1p-126f, 0x1p-126f, 1,         0x1p-100f, -3, 0x1p-149f,
        0,         2,          -0x1p-127f,  5,         0x1p-126f, 0x1p-120f, 7,  -0x1p-128f};
    const std::vector<float> y = {1,     0x1p-126f, 0x1p-126f, 0.5f,      0x1p-130f, 0x1p-40f,
                                  0.25f, -1,        0x1p-140f, 0x1p-127f, 0x1p-128f, -0x1p-133f,
                                  1,     0x1p-130f, 2,         0x1p-128f};
    const auto flush = [](float v) {
        return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
    };
    using Of = std::function<float(float, float)>;
    const std::vector<std::pair<const char*, Of>> rows = {
        {"x + y", [](float a, float b) { return a + b; }},
        {"x - y", [](float a, float b) { return a - b; }},
        {"x * y", [](float a, float b) { return a * b; }},
        {"x / y", [](float a, float b) { return a / b; }},
        {"fma(x, y, x)", [](float a, float b) { return std::fma(a, b, a); }},
        {"max(x, y)", [](float a, float b) { return a < b ? b : a; }},
        {"min(x, y)", [](float a, float b) { return b < a ? b : a; }}};
    const auto dx = on_device(x), dy = on_device(y);
    Buffer<float> out(8 * 16);
    gpu::tests::tile_flushed(dx.view({16}), dy.view({16}), out.view({8, 16}));
    const std::vector<float> got = out.download();
    for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const float want = flush(rows[r].second(flush(x[i]), flush(y[i])));
            INFO(rows[r].first << ", x " << x[i] << ", y " << y[i] << ": want " << want << ", got "
                               << got[16 * r + i]);
            // The larger of 0 and -0 may be either.
            CHECK((r >= 5 && want == 0 ? got[16 * r + i] == 0 : agrees(got[16 * r + i], want, 0)));
        }
        const double kept =
            wanted(0, value_of(x[i]), value_of(y[i]), Mode::positive, kFormat<float>);
        CHECK(same(value_of(got[16 * 7 + i]), kept));
    }
}

// --- scans ---------------------------------------------------------------------------------------
namespace {

/// in, viewed as (2, 4, 2): the inclusive scan with `join` along dimension `dim`.
template <class T, class Join>
std::vector<T> scanned(const std::vector<T>& in, int dim, bool backward, const Join& join) {
    const int lengths[] = {2, 4, 2}, steps[] = {8, 2, 1};
    const int length = lengths[dim], step = steps[dim];
    std::vector<T> out = in;
    for (int k = 1; k < length; ++k) {
        for (int n = 0; n < 16; ++n) {
            const int place = n / step % length;
            if (place != (backward ? length - 1 - k : k)) continue;
            const auto at = static_cast<std::size_t>(n);
            const auto before = static_cast<std::size_t>(backward ? n + step : n - step);
            out[at] = static_cast<T>(join(out[before], out[at]));
        }
    }
    return out;
}

template <class T>
void check_scans(const std::vector<T>& in) {
    const auto add = [](T a, T b) { return a + b; };
    const auto multiply = [](T a, T b) { return a * b; };
    const std::vector<std::vector<T>> want = {
        scanned(in, 0, false, add),      scanned(in, 1, false, add),
        scanned(in, 2, false, add),      scanned(in, 0, true, add),
        scanned(in, 1, true, add),       scanned(in, 2, true, add),
        scanned(in, 1, false, add),      scanned(in, 0, false, multiply),
        scanned(in, 1, false, multiply), scanned(in, 1, true, multiply)};
    const auto x = on_device(in);
    const auto count = static_cast<std::int64_t>(want.size());
    Buffer<T> out(16 * count);
    gpu::tests::tile_scans<T>(x.view({16}), out.view({count, 16}));
    const std::vector<T> got = out.download();
    for (std::size_t r = 0; r < want.size(); ++r) {
        for (std::size_t i = 0; i < 16; ++i) {
            INFO("row " << r << ", element " << i);
            CHECK(got[16 * r + i] == want[r][i]);
        }
    }
}

}  // namespace

TEST_CASE("scans run along each dimension, forward and backward", "[small]") {
    // Integers: exact in any order.
    check_scans<float>({1, -2, 3, 4, 5, 6, -7, 8, -1, -2, -3, -4, 9, 10, 11, 12});
    check_scans<int>({1, -2, 3, 4, 5, 6, -7, 8, -1, -2, -3, -4, 9, 10, 11, 12});
}

TEST_CASE("inexact sums are between those rounded down and those rounded up", "[small]") {
    constexpr auto n = static_cast<std::size_t>(gpu::tests::kTileLine);
    std::vector<float> x;
    for (std::size_t i = 0; i < n; ++i) {
        x.push_back((i % 3 == 0 ? -1.0f : 1.0f) / static_cast<float>(3 + 7 * i % 31));
    }
    const auto dx = on_device(x);
    Buffer<float> out(9 * n);
    gpu::tests::tile_rounded_sums(dx.view({64}), out.view({9, 64}));
    const std::vector<float> got = out.download();
    std::size_t apart = 0;
    for (std::size_t kind = 0; kind < 3; ++kind) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t from = kind == 1 ? i : 0, to = kind == 0 ? i + 1 : n;
            double exact = 0, size = 0;  // 53 bits hold these sums of floats
            for (std::size_t k = from; k < to; ++k) {
                exact += static_cast<double>(x[k]);
                size += std::fabs(static_cast<double>(x[k]));
            }
            const float* row = got.data() + kind * 3 * n + i;
            const auto down = static_cast<double>(row[0]), near = static_cast<double>(row[n]),
                       up = static_cast<double>(row[2 * n]);
            INFO("kind " << kind << ", element " << i << ": " << down << ", " << near << ", " << up
                         << ", exactly " << exact);
            CHECK(down <= exact);
            CHECK(exact <= up);
            CHECK(std::fabs(near - exact) <= static_cast<double>(to - from) * size * 0x1p-24);
            apart += down < up;
        }
    }
    CHECK(apart > 2 * n);  // the modes differ
}

// --- atomics -------------------------------------------------------------------------------------
namespace {

template <class T>
void check_atomics(const std::vector<int>& numbers) {
    using Number = std::conditional_t<sizeof(T) == 2, float, T>;
    using Of = std::function<Number(Number, std::size_t)>;
    std::vector<Number> x;
    std::vector<T> values;
    for (const int v : numbers) {
        x.push_back(static_cast<Number>(v));
        values.push_back(T(x.back()));
    }
    struct Step {
        const char* name;
        Of after, old;
    };
    const Number hundred = 100;
    const Of was = [=](Number a, std::size_t) { return a; };
    const auto even = [](std::size_t i) { return i % 2 == 0; };
    std::vector<Step> steps = {
        {"add", [&](Number a, std::size_t i) { return static_cast<Number>(a + x[i]); }, was},
        {"sub", [&](Number a, std::size_t i) { return static_cast<Number>(a - x[i]); }, was},
        {"add_masked",
         [&](Number a, std::size_t i) { return even(i) ? static_cast<Number>(a + x[i]) : a; },
         [&](Number a, std::size_t i) { return even(i) ? a : Number(7); }}};
    if constexpr (sizeof(T) >= 4) {
        steps.push_back({"xchg", [&](Number, std::size_t i) { return x[i]; }, was});
        steps.push_back(
            {"compare_exchange", [&](Number a, std::size_t i) { return even(i) ? x[i] : a; }, was});
    }
    if constexpr (std::is_integral_v<T>) {
        steps.push_back({"and", [&](T a, std::size_t i) { return a & x[i]; }, was});
        steps.push_back({"or", [&](T a, std::size_t i) { return a | x[i]; }, was});
        steps.push_back({"xor", [&](T a, std::size_t i) { return a ^ x[i]; }, was});
        steps.push_back({"max", [&](T a, std::size_t i) { return std::max(a, x[i]); }, was});
        steps.push_back({"min", [&](T a, std::size_t i) { return std::min(a, x[i]); }, was});
    }
    steps.push_back({"store_masked", [&](Number a, std::size_t i) { return even(i) ? x[i] : a; },
                     [&](Number, std::size_t i) { return even(i) ? x[i] : Number(7); }});
    const Of view_added = [&](Number a, std::size_t i) {
        const auto all = static_cast<Number>(a + (i == 0 ? 16 * 7 : 0));
        return i < 13 ? static_cast<Number>(all + x[i]) : all;
    };
    steps.push_back({"add in a view", view_added, [=](Number a, std::size_t i) {
                         return i < 13 ? view_added(a, i) : Number(0);
                     }});
    steps.push_back({"store in a view", [&](Number, std::size_t i) { return x[i]; },
                     [&](Number, std::size_t i) { return x[i]; }});
    const auto dx = on_device(values);
    Buffer<T> data(16);
    const auto count = static_cast<std::int64_t>(2 * steps.size());
    Buffer<T> out(16 * count);
    gpu::tests::tile_atomics<T>(dx.view({16}), data.view({16}), out.view({count, 16}));
    const std::vector<T> got = out.download();
    for (std::size_t s = 0; s < steps.size(); ++s) {
        for (std::size_t i = 0; i < 16; ++i) {
            INFO(steps[s].name << ", element " << i << ", value " << +x[i]);
            CHECK(static_cast<Number>(got[32 * s + i]) == steps[s].after(hundred, i));
            CHECK(static_cast<Number>(got[32 * s + 16 + i]) == steps[s].old(hundred, i));
        }
    }
}

}  // namespace

TEST_CASE("atomics update each element and return its old value", "[small]") {
    check_atomics<int>({1, -2, 300, 4, 100, -6, 7, 8, 9, 1000, -11, 12, 13, 99, 101, 0});
    check_atomics<std::uint64_t>({1, 2, 300, 4, 100, 6, 7, 8, 9, 1000, 11, 12, 13, 99, 101, 0});
    const std::vector<int> small = {1, -2, 3, 4, 100, -6, 7, 8, 9, 10, -11, 12, 13, 14, 15, 0};
    check_atomics<float>(small);
    check_atomics<double>(small);
    check_atomics<f16>(small);
    check_atomics<bf16>(small);
}

TEST_CASE("atomic counters add up, and each block gets a unique number", "[small]") {
    auto counts = on_device(std::vector<int>(9, 0));
    const std::size_t blocks = 37;
    Buffer<int> numbers(blocks);
    gpu::tests::tile_counters(counts.view({9}), numbers.view({37}));
    CHECK(counts.download() == std::vector<int>(9, 37));
    std::vector<int> got = numbers.download(), want(blocks);
    std::sort(got.begin(), got.end());
    for (std::size_t i = 0; i < blocks; ++i) want[i] = static_cast<int>(i);
    CHECK(got == want);
}
