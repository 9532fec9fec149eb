// Tests of the backward passes that Llama has and GPT-2 does not: RMS norm, and SwiGLU's gate. CPU
// reference and kernels against central differences.
#include "day06_transformer_ops/training/backward/activation_backward.hpp"
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

TEST_CASE("SwiGLU's gradients match PyTorch's", "[day06][training][small]") {
    const Shape shape = {2, 5};
    check_gated(Activation::silu, floats(shape, swiglu_gate), floats(shape, swiglu_x),
                floats(shape, swiglu_grad),
                {doubles(shape, swiglu_dgate), doubles(shape, swiglu_dx)});
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
