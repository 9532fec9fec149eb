// Tests of the comparisons that all other tests rely on. Each must reject wrong results with an
// explanation, and accept right ones.
#include "common/testing/testing.hpp"

#include <cmath>
#include <limits>

#include "common/tensor/index.hpp"

using namespace sixdays;
using namespace sixdays::testing;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor<float> ramp() {
    return distinct<float>({3, 4});  // 1 2 3 4 / 5 6 7 8 / 9 10 11 12
}

}  // namespace

TEST_CASE("equal accepts the same bits in any layout", "[testing][small]") {
    const Tensor<float> want = ramp();
    CHECK(equal(want, want));
    CHECK(equal(want.view(), Tensor<float>(want)));

    HostIn<float> columns(want, column_major({3, 4}));
    HostIn<float> flipped(want, Layout({3, 4}, {-4, -1}));
    HostIn<float> pitched(want, Layout({3, 4}, {7, 1}));
    CHECK(equal(columns.view(), want));
    CHECK(equal(flipped.view(), want));
    CHECK(equal(columns.view(), pitched.view()));
}

TEST_CASE("equal rejects one wrong element, wherever it is", "[testing][small]") {
    const Tensor<float> want = ramp();
    for (std::int64_t k = 0; k < want.size(); ++k) {
        Tensor<float> got = want;
        got.data()[k] = 100;
        const Comparison answer = equal(got, want);
        CHECK_FALSE(answer);
        CHECK(contains(answer.text, "1 of 12 elements differs. The first is " +
                                        to_string(unravel(k, want.shape())) + ", at offset " +
                                        std::to_string(k) + ": expected " + std::to_string(k + 1) +
                                        ", got 100."));
    }
}

TEST_CASE("equal rejects one ulp, another zero and another NaN", "[testing][small]") {
    const Tensor<float> one({1}, {1.0f});
    CHECK_FALSE(equal(Tensor<float>({1}, {std::nextafter(1.0f, 2.0f)}), one));
    CHECK(contains(equal(Tensor<float>({1}, {std::nextafter(1.0f, 2.0f)}), one).text,
                   "expected 1, got 1.0000001"));

    CHECK_FALSE(equal(Tensor<float>({1}, {-0.0f}), Tensor<float>({1}, {0.0f})));
    CHECK(contains(equal(Tensor<float>({1}, {-0.0f}), Tensor<float>({1}, {0.0f})).text,
                   "expected 0, got -0"));

    const Tensor<float> nan({1}, {kNan});
    CHECK(equal(nan, nan));
    CHECK_FALSE(equal(Tensor<float>({1}, {-kNan}), nan));
    CHECK(contains(equal(Tensor<float>({1}, {-kNan}), nan).text,
                   "expected nan (0x7fc00000), got nan (0xffc00000)"));
    CHECK_FALSE(equal(nan, one));
    CHECK_FALSE(equal(one, nan));
    CHECK_FALSE(equal(nan, Tensor<float>({1}, {kInf})));
}

TEST_CASE("equal compares elements of every size", "[testing][small]") {
    struct Sixteen {
        std::uint64_t low, high;
    };
    const Tensor<Sixteen> wide({2}, {{1, 2}, {3, 4}});
    CHECK(equal(wide, wide));
    CHECK_FALSE(equal(Tensor<Sixteen>({2}, {{1, 2}, {3, 5}}), wide));
    CHECK(contains(equal(Tensor<Sixteen>({2}, {{1, 2}, {3, 5}}), wide).text,
                   "got 0x00000000000000050000000000000003"));

    const Tensor<std::uint8_t> bytes({2}, {1, 255});
    CHECK(equal(bytes, bytes));
    CHECK(
        contains(equal(Tensor<std::uint8_t>({2}, {1, 254}), bytes).text, "expected 255, got 254"));
    CHECK(contains(
        equal(Tensor<std::int64_t>({1}, {-1}), Tensor<std::int64_t>({1}, {INT64_MIN})).text,
        "expected -9223372036854775808, got -1"));
    CHECK(contains(equal(Tensor<double>({1}, {0.1}), Tensor<double>({1}, {0.1 + 0x1p-56})).text,
                   "expected 0.10000000000000002, got 0.1"));
    CHECK(contains(equal(Tensor<bf16>({1}, {bf16(0.1f)}), Tensor<bf16>({1}, {bf16(-2.0f)})).text,
                   "expected -2, got 0.1"));
    CHECK_FALSE(
        equal(Tensor<f16>({1}, {f16::from_bits(1)}), Tensor<f16>({1}, {f16::from_bits(2)})));
    // The fewest digits that parse to the same number of that type.
    CHECK(contains(equal(Tensor<f16>({1}, {f16(0.1f)}), Tensor<f16>({1}, {f16(-2.0f)})).text,
                   "expected -2, got 0.1."));
    CHECK(contains(equal(Tensor<float>({1}, {1e20f}), Tensor<float>({1}, {70000.0f})).text,
                   "expected 70000, got 1e+20."));
    CHECK(contains(equal(Tensor<std::uint32_t>({1}, {70000}), Tensor<std::uint32_t>({1})).text,
                   "expected 0, got 70000."));
    // The upper half of a 64-bit element counts.
    CHECK_FALSE(equal(Tensor<std::int64_t>({1}, {1 + (std::int64_t{1} << 32)}),
                      Tensor<std::int64_t>({1}, {1})));
}

TEST_CASE("row-major and column-major strides confused are recognised", "[testing][small]") {
    const Tensor<float> want = distinct<float>({2, 3, 4});
    const auto says = [&](const Index& at, const Index& instead) {
        Tensor<float> got = want;
        got.view()(at) = want.view()(instead);
        return equal(got, want).text;
    };
    // (0, 1, 2) is number 6 in row-major order; number 6 in column-major order is (0, 0, 1).
    CHECK(contains(says({0, 1, 2}, {0, 0, 1}),
                   "(0, 0, 1): as if strides were row-major, not column-major?"));
    // (1, 2, 0) is number 1 + 2 * 2 = 5 in column-major order; number 5 in row-major is (0, 1, 1).
    CHECK(contains(says({1, 2, 0}, {0, 1, 1}),
                   "(0, 1, 1): as if strides were column-major, not row-major?"));
}

TEST_CASE("a wrong shape of the same size is rejected", "[testing][small]") {
    const Tensor<float> flat = distinct<float>({12}), tall = distinct<float>({4, 3});
    for (const Tensor<float>& got : {flat, tall}) {
        CHECK_FALSE(equal(got, ramp()));
        CHECK_FALSE(close(got, ramp(), 1e9));
    }
    CHECK(contains(equal(tall, ramp()).text,
                   "The result has shape (4, 3), expected was shape (3, 4)."));
    CHECK_FALSE(equal(Tensor<float>({0}), Tensor<float>({0, 1})));
    CHECK_FALSE(equal(Tensor<float>(Shape{}), Tensor<float>({1})));
}

TEST_CASE("empty tensors are equal, and rank 0 compares one element", "[testing][small]") {
    CHECK(equal(Tensor<float>({0, 3}), Tensor<float>({0, 3})));
    CHECK(contains(equal(Tensor<float>({0, 3}), Tensor<float>({0, 3})).text,
                   "no elements to compare"));
    CHECK(equal(Tensor<float>(Shape{}, {2.0f}), Tensor<float>(Shape{}, {2.0f})));
    CHECK(contains(equal(Tensor<float>(Shape{}, {2.0f}), Tensor<float>(Shape{}, {3.0f})).text,
                   "The only element differs. The first is ()"));
}

TEST_CASE("close accepts the bound itself and nothing beyond it", "[testing][small]") {
    const Tensor<float> want({2}, {1.0f, 2.0f});
    const Tensor<float> off({2}, {1.0f, 2.25f});
    CHECK(close(off, want, 0.25));
    CHECK_FALSE(close(off, want, std::nextafter(0.25, 0.0)));
    CHECK_FALSE(close(Tensor<float>({2}, {1.0f, 1.5f}), want, 0.25));
    CHECK(close(want, want, 0.0));
    CHECK(contains(close(off, want, 0.125).text,
                   "expected 2, got 2.25, which differ by 0.25, and the bound is 0.125"));
    CHECK(contains(close(off, want, 0.0).text, "expected 2, got 2.25."));
    CHECK(contains(close(off, want, 0.5).text, "the largest difference is 0.500000 of it, at (1)"));
    // One ulp of a float, with a bound of 3/4 ulp.
    const float above = std::nextafter(2.0f, 3.0f);
    CHECK_FALSE(close(Tensor<float>({2}, {1.0f, above}), want, 0x1.8p-23));
    CHECK(close(Tensor<float>({2}, {1.0f, above}), want, 0x1p-22));
}

TEST_CASE("close takes a bound per element and a reference of another type", "[testing][small]") {
    const Tensor<double> want({2, 2}, {1, 2, 3, 4});
    const Tensor<float> got({2, 2}, {1, 2, 3, 5});
    CHECK(close(got, want, [](const Index& i) { return i[0] == 1 && i[1] == 1 ? 1.0 : 0.0; }));
    CHECK_FALSE(
        close(got, want, [](const Index& i) { return i[0] == 1 && i[1] == 1 ? 0.5 : 9.0; }));
}

TEST_CASE("close never accepts a NaN by accident", "[testing][small]") {
    const Tensor<float> one({1}, {1.0f}), nan({1}, {kNan}), inf({1}, {kInf});
    CHECK_FALSE(close(nan, one, 1e30));
    CHECK_FALSE(close(one, nan, 1e30));
    CHECK_FALSE(close(nan, nan, 1e30));
    CHECK(contains(close(nan, nan, 1e30).text, "rejects an expected NaN unless"));
    CHECK_FALSE(close(nan, inf, 1e30));
    CHECK_FALSE(close(inf, nan, 1e30));

    CHECK(close(nan, nan, 0.0, Nans::where_expected));
    CHECK(close(Tensor<float>({1}, {-kNan}), nan, 0.0, Nans::where_expected));
    CHECK_FALSE(close(one, nan, 1e30, Nans::where_expected));
    CHECK(contains(close(one, nan, 1e30, Nans::where_expected).text, "which is not a NaN"));
    CHECK_FALSE(close(nan, one, 1e30, Nans::where_expected));
}

TEST_CASE("close accepts an infinity only where the same one is expected", "[testing][small]") {
    const Tensor<float> one({1}, {1.0f}), inf({1}, {kInf}), minus({1}, {-kInf});
    CHECK(close(inf, inf, 0.0));
    CHECK_FALSE(close(inf, minus, 1e300));
    CHECK_FALSE(close(inf, one, 1e300));
    CHECK_FALSE(close(one, inf, 1e300));
    CHECK(contains(close(one, inf, 1.0).text, "expected inf, got 1, which differ by inf"));
}

TEST_CASE("an infinite, NaN or negative bound accepts nothing", "[testing][small]") {
    const Tensor<float> one({1}, {1.0f});
    CHECK_FALSE(close(one, one, std::numeric_limits<double>::infinity()));
    CHECK_FALSE(close(one, one, std::numeric_limits<double>::quiet_NaN()));
    CHECK_FALSE(close(one, one, -1.0));
    CHECK_FALSE(close(Tensor<float>({1}, {kInf}), Tensor<float>({1}, {kInf}), -1.0));
    CHECK(contains(close(one, one, -1.0).text, "the bound is -1, and it must be a finite number"));
}

TEST_CASE("a report counts the differing elements and says where they start", "[testing][small]") {
    const Tensor<float> want = ramp();
    Tensor<float> got = want;
    for (std::int64_t k = 8; k < 12; ++k) got.data()[k] = 0.5f;
    CHECK(contains(equal(got, want).text,
                   "4 of 12 elements differ, all from number 8 on. The first is (2, 0)"));
    got(0, 1) = 0.5f;
    CHECK(contains(equal(got, want).text, "5 of 12 elements differ. The first is (0, 1)"));
    CHECK(contains(equal(Tensor<float>({3, 4}), want).text,
                   "All 12 elements differ. The first is (0, 0)"));
}

TEST_CASE("the index whose value was found is named", "[testing][small]") {
    const Tensor<float> want = ramp();
    const auto wrong = [&](std::int64_t i, std::int64_t j, float value) {
        Tensor<float> got = want;
        got(i, j) = value;
        return equal(got, want);
    };
    CHECK(contains(wrong(1, 2, want(2, 1)).text,
                   "10 is the expected value of (2, 1): rows and columns swapped?"));
    CHECK(contains(wrong(1, 2, want(1, 1)).text,
                   "6 is the expected value of (1, 1): one step back along dimension 1"));
    CHECK(contains(wrong(1, 2, want(2, 2)).text,
                   "11 is the expected value of (2, 2): one step forward along dimension 0"));
    CHECK(contains(
        wrong(0, 0, want(0, 3)).text,
        "4 is the expected value of (0, 3): as if dimension 1 were counted from its end?"));
    CHECK(contains(wrong(1, 3, want(2, 0)).text,
                   "9 is the expected value of (2, 0): the element after it?"));
    CHECK(contains(wrong(1, 3, want(0, 1)).text, "2 is the expected value of (0, 1)."));
    // An extent of 3 is too short for "counted from its end", and two steps are no step.
    CHECK(contains(wrong(0, 1, want(2, 1)).text, "10 is the expected value of (2, 1)."));
    CHECK(wrong(1, 3, 77).text.find("is the expected value") == std::string::npos);

    // A step must also explain another wrong element; otherwise only the index is named.
    Tensor<float> two = want;
    two(0, 3) = want(1, 3);
    two(1, 3) = want(2, 3);
    CHECK(contains(equal(two, want).text,
                   "8 is the expected value of (1, 3): one step forward along dimension 0"));
    two(1, 3) = 77;
    CHECK(contains(equal(two, want).text, "8 is the expected value of (1, 3)."));

    // A whole matrix read with column-major strides: (0, 1) holds element number 3, that is (0, 3).
    const Tensor<float> mixed({3, 4}, {1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12});
    CHECK(contains(equal(mixed, want).text, "got 4.\n4 is the expected value of (0, 3)"));
    const Tensor<float> big = distinct<float>({5, 7});
    Tensor<float> strided = big;
    strided(1, 4) = big.data()[1 + 4 * 5];  // where 1 * 7 + 4 belongs
    CHECK(contains(equal(strided, big).text, "as if strides were column-major, not row-major?"));

    const Tensor<float> cube = distinct<float>({3, 4, 5});
    Tensor<float> got = cube;
    got(2, 1, 3) = cube(1, 2, 3);
    CHECK(contains(equal(got, cube).text,
                   "is the expected value of (1, 2, 3): dimensions 0 and 1 swapped?"));
}

TEST_CASE("a value that many elements hold is not attributed to one", "[testing][small]") {
    Tensor<float> want({4, 4});
    want(0, 0) = 5;
    Tensor<float> got = want;
    got(0, 0) = 0;  // a neighbour's value, but with two values that says nothing
    CHECK(equal(got, want).text.find("is the expected value") == std::string::npos);
    want(3, 3) = got(3, 3) = 7;
    CHECK(contains(equal(got, want).text, "0 is the expected value of (0, 1)"));
    want(0, 1) = want(1, 0) = want(0, 3) = want(3, 0) = 5;
    got = want;
    got(0, 0) = 0;
    CHECK(equal(got, want).text.find("is the expected value") == std::string::npos);
}

TEST_CASE("excess sectors, wavefronts and requests are explained", "[testing][small]") {
    gpu::Touched fine;
    fine.requests = 96, fine.sectors = fine.fewest_sectors = 1384;
    CHECK(touches(fine, 96, 1384));
    CHECK(touches(fine, 97, 1384));
    CHECK(contains(touches(fine, 95, 1384).text, "made 96 requests to memory where 95 suffice"));
    CHECK(contains(touches(fine, 96, 384).text,
                   "moved 1,384 sectors of 32 bytes where 384 suffice. The lanes of a warp"));
    CHECK(contains(touches(fine, 96, 1234567).text, "take 1,234,567: some of it was never"));
    for (const std::int64_t requests : {95, 96}) CHECK_FALSE(touches(fine, requests, 1383));
    CHECK_FALSE(touches(fine, 96, 1385));
    CHECK_FALSE(touches(fine, 95, 1384));
    fine.passes = fine.fewest_passes = 64;
    CHECK(touches(fine, 96, 1384));
    fine.passes = 65;
    CHECK_FALSE(touches(fine, 96, 1384));
    CHECK(contains(touches(fine, 96, 1384).text, "took 65 wavefronts where 64 suffice"));
}

TEST_CASE("FarEnd holds the last elements of a tensor", "[testing][small]") {
    FarEnd<float> far(kBeyond32Bits, distinct<float>({40}, 100));
    CHECK(equal(far.last(3), Tensor<float>({3}, {3800, 3900, 4000})));
    CHECK(contains(needs_64_bits(4294968320), "4,294,968,320 elements"));
    CHECK(kBeyond32Bits > std::int64_t{UINT32_MAX});
    CHECK(contains(needs_64_bits(999), "has 999 elements"));
}
