// Weights of four types: sizes, views, rows, and conversion to floats.
#include "day06_transformer_ops/gpt2/weights/weight.hpp"

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"

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
    CHECK(bytes_of(WeightType::q8_0, {50257, 768}) == 41009712);  // GPT-2's embedding: 50257 rows
    CHECK(rejection([] {
              (void)bytes_of(WeightType::q8_0, {32, 33});
          }) == "rows of 33 elements do not divide into blocks of 32, which Q8_0 is made of");
    CHECK(contains(rejection([] { (void)bytes_of(WeightType::f32, {std::int64_t{1} << 61}); }),
                   "takes more bytes than 63 bits can count"));
    CHECK(contains(rejection([] { (void)bytes_of(static_cast<WeightType>(3), {1}); }), "type 3"));
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
