// Q8_0: known blocks, every scale, and the product.
#include "day06_transformer_ops/gpt2/q8_0.hpp"

#include <cmath>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

// Blocks (N, B) of seeded quants, -128 among them, and scales of both signs.
Tensor<Q8Block> blocks(std::int64_t N, std::int64_t B, std::uint64_t seed, bool integers = false) {
    Tensor<Q8Block> in({N, B});
    const auto quants = seeded_integers<float>({N, B, kQ8Block}, seed, -128, 127);
    const auto scales = seeded<float>({N, B}, seed + 1, -0.03, 0.03);
    for (std::int64_t n = 0; n < N; ++n) {
        for (std::int64_t b = 0; b < B; ++b) {
            in(n, b).scale = f16(integers ? 2.0f : scales(n, b));
            for (std::int64_t j = 0; j < kQ8Block; ++j) {
                in(n, b).quants[j] = static_cast<std::int8_t>(quants(n, b, j));
            }
        }
    }
    return in;
}

// in . x in double, and what rounding may do to it: the sum of |in * x|.
struct Exact {
    Tensor<double> sums, sizes;
};
Exact exact_product(const Tensor<Q8Block>& in, const Tensor<float>& x) {
    const std::int64_t N = in.shape()[0], B = in.shape()[1];
    Exact exact{Tensor<double>({N}), Tensor<double>({N})};
    for (std::int64_t n = 0; n < N; ++n) {
        for (std::int64_t k = 0; k < B * kQ8Block; ++k) {
            const Q8Block& block = in(n, k / kQ8Block);
            const double w = double{static_cast<float>(block.scale)} * block.quants[k % kQ8Block];
            exact.sums(n) += w * x(k);
            exact.sizes(n) += std::abs(w * x(k));
        }
    }
    return exact;
}

}  // namespace

TEST_CASE("a block by hand: quant times scale, -128 to 127", "[day06][small]") {
    Tensor<Q8Block> in({1, 1});
    for (int j = 0; j < 32; ++j) in(0, 0).quants[j] = static_cast<std::int8_t>(4 * j - 62);
    in(0, 0).quants[30] = -128;  // 127 is the largest that the usual writer makes, of either sign
    in(0, 0).quants[31] = 127;
    in(0, 0).scale = f16::from_bits(0x3400);  // 0.25
    HostOut<float> out({1, 32});
    dequantise_q8_0_cpu(in.view(), out.view());
    Tensor<float> want({1, 32});
    for (int j = 0; j < 30; ++j) want(0, j) = static_cast<float>(j) - 15.5f;
    want(0, 30) = -32;
    want(0, 31) = 31.75f;
    CHECK(out.matches(want));
}

TEST_CASE("every scale that f16 has times every quant is exact", "[day06][small]") {
    Tensor<Q8Block> in({1, 8});
    Tensor<float> out({1, 256});
    for (int j = 0; j < 256; ++j) in(0, j / 32).quants[j % 32] = static_cast<std::int8_t>(j - 128);
    int wrong = 0;
    for (int bits = 0; bits < 0x10000; ++bits) {
        const f16 scale = f16::from_bits(static_cast<std::uint16_t>(bits));
        const double s = static_cast<float>(scale);
        for (int b = 0; b < 8; ++b) in(0, b).scale = scale;
        dequantise_q8_0_cpu(in.view(), out.view());
        for (int j = 0; j < 256; ++j) {
            const double want = s * (j - 128), got = out(0, j);
            wrong += std::isnan(want) ? !std::isnan(got) : got != want;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("blocks and weights may have strides, rows and columns are not mixed up",
          "[day06][small]") {
    const auto in = blocks(5, 6, 10);
    const auto all = [&](std::int64_t n, std::int64_t k) {
        return static_cast<float>(in(n, k / 32).scale) *
               static_cast<float>(in(n, k / 32).quants[k % 32]);
    };
    const View<const Q8Block> part = flip(slice(in.view(), 1, 1, 6, 2), 0);  // blocks 1, 3, 5
    HostOut<float> out(column_major({5, 96}));
    dequantise_q8_0_cpu(part, out.view());
    Tensor<float> want({5, 96});
    for (std::int64_t n = 0; n < 5; ++n) {
        for (std::int64_t k = 0; k < 96; ++k)
            want(n, k) = all(4 - n, (2 * (k / 32) + 1) * 32 + k % 32);
    }
    CHECK(out.matches(want));
}

TEST_CASE("the product straight from the blocks has the bits of the dequantised one",
          "[day06][small]") {
    const std::int64_t N = GENERATE(1, 7), B = GENERATE(0, 1, 24);
    CAPTURE(N, B);
    const auto in = blocks(N, B, 20);
    const auto x = seeded<float>({B * 32}, 22, -1, 1);
    Tensor<float> w({N, B * 32}), want({N});
    dequantise_q8_0_cpu(in.view(), w.view());
    for (std::int64_t n = 0; n < N; ++n) {
        float sum = 0;
        for (std::int64_t k = 0; k < B * 32; ++k) sum += w(n, k) * x(k);
        want(n) = sum;
    }
    const HostIn<float> vector(x, Layout({B * 32}, {3}));
    HostOut<float> out(Layout({N}, {2}));
    matvec_q8_0_cpu(in.view(), vector.view(), out.view());
    CHECK(out.matches(want));
    CHECK(vector.unchanged());
}

// A sum of K products in float, each rounded: off by at most (K + 1) roundings of the sum of sizes.
TEST_CASE("the product is as near to the exact one as its order allows", "[day06][small]") {
    const std::int64_t N = 33, B = GENERATE(1, 2, 3, 24, 96), K = B * 32;
    CAPTURE(B);
    const auto in = blocks(N, B, 30);
    const auto x = seeded<float>({K}, 32, -1, 1);
    const Exact exact = exact_product(in, x);
    const auto bound = [&](const Index& i) {
        return static_cast<double>(K + 1) * 0x1p-24 * exact.sizes(i[0]);
    };
    HostOut<float> plain({N});
    matvec_q8_0_cpu(in.view(), x.view(), plain.view());
    CHECK(plain.close_to(exact.sums, bound));
}

TEST_CASE("whole numbers are added exactly", "[day06][small]") {
    const std::int64_t N = 11, B = 9;
    const auto in = blocks(N, B, 40, true);  // weights up to 256, sums below 2^24
    const auto x = seeded_integers<float>({B * 32}, 41, -50, 50);
    const Exact exact = exact_product(in, x);
    Tensor<float> want({N});
    for (std::int64_t n = 0; n < N; ++n) want(n) = static_cast<float>(exact.sums(n));
    HostOut<float> out(Layout({N}, {3}));
    matvec_q8_0_cpu(in.view(), x.view(), out.view());
    CHECK(out.matches(want));
}

TEST_CASE("Q8_0 refuses what does not fit, before it writes", "[day06][small]") {
    const auto in = blocks(3, 2, 50);
    HostOut<float> out({3, 64}), narrow({3, 63}), short_({2, 64}), y({3}), y2({2});
    Tensor<float> x({64});
    const auto dequantise = [&](View<float> to) {
        return refusal([&] { dequantise_q8_0_cpu(in.view(), to); });
    };
    CHECK(dequantise(narrow.view()) ==
          "dequantise_q8_0: out has 63 columns, but in has 2 blocks of 32 a row");
    CHECK(contains(dequantise(slice(out.view(), 1, 0, 32)), "out has 32 columns"));
    CHECK(dequantise(short_.view()) == "dequantise_q8_0: out has 2 rows, but in has 3");
    CHECK(contains(dequantise(View<float>(out.view().data, Layout({3, 64}, {0, 1}))),
                   "writers of it would race"));
    CHECK(contains(dequantise(y.view()), "rank 2 is needed"));
    CHECK(contains(dequantise(View<float>(nullptr, Shape{3, 64})), "out is a null pointer"));
    auto* const inside = const_cast<Q8Block*>(in.data());
    CHECK(contains(dequantise({reinterpret_cast<float*>(inside), Shape{3, 64}}),
                   "in and out overlap"));

    const auto product = [&](View<const Q8Block> w, View<const float> v, View<float> to) {
        return refusal([&] { matvec_q8_0_cpu(w, v, to); });
    };
    CHECK(product(in.view(), slice(x.view(), 0, 0, 32), y.view()) ==
          "matvec_q8_0: x has 32 columns, but in has 2 blocks of 32 a row");
    CHECK(product(in.view(), slice(x.view(), 0, 0, 63), y.view()) ==
          "matvec_q8_0: x has 63 columns, but in has 2 blocks of 32 a row");
    const Tensor<float> longer({70});  // two blocks and a bit
    CHECK(contains(product(in.view(), longer.view(), y.view()), "x has 70 columns"));
    CHECK(product(in.view(), x.view(), y2.view()) ==
          "matvec_q8_0: out has 2 elements, but in has 3 rows");
    CHECK(contains(product(in.view(), x.view(), slice(x.view(), 0, 61, 64)), "x and out overlap"));
    CHECK(contains(product(in.view(), x.view(), {reinterpret_cast<float*>(inside), Shape{3}}),
                   "in and out overlap"));
    CHECK(contains(product({nullptr, Shape{3, 2}}, x.view(), y.view()), "in is a null pointer"));
    CHECK(contains(product(in.view(), {nullptr, Shape{64}}, y.view()), "x is a null pointer"));
    CHECK(contains(product(in.view(), x.view(), {y.view().data, Layout({3}, {0})}), "would race"));
    CHECK(contains(product(in.view(), out.view(), y.view()), "x has shape"));
    CHECK(contains(product(in.view(), x.view(), out.view()), "out has shape"));
    CHECK(out.untouched());
    CHECK(y.untouched());
}
