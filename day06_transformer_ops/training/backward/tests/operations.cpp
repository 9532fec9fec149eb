// Tests of the backward passes of activations and the embedding: CPU reference and
// kernels against central differences and PyTorch's autograd, over every element.
#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

// --- activations ---------------------------------------------------------------------------------

constexpr Activation kActivations[] = {Activation::relu, Activation::gelu_erf,
                                       Activation::gelu_tanh, Activation::silu};

double activated_in_double(Activation what, double x) {
    switch (what) {
        case Activation::relu:
            return x < 0 ? 0 : x;
        case Activation::gelu_erf:
            return x / 2 * std::erfc(-x / std::sqrt(2.0));
        case Activation::gelu_tanh:
            return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
        case Activation::silu:
            return x / (1 + std::exp(-x));
    }
    return 0;
}

Bound slopes_bound(Activation what, const Tensor<float>& x, const Tensor<float>& grad) {
    Tensor<Near> near(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const Near g{double{grad.data()[i]}};
        near.data()[i] = g * slope_near(what, double{x.data()[i]}).slope;
    }
    return bound_of(near);
}

void check(Activation what, const Tensor<float>& x, const Tensor<float>& grad,
           const Tensor<double>& want) {
    CAPTURE(name(what));
    const Bound bound = slopes_bound(what, x, grad);
    for (const Layout& layout : some_layouts(x.shape())) {
        CAPTURE(to_string(layout));
        HostOut<float> loop(row_major(x.shape()));
        HostIn<float> hx(x, layout), hg(grad);
        activate_backward_cpu(what, hx.view(), hg.view(), loop.view());
        CHECK(loop.close_to(want, bound, Nans::where_expected));
        DeviceIn<float> dx(x, layout), dg(grad);
        DeviceOut<float> out(layout);
        for (const ActivationPath path : taken<ActivationPath>(
                 {ActivationPath::one_element, ActivationPath::vectorized},
                 choose_activation<float>(dx.view(), dg.view(), out.view()), [&](ActivationPath p) {
                     check_activate_backward(dx.view(), dg.view(), out.view(), p);
                 })) {
            CAPTURE(name(path));
            DeviceOut<float> got(layout);
            activate_backward_cuda(what, dx.view(), dg.view(), got.view(), {.path = path});
            CHECK(got.close_to(want, bound, Nans::where_expected));
            CHECK(dx.unchanged());
            CHECK(dg.unchanged());
            auto in_place = DeviceOut<float>::holding(grad, layout);
            if (choose_activation<float>(dx.view(), in_place.view(), in_place.view()) < path)
                continue;
            activate_backward_cuda(what, dx.view(), in_place.view(), in_place.view(),
                                   {.path = path});
            CHECK(in_place.close_to(want, bound, Nans::where_expected));
        }
    }
}

TEST_CASE("activations' gradients match central differences", "[day06][training][small]") {
    const Tensor<float> x = seeded<float>({3, 36}, 13, -6, 6), grad = random({3, 36}, 14);
    for (const Activation what : kActivations) {
        Tensor<double> at = in_double(x);
        const Tensor<double> want = slopes(at, [&] {
            double sum = 0;
            for (std::int64_t i = 0; i < at.size(); ++i) {
                sum +=
                    static_cast<double>(grad.data()[i]) * activated_in_double(what, at.data()[i]);
            }
            return sum;
        });
        check(what, x, grad, want);
    }
}

TEST_CASE("activations' gradients match PyTorch's, also at 0, far from it, and at NaN",
          "[day06][training][small]") {
    const std::vector<double>* const wanted[] = {&relu_dx, &gelu_erf_dx, &gelu_tanh_dx, &silu_dx};
    const auto n = static_cast<std::int64_t>(activation_x.size());
    for (int i = 0; i < 4; ++i) {
        check(kActivations[i], floats({n}, activation_x), floats({n}, activation_grad),
              doubles({n}, *wanted[i]));
    }
}

TEST_CASE("activations' backward pass: in, grad and out with different pitches, by every path",
          "[day06][training][small]") {
    const Shape shape = {5, 36};
    const Layout of_x(shape, {48, 1}), of_grad(shape, {36, 1}), of_out(shape, {40, 1});
    const Tensor<float> x = seeded<float>(shape, 15, -6, 6), grad = random(shape, 16);
    HostOut<float> loop(shape);
    activate_backward_cpu(Activation::gelu_tanh, HostIn<float>(x).view(),
                          HostIn<float>(grad).view(), loop.view());
    const Tensor<double> want = in_double(loop.values());
    const Bound once = slopes_bound(Activation::gelu_tanh, x, grad);
    const Bound twice = [&](const Index& at) { return 2 * once(at); };  // two floats may differ so
    DeviceIn<float> dx(x, of_x), dg(grad, of_grad);
    for (const ActivationPath path : {ActivationPath::one_element, ActivationPath::vectorized}) {
        CAPTURE(name(path));
        DeviceOut<float> got(of_out);
        activate_backward_cuda(Activation::gelu_tanh, dx.view(), dg.view(), got.view(),
                               {.path = path});
        CHECK(got.close_to(want, twice));
    }
}

TEST_CASE("far from 0 and at infinity a slope is its limit; NaN stays",
          "[day06][training][small]") {
    const Tensor<float> x = tensor_of<float>({NAN, INFINITY, -INFINITY, 3.4e38, -3.4e38, 1e19,
                                              -1e19, 1e13, -1e13, 200, -200, 1e-45}),
                        twos = tensor_of<float>(std::vector<double>(12, 2)),
                        ones = tensor_of<float>(std::vector<double>(12, 1));
    DeviceIn<float> dx(x), d_twos(twos), d_ones(ones);
    for (const Activation what :
         {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu}) {
        CAPTURE(name(what));
        const double at_0 = what == Activation::relu ? 2 : 1;
        const Tensor<double> want({12}, {NAN, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, at_0});
        HostOut<float> loop({12}), d_gate({12}), d_in({12});
        activate_backward_cpu(what, x.view(), twos.view(), loop.view());
        CHECK(loop.close_to(want, 1e-37, Nans::where_expected));
        activate_gated_backward_cpu(what, x.view(), ones.view(), twos.view(), d_gate.view(),
                                    d_in.view());
        CHECK(d_gate.close_to(want, 1e-37, Nans::where_expected));
        for (const ActivationBackwardPath path :
             {ActivationBackwardPath::one_element, ActivationBackwardPath::vectorized}) {
            CAPTURE(name(path));
            DeviceOut<float> got({12});
            activate_backward_cuda(what, dx.view(), d_twos.view(), got.view(), {.path = path});
            CHECK(got.close_to(want, 1e-37, Nans::where_expected));
        }
        DeviceOut<float> got_gate({12}), got_in({12});
        activate_gated_backward_cuda(what, dx.view(), d_ones.view(), d_twos.view(), got_gate.view(),
                                     got_in.view());
        CHECK(got_gate.close_to(want, 1e-37, Nans::where_expected));
    }
}

TEST_CASE("a slope's bound rejects 1 - s in place of 1 / (1 + exp(v))",
          "[day06][training][small]") {
    const float x = 4, v = 1.5957691f * (x + 0.044715f * x * x * x);
    const float dv = 1.5957691f * (1 + 0.134145f * x * x), s = 1 / (1 + std::exp(-v));
    const Near near = slope_near(Activation::gelu_tanh, double{x}).slope;
    const auto off = [&](float got) { return std::fabs(double{got} - near.value); };
    CHECK(off(slope(Activation::gelu_tanh, x)) <= near.off);
    CHECK(off(s + x * s * (1 - s) * dv) > near.off);
    // And 1 - erf in place of erfc, below 0.
    const Near below = slope_near(Activation::gelu_erf, -4).slope;
    const float density = -4 * 0.39894228f * std::exp(-8.0f);
    CHECK(std::fabs(double{slope(Activation::gelu_erf, -4)} - below.value) <= below.off);
    const float erf = 0.5f * (1 - std::erf(4 * 0.70710678f)) + density;
    CHECK(std::fabs(double{erf} - below.value) > below.off);
}

// --- embedding -----------------------------------------------------------------------------------

constexpr EmbedBackwardPath kEmbedPaths[] = {EmbedBackwardPath::column_per_thread,
                                             EmbedBackwardPath::atomics,
                                             EmbedBackwardPath::word_a_block};

Tensor<double> absolute(const Tensor<float>& x) {
    Tensor<double> sizes = in_double(x);
    for (std::int64_t i = 0; i < sizes.size(); ++i) sizes.data()[i] = std::fabs(sizes.data()[i]);
    return sizes;
}

TEST_CASE("embed's backward pass sums repeated tokens, in every layout, by all paths",
          "[day06][training][small]") {
    // 2 x 5 tokens of 4 words: one never, the others repeatedly.
    const Tensor<std::int64_t> ids({2, 5}, {1, 1, 3, 1, 0, 3, 1, 1, 0, 1}),
        places({5}, {0, 1, 2, 3, 4});
    const Tensor<float> grad = random({2, 5, 3}, 25);
    const Tensor<float> tokens = there_before({4, 3}), positions = there_before({6, 3});
    Tensor<double> want = in_double(tokens), at = in_double(positions);
    for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t t = 0; t < 5; ++t) {
            for (std::int64_t c = 0; c < 3; ++c) {
                want(ids(b, t), c) += static_cast<double>(grad(b, t, c));
                at(t, c) += static_cast<double>(grad(b, t, c));
            }
        }
    }
    // A word that occurs r times has r additions, and each sum is rounded.
    Tensor<double> of_words = absolute(tokens), of_places = absolute(positions);
    for (std::int64_t r = 0; r < 10; ++r) {
        for (std::int64_t c = 0; c < 3; ++c) {
            const double size = std::fabs(double{grad(r / 5, r % 5, c)});
            of_words(ids(r / 5, r % 5), c) += size, of_places(r % 5, c) += size;
        }
    }
    const Bound in_tokens = rounded(of_words, 6), in_positions = rounded(of_places, 2);
    for (std::size_t i = 0; i < 3; ++i) {
        const Layout g = some_layouts(grad.shape())[i], table = some_layouts({4, 3})[i];
        HostIn<float> hg(grad, g);
        auto loop = HostOut<float>::holding(tokens, table),
             loop_at = HostOut<float>::holding(positions);
        embed_backward_cpu(hg.view(), ids.view(), places.view(), {loop.view(), loop_at.view()});
        CHECK(loop.close_to(want, in_tokens));
        CHECK(loop_at.close_to(at, in_positions));
        for (const auto path : kEmbedPaths) {
            CAPTURE(name(path), to_string(g));
            DeviceIn<float> dg(grad, g);
            DeviceIn<std::int64_t> di(ids), dp(places);
            auto got = DeviceOut<float>::holding(tokens, table);
            auto got_at = DeviceOut<float>::holding(positions);
            embed_backward_cuda(dg.view(), di.view(), dp.view(), {got.view(), got_at.view()},
                                {.path = path});
            CHECK(got.close_to(want, in_tokens));
            CHECK(got_at.close_to(at, in_positions));
            if (path != EmbedBackwardPath::atomics) CHECK(got.matches(loop));
            auto alone = DeviceOut<float>::holding(tokens, table);  // without positions
            embed_backward_cuda(dg.view(), di.view(), {}, {alone.view()}, {.path = path});
            CHECK(alone.close_to(want, in_tokens));
            CHECK(dg.unchanged());
        }
    }
}

TEST_CASE("the embedding's backward pass: one token of one element, and none",
          "[day06][training][small]") {
    for (const std::int64_t tokens : {1, 0}) {
        const Tensor<std::int64_t> ids({tokens});
        Tensor<float> grad({tokens, 1});
        if (tokens == 1) grad(0, 0) = 3;
        const Tensor<float> before({2, 1}, {10, 20});
        const Tensor<float> want({2, 1}, {tokens == 1 ? 13.0f : 10.0f, 20});
        auto loop = HostOut<float>::holding(before);
        embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()});
        CHECK(loop.matches(want));
        DeviceIn<float> dg(grad);
        DeviceIn<std::int64_t> di(ids);
        for (const auto path : {EmbedBackwardPath::column_per_thread, EmbedBackwardPath::atomics}) {
            CAPTURE(tokens, name(path));
            auto got = DeviceOut<float>::holding(before);
            embed_backward_cuda(dg.view(), di.view(), {}, {got.view()}, {.path = path});
            CHECK(got.matches(want));
        }
    }
}

TEST_CASE("the embedding's gradients match PyTorch's", "[day06][training][small]") {
    const Tensor<std::int64_t> ids({6}, {2, 0, 2, 2, 1, 0});
    const Tensor<float> grad = floats({6, 2}, embedding_grad);
    const Tensor<double> want = doubles({4, 2}, embedding_dtokens);
    auto loop = HostOut<float>::holding(Tensor<float>({4, 2}, {9, 9, 9, 9, 9, 9, 9, 9}));
    Tensor<float> nines = loop.values();
    embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()});
    CHECK(loop.close_to(sum_of(nines, want), 1e-6 * 16));
}

TEST_CASE("'word a block' adds in token order, so its bits are the CPU reference's",
          "[day06][training][small]") {
    const auto check = [](const Shape& tokens, std::int64_t C) {
        Tensor<std::int64_t> ids(tokens);
        for (std::int64_t r = 0; r < ids.size(); ++r) ids.data()[r] = r % 3 == 0 ? 5 : r * r % 41;
        Shape of_grad = tokens;
        of_grad[of_grad.rank++] = C;
        const Tensor<float> grad = random(of_grad, 27), before = there_before({41, C});
        auto loop = HostOut<float>::holding(before);
        embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()});
        DeviceIn<float> dg(grad);
        DeviceIn<std::int64_t> di(ids);
        auto got = DeviceOut<float>::holding(before);
        embed_backward_cuda(dg.view(), di.view(), {}, {got.view()});
        CHECK(last_kernel() == "embed_word_a_block_kernel");
        CHECK(got.matches(loop));
    };
    check({601}, 3);  // 512 at a time
    check({2, 2, 5}, 515);
}

TEST_CASE("an id out of range: the CPU reference rejects it, the kernels ignore it",
          "[day06][training][small]") {
    const Tensor<std::int64_t> ids({3}, {0, -1, 2});
    const Tensor<float> grad = random({3, 2}, 26), before = there_before({2, 2});
    auto loop = HostOut<float>::holding(before);
    CHECK(
        contains(rejection([&] { embed_backward_cpu(grad.view(), ids.view(), {}, {loop.view()}); }),
                 "ids has -1 at (1), but the table has 2 rows"));
    CHECK(loop.matches(before));
    Tensor<double> want = in_double(before);
    for (std::int64_t c = 0; c < 2; ++c) want(0, c) += static_cast<double>(grad(0, c));
    DeviceIn<float> dg(grad);
    DeviceIn<std::int64_t> di(ids);
    for (const auto path : kEmbedPaths) {
        auto got = DeviceOut<float>::holding(before);
        embed_backward_cuda(dg.view(), di.view(), {}, {got.view()}, {.path = path});
        CHECK(got.close_to(want, 1e-6));
    }
}

}  // namespace
