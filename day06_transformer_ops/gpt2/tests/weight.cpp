// Weights of all types: sizes, views, rows, and conversion to floats.
#include "day06_transformer_ops/gpt2/weights/weight.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

template <class T>
Weight weight_of(WeightType type, const Tensor<T>& values, const Shape& shape) {
    return {type, reinterpret_cast<const std::byte*>(values.data()), shape};
}

}  // namespace

TEST_CASE("bytes of a shape, by type", "[day06][small]") {
    CHECK(bytes_of(WeightType::f32, {3, 5}) == 60);
    CHECK(bytes_of(WeightType::f16, {3, 5}) == 30);
    CHECK(bytes_of(WeightType::bf16, {7}) == 14);
    CHECK(bytes_of(WeightType::q8_0, {3, 64}) == 3 * 2 * 34);
    CHECK(bytes_of(WeightType::q4_0, {3, 64}) == 3 * 2 * 18);
    CHECK(bytes_of(WeightType::q5_0, {3, 64}) == 3 * 2 * 22);
    CHECK(bytes_of(WeightType::q4_k, {3, 512}) == 3 * 2 * 144);
    CHECK(bytes_of(WeightType::q5_k, {3, 512}) == 3 * 2 * 176);
    CHECK(bytes_of(WeightType::q6_k, {3, 512}) == 3 * 2 * 210);
    CHECK(bytes_of(WeightType::f16, Shape{}) == 2);  // one number
    CHECK(bytes_of(WeightType::q6_k, {3, 0}) == 0);
    CHECK(bytes_of(WeightType::q8_0, {50257, 768}) == 41009712);  // GPT-2's embedding: 50257 rows
    CHECK(rejection([] {
              (void)bytes_of(WeightType::q8_0, {32, 33});
          }) == "rows of 33 elements do not divide into blocks of 32, which Q8_0 is made of");
    CHECK(contains(rejection([] { (void)bytes_of(WeightType::q4_0, {2, 48}); }), "blocks of 32"));
    CHECK(contains(rejection([] { (void)bytes_of(WeightType::q4_0, Shape{}); }), "rows of 1 el"));
    for (const WeightType type : {WeightType::q4_k, WeightType::q5_k, WeightType::q6_k}) {
        CHECK(contains(rejection([&] {
                           (void)bytes_of(type, {256, 128});
                       }),
                       "rows of 128 elements do not divide into blocks of 256"));
    }
    CHECK(contains(rejection([] { (void)bytes_of(WeightType::f32, {std::int64_t{1} << 61}); }),
                   "takes more bytes than 63 bits can count"));
    CHECK(rejection([] { (void)bytes_of(static_cast<WeightType>(3), {1}); }) ==
          "ggml's type 3 is not read here: F32 (0), F16 (1), Q4_0 (2), Q5_0 (6), Q8_0 (8), "
          "Q4_K (12), Q5_K (13), Q6_K (14) and BF16 (30) are");
}

// blocks.gguf is written by reference.py: random bytes as each type, and what PyPI's gguf makes of
// them. Some scales are subnormal, infinite or NaN.
TEST_CASE("random bytes of each type are decoded bit for bit as PyPI's gguf does",
          "[day06][small]") {
    const MappedFile mapped(tests::file_of_tests("blocks.gguf"));
    const Gguf file(mapped.bytes(), "blocks.gguf");
    int compared = 0, nans = 0;
    for (const WeightType type : weight_types()) {
        if (type == WeightType::f32) continue;
        const std::string name = storage_of(type).name;
        INFO(name);
        const Weight& stored = file.tensor(name).weight;
        REQUIRE((stored.type == type && stored.shape == Shape{2, 512}));
        const View<const float> want = file.tensor(name + ".floats").weight.as_f32();
        const auto same = [&](const float* got) {
            int differ = 0;
            for (std::int64_t i = 0; i < want.size(); ++i, ++compared) {
                const bool nan = std::isnan(want.data[i]);
                nans += nan;
                differ += nan ? !std::isnan(got[i])
                              : std::memcmp(got + i, want.data + i, sizeof(float)) != 0;
            }
            return differ == 0;
        };
        Tensor<float> out({2, 512}), strided({512, 2});
        to_float_cpu(stored, out.view());
        CHECK(same(out.data()));
        to_float_cpu(stored, transpose(strided.view()));
        CHECK((strided(511, 0) == out(0, 511) || std::isnan(out(0, 511))));
        DeviceOut<float> on_device({2, 512});
        to_float_cuda(DeviceWeight(stored).matrix(), on_device.view());
        CHECK(same(on_device.values().data()));
        // The product with x = 1 at one position and 0 elsewhere is that weight. A matrix whose rows
        // are blocks, because a row must be finite.
        const std::int64_t K = storage_of(type).elements, N = 1024 / K;
        const Weight blocks{type, stored.data, {N, K}};
        Tensor<float> x({1, K}), products({1, N});
        int wrong = 0, finite = 0;
        for (std::int64_t k = 0; k < K; ++k) {
            x(0, k) = 1;
            linear_fast(blocks, x.view(), products.view());
            x(0, k) = 0;
            for (std::int64_t n = 0; n < N; ++n) {
                const float* const block = want.data + n * K;
                if (!std::all_of(block, block + K, [](float w) { return std::isfinite(w); })) {
                    continue;
                }
                wrong += products(0, n) != block[k];
                ++finite;
            }
        }
        CHECK((wrong == 0 && finite >= 256));
    }
    CHECK((compared == 8 * 2 * 1024 && nans > 0));
}

TEST_CASE("blocks of 4 to 6 bits by hand, in each sub-block", "[day06][small]") {
    Q4Block small{};
    small.scale = f16(0.5f), small.quants[3] = 0xF0;  // weight 3 is 0 - 8, weight 19 is 15 - 8
    Q5Block five{};
    five.scale = f16(0.5f), five.quants[3] = 0xF0;
    five.high[0] = 0x08, five.high[2] = 0x10;  // of weights 3 and 20
    Q4KBlock k4{};
    k4.scale = f16(0.5f), k4.minimum = f16(0.25f);
    k4.scales[1] = 0x80 | 3;   // scale[1] is 3, and scale[5] begins with bits 10
    k4.scales[5] = 0x40 | 5;   // minimum[1] is 5, and minimum[5] begins with bits 01
    k4.scales[9] = 0x21;       // scale[5] ends with 0001: 33; minimum[5] with 0010: 18
    k4.quants[7] = 0x90;       // weight 32 + 7
    k4.quants[64 + 2] = 0x70;  // weight 160 + 2
    Q5KBlock k5{};
    k5.scale = f16(0.5f), k5.scales[1] = 3, k5.quants[7] = 0x90;
    k5.high[7] = 0x06;  // of weights 32 + 7 and 64 + 7
    k5.scales[2] = 1;
    Q6KBlock k6{};
    k6.scale = f16(0.5f), k6.scales[9] = -2;
    k6.low[64 + 16] = 0x0A, k6.high[32 + 16] = 0x02;  // weight 128 + 16: quant 0x2A
    Tensor<float> out({256});
    const auto decode = [&](WeightType type, const auto& block, std::int64_t K) {
        to_float_cpu({type, reinterpret_cast<const std::byte*>(&block), {K}},
                     slice(out.view(), 0, 0, K));
    };
    decode(WeightType::q4_0, small, 32);
    CHECK((out(3) == -4 && out(19) == 3.5f && out(4) == -4));
    decode(WeightType::q5_0, five, 32);
    CHECK((out(3) == 0 && out(19) == -0.5f && out(20) == 0 && out(4) == -8));
    decode(WeightType::q5_k, k5, 256);
    CHECK((out(7) == 0 && out(39) == 1.5f * 25 && out(71) == 0.5f * 16 && out(38) == 0));
    decode(WeightType::q4_k, k4, 256);
    CHECK((out(0) == 0 && out(32) == -1.25f && out(39) == 1.5f * 9 - 1.25f));
    CHECK((out(160) == -4.5f && out(162) == 16.5f * 7 - 4.5f));
    decode(WeightType::q6_k, k6, 256);
    CHECK((out(0) == 0 && out(144) == -10 && out(145) == 32));
}

TEST_CASE("weights of each type are converted to floats", "[day06][small]") {
    const auto f = distinct<float>({3, 5});
    const auto h = distinct<f16>({3, 5}, 3);
    const auto b = distinct<bf16>({3, 5}, 7);
    const HostOut<float> none({0});
    const auto check = [&](const Weight& w, const auto& values) {
        Tensor<float> want({3, 5});
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 5; ++j) want(i, j) = static_cast<float>(values(i, j));
        }
        HostOut<float> out(column_major({3, 5}));
        to_float_cpu(w, out.view());
        CHECK(out.matches(want));
        HostOut<float> two({2, 5});
        to_float_cpu(rows(w, 1, 3), two.view());
        CHECK(two.matches(rows(want.view(), 1, 3)));
    };
    check(weight_of(WeightType::f32, f, {3, 5}), f);
    check(weight_of(WeightType::f16, h, {3, 5}), h);
    check(weight_of(WeightType::bf16, b, {3, 5}), b);
    Tensor<float> number(Shape{});
    to_float_cpu(weight_of(WeightType::bf16, b, Shape{}), number.view());
    CHECK(number.view()() == static_cast<float>(b(0, 0)));
}

TEST_CASE("Q8_0 weights: matrices, rows of them, and vectors", "[day06][small]") {
    Tensor<Q8Block> blocks({3, 2});
    for (int n = 0; n < 3; ++n) {
        for (int k = 0; k < 64; ++k) {
            blocks(n, k / 32).scale = f16(1.0f + static_cast<float>(n));
            blocks(n, k / 32).quants[k % 32] = static_cast<std::int8_t>(k);
        }
    }
    const Weight matrix = weight_of(WeightType::q8_0, blocks, {3, 64});
    CHECK(matrix.as_q8_0().layout.shape == Shape{3, 2});
    Tensor<float> want({3, 64});
    for (int n = 0; n < 3; ++n) {
        for (int k = 0; k < 64; ++k) want(n, k) = static_cast<float>((n + 1) * k);
    }
    HostOut<float> out({3, 64}), last({1, 64}), vector({192});
    to_float_cpu(matrix, out.view());
    CHECK(out.matches(want));
    to_float_cpu(rows(matrix, 2, 3), last.view());
    CHECK(last.matches(rows(want.view(), 2, 3)));
    to_float_cpu(weight_of(WeightType::q8_0, blocks, {192}), vector.view());
    CHECK(vector.matches(reshape(want.view(), {192})));
}

TEST_CASE("weights reject other types, shapes and alignments", "[day06][small]") {
    const auto f = distinct<float>({3, 5});
    const Weight w = weight_of(WeightType::f32, f, {3, 5});
    CHECK(rejection([&] { (void)w.as_f16(); }) == "weights of type F32 were asked for as F16");
    CHECK(contains(rejection([&] { (void)w.as_q8_0(); }), "F32 were asked for as Q8_0"));
    CHECK(contains(rejection([&] { (void)w.as_bf16(); }), "F32 were asked for as BF16"));
    CHECK(contains(rejection([&] { (void)w.as_q4_0(); }), "F32 were asked for as Q4_0"));
    CHECK(contains(rejection([&] { (void)w.as_q5_0(); }), "F32 were asked for as Q5_0"));
    CHECK(contains(rejection([&] { (void)w.as_q4_k(); }), "F32 were asked for as Q4_K"));
    CHECK(contains(rejection([&] { (void)w.as_q5_k(); }), "F32 were asked for as Q5_K"));
    CHECK(contains(rejection([&] { (void)w.as_q6_k(); }), "F32 were asked for as Q6_K"));
    CHECK(rejection([&] {
              (void)Weight{WeightType::q6_k, w.data + 1, {256}}.as_q6_k();
          }) == "weights of type Q6_K must be at a multiple of 2 bytes");
    const Weight odd{WeightType::f32, w.data + 2, {2}};
    CHECK(rejection([&] { (void)odd.as_f32(); }) ==
          "weights of type F32 must be at a multiple of 4 bytes");
    CHECK(rejection([&] { (void)rows(w, 2, 4); }) == "rows [2, 4) of weights of shape (3, 5)");
    CHECK(contains(rejection([&] { (void)rows(w, -1, 2); }), "rows [-1, 2)"));
    CHECK(contains(rejection([&] { (void)rows(w, 2, 1); }), "rows [2, 1)"));
    CHECK(contains(rejection([&] { (void)rows({w.type, w.data, {15}}, 0, 1); }), "shape (15)"));
    CHECK(rows(w, 3, 3).shape == Shape{0, 5});

    HostOut<float> out({5, 3}), right({3, 5});
    CHECK(rejection([&] { to_float_cpu(w, out.view()); }) ==
          "to_float: the weights have shape (3, 5), but out has shape (5, 3)");
    CHECK(contains(rejection([&] {
                       to_float_cpu({w.type, nullptr, {3, 5}}, right.view());
                   }),
                   "the weights are a null pointer"));
    const View<float> same(right.view().data, Layout({3, 5}, {1, 0}));
    CHECK(contains(rejection([&] { to_float_cpu(w, same); }), "would race"));
    CHECK(out.untouched());
    CHECK(right.untouched());
}
