// Q8_0: known blocks, and every scale.
#include "day06_transformer_ops/gpt2/weights/q8_0.hpp"

#include <cmath>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/weights/quantise.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

// Blocks (N, B) of seeded quants, including -128, and scales of both signs.
Tensor<Q8Block> blocks(std::int64_t N, std::int64_t B, std::uint64_t seed) {
    Tensor<Q8Block> in({N, B});
    const auto quants = seeded_integers<float>({N, B, kQ8Block}, seed, -128, 127);
    const auto scales = seeded<float>({N, B}, seed + 1, -0.03, 0.03);
    for (std::int64_t n = 0; n < N; ++n) {
        for (std::int64_t b = 0; b < B; ++b) {
            in(n, b).scale = f16(scales(n, b));
            for (std::int64_t j = 0; j < kQ8Block; ++j) {
                in(n, b).quants[j] = static_cast<std::int8_t>(quants(n, b, j));
            }
        }
    }
    return in;
}

}  // namespace

TEST_CASE("a block by hand: quant times scale, -128 to 127", "[day06][small]") {
    Tensor<Q8Block> in({1, 1});
    for (int j = 0; j < 32; ++j) in(0, 0).quants[j] = static_cast<std::int8_t>(4 * j - 62);
    in(0, 0).quants[30] = -128;  // usual writers produce at most 127, of either sign
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

TEST_CASE("the product of every f16 scale and every quant is exact", "[day06][small]") {
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

TEST_CASE("blocks and weights may have strides, and rows and columns are not mixed up",
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

TEST_CASE("dequantizing Q8_0 rejects operands that do not match", "[day06][small]") {
    const auto in = blocks(3, 2, 50);
    HostOut<float> out({3, 64}), narrow({3, 63}), short_({2, 64}), y({3});
    const auto from = [](View<const Q8Block> blocks, View<float> to) {
        return rejection([&] { dequantise_q8_0_cpu(blocks, to); });
    };
    const auto dequantise = [&](View<float> to) { return from(in.view(), to); };
    CHECK(dequantise(narrow.view()) ==
          "dequantise_q8_0: out has 63 columns, but in has 2 blocks of 32 per row");
    CHECK(contains(dequantise(slice(out.view(), 1, 0, 32)), "out has 32 columns"));
    CHECK(contains(dequantise(HostOut<float>({3, 65}).view()), "out has 65 columns"));
    CHECK(dequantise(short_.view()) == "dequantise_q8_0: out has 2 rows, but in has 3");
    CHECK(contains(dequantise(View<float>(out.view().data, Layout({3, 64}, {0, 1}))),
                   "writers of it would race"));
    CHECK(contains(dequantise(y.view()), "rank 2 is needed"));
    CHECK(contains(dequantise(View<float>(nullptr, Shape{3, 64})), "out is a null pointer"));
    CHECK(contains(from({nullptr, Shape{3, 2}}, out.view()), "in is a null pointer"));
    CHECK(contains(from({in.data(), Shape{6}}, out.view()), "rank 2 is needed"));
    auto* const inside = const_cast<Q8Block*>(in.data());
    CHECK(contains(dequantise({reinterpret_cast<float*>(inside), Shape{3, 64}}),
                   "in and out overlap"));
    CHECK(out.untouched());
}

TEST_CASE("quantizing by hand: the largest weight becomes 127, and halves round away from 0",
          "[day06][small]") {
    Tensor<float> in({2, 32});
    in(0, 0) = -63.5f;  // scale 0.5
    in(0, 1) = 63.5f, in(0, 2) = 0.25f, in(0, 3) = -0.25f, in(0, 4) = 0.2f, in(0, 31) = 10;
    Tensor<Q8Block> out({2, 1});
    quantise_q8_0_cpu(in.view(), out.view());
    CHECK(static_cast<float>(out(0, 0).scale) == 0.5f);
    const std::int8_t want[] = {-127, 127, 1, -1, 0};
    for (int j = 0; j < 5; ++j) CHECK(out(0, 0).quants[j] == want[j]);
    CHECK(out(0, 0).quants[31] == 20);
    CHECK(static_cast<float>(out(1, 0).scale) == 0);  // all zeros
    for (const std::int8_t quant : out(1, 0).quants) CHECK(quant == 0);
    in(1, 5) = 1e-40f;  // 1 / scale would be infinite
    quantise_q8_0_cpu(in.view(), out.view());
    for (const std::int8_t quant : out(1, 0).quants) CHECK(quant == 0);
}

TEST_CASE("quantizing and dequantizing has an error of at most half a scale", "[day06][small]") {
    const auto in = seeded<float>({7, 96}, 3, -2, 5);
    const View<const float> strided = transpose(in.view());
    Tensor<Q8Block> blocks_of({7, 3});
    Tensor<float> back({7, 96});
    for (const View<const float>& x :
         {in.view(), flip(in.view(), 1), flip(transpose(strided), 0)}) {
        quantise_q8_0_cpu(x, blocks_of.view());
        dequantise_q8_0_cpu(blocks_of.view(), back.view());
        int wrong = 0;
        for (std::int64_t n = 0; n < 7; ++n) {
            for (std::int64_t k = 0; k < 96; ++k) {
                float largest = 0;
                for (std::int64_t j = k / 32 * 32; j < k / 32 * 32 + 32; ++j) {
                    largest = std::max(largest, std::fabs(x(n, j)));
                }
                // 127 steps of a scale with a relative error of 2^-11
                const float bound = largest / 127 * 0.5f + largest * 0x1p-11f;
                wrong += !(std::fabs(back(n, k) - x(n, k)) <= bound);
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("quantizing to Q8_0 rejects operands that do not match", "[day06][small]") {
    Tensor<float> in({3, 64}), narrow({3, 63});
    Tensor<Q8Block> out({3, 2}), short_({2, 2});
    const auto rejected = [&](View<const float> from, View<Q8Block> to) {
        return rejection([&] { quantise_q8_0_cpu(from, to); });
    };
    CHECK(rejected(narrow.view(), out.view()) ==
          "quantise_q8_0: in has 63 columns, but out has 2 blocks of 32 per row");
    CHECK(rejected(in.view(), short_.view()) == "quantise_q8_0: out has 2 rows, but in has 3");
    CHECK(contains(rejected(in.view(), {out.data(), Layout({3, 2}, {0, 1})}), "would race"));
    CHECK(contains(rejected({nullptr, Shape{3, 64}}, out.view()), "in is a null pointer"));
    CHECK(contains(rejected({in.data(), Shape{192}}, out.view()), "rank 2 is needed"));
    for (const float bad : {NAN, INFINITY, -8.4e6f}) {
        in(2, 40) = bad;
        CHECK(contains(rejected(in.view(), out.view()), "the weight at (2, 40) is "));
    }
    in(2, 40) = 8.3e6f;
    CHECK(rejected(in.view(), out.view()).empty());
    CHECK(std::isfinite(static_cast<float>(out(2, 1).scale)));
}
