// Tests of the backward passes that Llama has and GPT-2 does not: RMS norm, and SwiGLU's gate. CPU
// reference and kernels against central differences.
#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

double gated(Activation what, double gate, double in) {
    const double u = std::sqrt(2 / M_PI) * (gate + 0.044715 * gate * gate * gate);
    switch (what) {
        case Activation::relu:
            return gate > 0 ? gate * in : 0;
        case Activation::gelu_erf:
            return 0.5 * gate * std::erfc(-gate / std::sqrt(2.0)) * in;
        case Activation::gelu_tanh:
            return 0.5 * gate * (1 + std::tanh(u)) * in;
        case Activation::silu:
            return gate / (1 + std::exp(-gate)) * in;
    }
    return 0;
}

// CPU reference and CUDA version; in, grad and d_in each have a different layout, three per
// operand. Then all are row-major: with whole vectors, the kernel copies the next row ahead.
void check_rms(const Tensor<float>& x, const Tensor<float>& weight, float eps,
               const Tensor<float>& grad, const NormSlopes& want) {
    const std::int64_t C = weight.size();
    const Tensor<float> before = there_before({C});
    const Tensor<double> d_weight = sum_of(before, want.weight);
    const Tensor<double> d_bias = sum_of(before, want.bias);
    const NormNear near = norm_near(x, weight, eps, grad, before, false);
    const std::vector<Layout> layouts = some_layouts(x.shape());
    const Layout twos({C}, {2}), backwards({C}, {-1});
    const Layout even = row_major(x.shape());
    for (std::size_t i = 0; i < 4; ++i) {
        const bool alike = i == 3;
        const Layout &of_x = alike ? even : layouts[i],
                     &of_grad = alike ? even : layouts[(i + 1) % 3],
                     &of_dx = alike ? even : layouts[(i + 2) % 3];
        CAPTURE(to_string(of_x), to_string(of_grad), to_string(of_dx));
        const auto check = [&](auto& in, auto& g, auto& w, auto& dx, auto& dw, auto& db,
                               const auto& way_back) {
            way_back(in.view(), NormParameters{w.view(), {}, eps}, g.view(), dx.view(),
                     NormGradients{dw.view(), db.view()});
            CHECK(dx.close_to(want.in, bound_of(near.in)));
            CHECK(dw.close_to(d_weight, bound_of(near.weight)));
            CHECK(db.close_to(d_bias, bound_of(near.bias)));
            CHECK(in.unchanged());
            CHECK(g.unchanged());
        };
        HostIn<float> in(x, of_x), g(grad, of_grad), w(weight, backwards);
        HostOut<float> dx(of_dx);
        auto dw = HostOut<float>::holding(before, twos);
        auto db = HostOut<float>::holding(before, backwards);
        check(in, g, w, dx, dw, db, rms_norm_backward_cpu);

        DeviceIn<float> in2(x, of_x), g2(grad, of_grad), w2(weight, twos);
        DeviceOut<float> dx2(of_dx);
        auto dw2 = DeviceOut<float>::holding(before, twos);
        auto db2 = DeviceOut<float>::holding(before, backwards);
        auto memory = room_of(rms_norm_backward_workspace_bytes(in2.view()));
        check(in2, g2, w2, dx2, dw2, db2,
              [&](const auto&... operands) { rms_norm_backward_cuda(operands..., memory); });
        if (alike && C % 4 == 0) CHECK(last_kernel() == "add_parts_kernel");
    }
}

struct GatedSlopes {
    Tensor<double> gate, in;
};

// CPU reference and CUDA version. The inputs are halves of one tensor's rows; grad, d_gate and d_in
// each have a different layout, three per operand.
void check_gated(Activation what, const Tensor<float>& gate, const Tensor<float>& in,
                 const Tensor<float>& grad, const GatedSlopes& want) {
    const std::int64_t N = gate.shape()[0], C = gate.shape()[1];
    const auto half = [&](const auto& v, std::int64_t i) {
        return slice(v, 1, C * i, C * (i + 1));
    };
    Tensor<float> both({N, 2 * C});
    for (std::int64_t k = 0; k < gate.size(); ++k) {
        const Index at = unravel(k, gate.shape());
        half(both.view(), 0)(at) = gate(at);
        half(both.view(), 1)(at) = in(at);
    }
    Tensor<Near> near_gate(gate.shape()), near_in(gate.shape());
    for (std::int64_t k = 0; k < gate.size(); ++k) {
        const Near g{double{grad.data()[k]}}, f{double{gate.data()[k]}};
        const Slope slope = slope_near(what, f.value);
        near_gate.data()[k] = g * Near{double{in.data()[k]}} * slope.slope;
        near_in.data()[k] = g * (f * slope.factor);
    }
    const std::vector<Layout> layouts = some_layouts(gate.shape());
    for (std::size_t i = 0; i < 3; ++i) {
        const Layout &of_grad = layouts[i], &of_gate = layouts[(i + 1) % 3],
                     &of_in = layouts[(i + 2) % 3];
        CAPTURE(to_string(of_grad), to_string(of_gate), to_string(of_in));
        const auto check = [&](auto& x, auto& g, auto& d_gate, auto& d_in, const auto& way_back) {
            way_back(what, half(x.view(), 0), half(x.view(), 1), g.view(), d_gate.view(),
                     d_in.view());
            CHECK(d_gate.close_to(want.gate, bound_of(near_gate)));
            CHECK(d_in.close_to(want.in, bound_of(near_in)));
            CHECK(x.unchanged());
            CHECK(g.unchanged());
        };
        HostIn<float> x(both), g(grad, of_grad);
        HostOut<float> d_gate(of_gate), d_in(of_in);
        check(x, g, d_gate, d_in, activate_gated_backward_cpu);
        DeviceIn<float> x2(both), g2(grad, of_grad);
        DeviceOut<float> d_gate2(of_gate), d_in2(of_in);
        check(x2, g2, d_gate2, d_in2,
              [](const auto&... operands) { activate_gated_backward_cuda(operands...); });
    }
}

}  // namespace

TEST_CASE("RMS norm's gradients match central differences", "[day06][training][small]") {
    constexpr float kEps = 0.125f;
    for (const std::int64_t C : {1, 3, 8, 130, 132}) {
        const std::int64_t rows = C == 3 ? 150 : 5;  // more rows than a block has threads
        CAPTURE(rows, C);
        const Tensor<float> x = random({rows, C}, 5), weight = random({C}, 6),
                            grad = random({rows, C}, 7);
        Tensor<double> x2 = in_double(x), w2 = in_double(weight), b2({C});
        const auto all = [&] {
            double sum = 0;
            for (std::int64_t r = 0; r < rows; ++r) {
                double squares = 0;
                for (std::int64_t i = 0; i < C; ++i) squares += x2(r, i) * x2(r, i) / double(C);
                const double scale = 1 / std::sqrt(squares + double{kEps});
                for (std::int64_t i = 0; i < C; ++i) {
                    sum += double{grad(r, i)} * (x2(r, i) * scale * w2(i) + b2(i));
                }
            }
            return sum;
        };
        check_rms(x, weight, kEps, grad, {slopes(x2, all), slopes(w2, all), slopes(b2, all)});
    }
}

TEST_CASE("RMS norm's backward pass: more rows than warps, and rows as long as a model's",
          "[day06][training][small]") {
    for (const Shape& shape : {Shape{2057, 8}, Shape{3, 768}, Shape{3, 1024}}) {
        CAPTURE(to_string(shape));
        const Tensor<float> x = random(shape, 5), weight = random({shape[1]}, 6),
                            grad = random(shape, 7);
        check_rms(x, weight, 0.125f, grad, norm_slopes(x, weight, 0.125f, grad, false));
    }
}

TEST_CASE("RMS norm's gradients, and SwiGLU's, match PyTorch's", "[day06][training][small]") {
    check_rms(floats({3, 6}, rms_norm_x), floats({6}, rms_norm_weight), 1e-5f,
              floats({3, 6}, rms_norm_grad),
              {doubles({3, 6}, rms_norm_dx), doubles({6}, rms_norm_dweight),
               doubles({6}, rms_norm_dbias)});
    const Shape shape = {2, 5};
    check_gated(Activation::silu, floats(shape, swiglu_gate), floats(shape, swiglu_x),
                floats(shape, swiglu_grad),
                {doubles(shape, swiglu_dgate), doubles(shape, swiglu_dx)});
}

TEST_CASE("RMS norm's backward pass skips gradients of weight or bias that are not requested",
          "[day06][training][small]") {
    for (const std::int64_t C : {3, 4}) {  // 4: whole vectors
        CAPTURE(C);
        const Tensor<float> x = random({5, C}, 1), grad = random({5, C}, 2),
                            weight = random({C}, 3);
        const NormParameters p = {weight.view(), {}, 0.5f};
        HostOut<float> d_x({5, C});
        auto d_w = HostOut<float>::holding(there_before({C}));
        auto d_b = HostOut<float>::holding(there_before({C}));
        rms_norm_backward_cpu(x.view(), p, grad.view(), d_x.view(), {d_w.view(), d_b.view()});
        const NormNear bounds = norm_near(x, weight, 0.5f, grad, there_before({C}), false);
        for (const bool of_weight : {false, true}) {
            for (const bool of_bias : {false, true}) {
                CAPTURE(of_weight, of_bias);
                HostOut<float> d_in({5, C});
                auto dw = HostOut<float>::holding(there_before({C}));
                auto db = HostOut<float>::holding(there_before({C}));
                rms_norm_backward_cpu(
                    x.view(), p, grad.view(), d_in.view(),
                    {of_weight ? dw.view() : View<float>{}, of_bias ? db.view() : View<float>{}});
                const Tensor<float> nothing = there_before({C});
                CHECK(d_in.matches(d_x.values()));
                CHECK(dw.matches(of_weight ? d_w.values() : nothing));
                CHECK(db.matches(of_bias ? d_b.values() : nothing));

                DeviceIn<float> in(x), g(grad), w(weight);
                DeviceOut<float> in_there({5, C});
                auto w_there = DeviceOut<float>::holding(there_before({C}));
                auto b_there = DeviceOut<float>::holding(there_before({C}));
                auto memory = room_of(rms_norm_backward_workspace_bytes(in.view()));
                rms_norm_backward_cuda(in.view(), {w.view(), {}, 0.5f}, g.view(), in_there.view(),
                                       {of_weight ? w_there.view() : View<float>{},
                                        of_bias ? b_there.view() : View<float>{}},
                                       memory);
                const auto near = [](const DeviceOut<float>& got, const Tensor<float>& want,
                                     const Tensor<Near>& of) {
                    const auto once = bound_of(of);  // two floats may differ by twice as much
                    return got.close_to(want, [&](const Index& at) { return 2 * once(at); });
                };
                CHECK(near(in_there, d_x.values(), bounds.in));
                CHECK(near(w_there, of_weight ? d_w.values() : nothing, bounds.weight));
                CHECK(near(b_there, of_bias ? d_b.values() : nothing, bounds.bias));
            }
        }
    }
}

TEST_CASE("RMS norm's backward pass: no weight, no parameter gradients, no workspace",
          "[day06][training][small]") {
    const Tensor<float> x = random({2, 3}, 1), grad = random({2, 3}, 2), ones({3}, {1, 1, 1});
    HostOut<float> want({2, 3}), bare({2, 3});
    rms_norm_backward_cpu(x.view(), {ones.view(), {}, 0.5f}, grad.view(), want.view(), {});
    rms_norm_backward_cpu(x.view(), {{}, {}, 0.5f}, grad.view(), bare.view(), {});
    CHECK(bare.matches(want.values()));
    DeviceIn<float> in(x), g(grad);
    DeviceOut<float> got({2, 3});
    CHECK(contains(
        rejection([&] {
            rms_norm_backward_cuda(in.view(), {{}, {}, 0.5f}, g.view(), got.view(), {}, {});
        }),
        "rms_norm_backward: a workspace of 0 bytes"));
    CHECK(got.untouched());
    for (const std::int64_t C : {3, 4}) {  // 4: whole vectors
        CAPTURE(C);
        const Tensor<float> of_x = random({5, C}, 1), of_grad = random({5, C}, 2),
                            one = seeded<float>({C}, 3, 1, 1);
        DeviceIn<float> x2(of_x), g2(of_grad);
        DeviceOut<float> d_x({5, C});
        auto memory = room_of(rms_norm_backward_workspace_bytes(x2.view()));
        rms_norm_backward_cuda(x2.view(), {{}, {}, 0.5f}, g2.view(), d_x.view(), {}, memory);
        CHECK(d_x.close_to(
            norm_slopes(of_x, one, 0.5f, of_grad, false).in,
            bound_of(norm_near(of_x, one, 0.5f, of_grad, Tensor<float>({C}), false).in)));
    }
    CHECK(contains(
        rejection([&] { rms_norm_backward_cpu(x.view(), {}, ones.view(), bare.view(), {}); }),
        "rms_norm_backward"));
}

TEST_CASE("a gate's gradients match central differences by both factors",
          "[day06][training][small]") {
    for (const Activation what :
         {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu}) {
        CAPTURE(name(what));
        const Shape shape = {9, 33};  // more than a block of threads
        const Tensor<float> gate = random(shape, 3), in = random(shape, 8), grad = random(shape, 4);
        Tensor<double> gate2 = in_double(gate), in2 = in_double(in);
        const auto all = [&] {
            double sum = 0;
            for (std::int64_t k = 0; k < grad.size(); ++k) {
                const Index at = unravel(k, shape);
                sum += double{grad(at)} * gated(what, gate2(at), in2(at));
            }
            return sum;
        };
        check_gated(what, gate, in, grad, {slopes(gate2, all), slopes(in2, all)});
    }
}
