// The ways back of what Llama has and GPT-2 has not: RMS norm, and SwiGLU's gate. Loop and port
// against central differences.
#include "day06_transformer_ops/training/activation_backward.hpp"
#include "day06_transformer_ops/training/rms_norm_backward.hpp"
#include "day06_transformer_ops/training/tests/slopes.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

Tensor<float> random(const Shape& shape, std::uint64_t seed) {
    return seeded<float>(shape, seed, -2, 2);
}

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

}  // namespace

TEST_CASE("RMS norm's way back: central differences", "[day06][training][small]") {
    constexpr float kEps = 0.125f;
    for (const std::int64_t C : {1, 3, 8, 130}) {
        const std::int64_t rows = C == 3 ? 150 : 5;  // more than a block has threads
        CAPTURE(rows, C);
        const Tensor<float> x = random({rows, C}, 5), weight = random({C}, 6),
                            grad = random({rows, C}, 7), before = there_before({C});
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
        const Tensor<double> want = slopes(x2, all);
        const Tensor<double> d_weight = sum_of(before, slopes(w2, all));
        const Tensor<double> d_bias = sum_of(before, slopes(b2, all));
        for (const Layout& layout : some_layouts({rows, C})) {
            CAPTURE(to_string(layout));
            HostIn<float> in(x, layout), g(grad, layout);
            HostOut<float> dx(layout);
            auto dw = HostOut<float>::holding(before), db = HostOut<float>::holding(before);
            rms_norm_backward_cpu(in.view(), {weight.view(), {}, kEps}, g.view(), dx.view(),
                                  {dw.view(), db.view()});
            CHECK(dx.close_to(want, bound_of(want)));
            CHECK(dw.close_to(d_weight, bound_of(d_weight)));
            CHECK(db.close_to(d_bias, bound_of(d_bias)));

            DeviceIn<float> there(x, layout), slope(grad, layout), w(weight);
            DeviceOut<float> d_in(layout);
            auto of_w = DeviceOut<float>::holding(before, Layout({C}, {2}));
            auto of_b = DeviceOut<float>::holding(before, Layout({C}, {-1}));
            auto memory = room_of(rms_norm_backward_workspace_bytes(there.view()));
            rms_norm_backward_cuda(there.view(), {w.view(), {}, kEps}, slope.view(), d_in.view(),
                                   {of_w.view(), of_b.view()}, memory);
            CHECK(d_in.close_to(want, bound_of(want)));
            CHECK(of_w.close_to(d_weight, bound_of(d_weight)));
            CHECK(of_b.close_to(d_bias, bound_of(d_bias)));
            CHECK(there.unchanged());
            CHECK(slope.unchanged());
        }
    }
}

TEST_CASE("RMS norm's way back: no weight, nothing to be added to, no workspace",
          "[day06][training][small]") {
    const Tensor<float> x = random({2, 3}, 1), grad = random({2, 3}, 2), ones({3}, {1, 1, 1});
    HostOut<float> want({2, 3}), bare({2, 3});
    rms_norm_backward_cpu(x.view(), {ones.view(), {}, 0.5f}, grad.view(), want.view(), {});
    rms_norm_backward_cpu(x.view(), {{}, {}, 0.5f}, grad.view(), bare.view(), {});
    CHECK(bare.matches(want.values()));
    DeviceIn<float> in(x), g(grad);
    DeviceOut<float> got({2, 3});
    CHECK(contains(
        refusal([&] {
            rms_norm_backward_cuda(in.view(), {{}, {}, 0.5f}, g.view(), got.view(), {}, {});
        }),
        "rms_norm_backward: a workspace of 0 bytes"));
    CHECK(got.untouched());
    CHECK(contains(
        refusal([&] { rms_norm_backward_cpu(x.view(), {}, ones.view(), bare.view(), {}); }),
        "rms_norm_backward"));
}

TEST_CASE("a gate's way back: central differences by both factors", "[day06][training][small]") {
    for (const Activation what :
         {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu}) {
        CAPTURE(name(what));
        const Tensor<float> both = random({5, 66}, 3), grad = random({5, 33}, 4);
        const auto half = [](const auto& v, std::int64_t i) {
            return slice(v, 1, 33 * i, 33 * (i + 1));
        };
        Tensor<double> x = in_double(both);
        const Tensor<double> want = slopes(x, [&] {
            double sum = 0;
            for (std::int64_t k = 0; k < grad.size(); ++k) {
                const Index at = unravel(k, grad.shape());
                sum += double{grad(at)} * gated(what, half(x.view(), 0)(at), half(x.view(), 1)(at));
            }
            return sum;
        });
        // The inputs are halves of one tensor's rows.
        HostIn<float> in(both);
        HostOut<float> d_gate({5, 33}), d_in({5, 33});
        activate_gated_backward_cpu(what, half(in.view(), 0), half(in.view(), 1), grad.view(),
                                    d_gate.view(), d_in.view());
        CHECK(d_gate.close_to(half(want.view(), 0), bound_of(want)));
        CHECK(d_in.close_to(half(want.view(), 1), bound_of(want)));
        DeviceIn<float> there(both), slope(grad);
        DeviceOut<float> gate_there({5, 33}), in_there({5, 33});
        activate_gated_backward_cuda(what, half(there.view(), 0), half(there.view(), 1),
                                     slope.view(), gate_there.view(), in_there.view());
        CHECK(gate_there.close_to(half(want.view(), 0), bound_of(want)));
        CHECK(in_there.close_to(half(want.view(), 1), bound_of(want)));
        CHECK(there.unchanged());
    }
    Tensor<float> a({2, 3}), b({2, 3}), c({3, 2}), out({2, 3});
    CHECK(refusal([&] {
              activate_gated_backward_cpu(Activation::silu, a.view(), b.view(), c.view(),
                                          out.view(), out.view());
          }) == "activate_gated_backward: grad has shape (3, 2), but must have (2, 3)");
    CHECK(refusal([&] {
              activate_gated_backward_cpu(Activation::silu, a.view(), a.view(), a.view(),
                                          out.view(), out.view());
          }) == "activate_gated_backward: d_gate overlaps d_in, which is written");
    CHECK(refusal([&] {
              activate_gated_backward_cpu(Activation::silu, a.view(), b.view(), a.view(),
                                          out.view(), b.view());
          }) == "activate_gated_backward: in overlaps d_in, which is written");
}
