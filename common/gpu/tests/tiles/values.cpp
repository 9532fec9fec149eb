// Where the documentation of CUDA Tile C++ is short, what tiles make of numbers: NaN, signed zeros,
// rounding, integers, orders. These cases run over the emulator's cuda_tile.h and over nvcc's.
#include "common/gpu/tests/tiles/values.hpp"

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

// NaN is NaN. An error of 0 asks for the same bits, the sign of 0 included.
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
    constexpr float kUlps = 4e-7f;  // the functions': a few units in the last place
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

TEST_CASE("tiles of floats: NaN, infinities, signed zeros, rounding, functions", "[small]") {
    constexpr float kNearOne = 1 + 0x1p-12f;  // its square is no float
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

TEST_CASE("tiles of integers: signs of quotients and remainders, and small types stay small",
          "[small]") {
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

// in (4, 4), reduced by the rules of the kernel, in its order.
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

TEST_CASE("a tile reduced along a dim: a number wins over NaN, unless NaN is asked to win",
          "[small]") {
    check_reductions<float>({1, -2, 3, 4, 5, 6, -7, 8, -1, -2, -3, -4, 9, 10, 11, 12});
    check_reductions<float>({kNan, 2, 3, 4, 5, kNan, 7, 8, kNan, kNan, kNan, kNan, 9, 1, 2, -3});
    check_reductions<int>({1, -2, 3, 4, 5, 6, -7, 8, -1, -2, -3, -4, 9, 10, 11, 12});
}

TEST_CASE("what a masked load puts where there is nothing", "[small]") {
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

TEST_CASE("the order of a tile's elements", "[small]") {
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

TEST_CASE("products of tiles: a float keeps its bits, TF32 has ten of them", "[small]") {
    // One number of each product has more bits than TF32, all others are small: sums are exact.
    std::vector<float> a(256), b(256);
    for (std::size_t i = 0; i < 256; ++i) {
        a[i] = static_cast<float>(i * 7 % 11) - 5;
        b[i] = static_cast<float>(i * 5 % 13) - 6;
    }
    for (const bool fine : {false, true}) {
        if (fine) a[17] = 1 + 0x1p-12f;  // row 1: TF32, half and bfloat16 make 1 of it
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
