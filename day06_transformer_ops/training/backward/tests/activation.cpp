// Tests of the activations' backward pass, and of a gate's, against results from outside the code:
// central differences, PyTorch's autograd, limits at infinity; and arguments that only they have.
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.op.hpp"
#include "day06_transformer_ops/training/backward/tests/outside.hpp"
#include "day06_transformer_ops/training/tests/rejections.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

TEST_CASE("activations' gradients match central differences", "[day06][training][small]") {
    for (const Activation what : kActivations) {
        CAPTURE(name(what));
        const Operation op = activate_backward_operation(what, {3, 36});
        CHECK(is_slope(op, "out", "in", [&](const Doubles& in) {
            double sum = 0;
            for (std::int64_t k = 0; k < 108; ++k) {
                sum += in[1].data()[k] * exact_activation(what, in[0].data()[k]);
            }
            return sum;
        }));
    }
}

TEST_CASE("a gate's gradients match central differences by both factors",
          "[day06][training][small]") {
    for (const Activation what : kActivations) {
        CAPTURE(name(what));
        const Operation op = activate_gated_backward_operation(what, {3, 33});
        const auto loss = [&](const Doubles& in) {
            double sum = 0;
            for (std::int64_t k = 0; k < 99; ++k) {
                sum += in[2].data()[k] * exact_activation(what, in[0].data()[k]) * in[1].data()[k];
            }
            return sum;
        };
        CHECK(is_slope(op, "d_gate", "gate", loss));
        CHECK(is_slope(op, "d_in", "in", loss));
    }
}

TEST_CASE("activations' gradients match PyTorch's, also at 0, far from it, and at NaN",
          "[day06][training][small]") {
    const std::vector<double>* const wanted[] = {&relu_dx, &gelu_erf_dx, &gelu_tanh_dx, &silu_dx};
    const auto n = static_cast<std::int64_t>(activation_x.size());
    for (std::size_t i = 0; i < 4; ++i) {
        Operation op = activate_backward_operation(kActivations[i], {n});
        op.operands[0].with(list(activation_x)), op.operands[1].with(list(activation_grad));
        know_golden(op, {*wanted[i]});
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("SwiGLU's gradients match PyTorch's", "[day06][training][small]") {
    Operation op = activate_gated_backward_operation(Activation::silu, {2, 5});
    op.operands[0].with(list(swiglu_gate)), op.operands[1].with(list(swiglu_x));
    op.operands[2].with(list(swiglu_grad));
    know_golden(op, {swiglu_dgate, swiglu_dx});
    CHECK(computes_its_result(op));
}

TEST_CASE("far from 0 and at infinity a slope is its limit; NaN stays",
          "[day06][training][small]") {
    constexpr double kTwice = INFINITY;  // 3.4e38, as a float
    for (const Activation what : kActivations) {
        Operation plain = activate_backward_operation(what, {12}),
                  gated = activate_gated_backward_operation(what, {12});
        const auto check = [&](Operation& op, const std::vector<std::vector<double>>& outputs) {
            op.operands[0].with(list({NAN, INFINITY, -INFINITY, 3.4e38, -3.4e38, 1e19, -1e19, 1e13,
                                      -1e13, 200, -200, 1e-45}));
            op.exact = [outputs](const Inputs&, int) {
                std::vector<Expected> all;
                for (const std::vector<double>& output : outputs) {
                    Expected& want = all.emplace_back(Shape{12});
                    for (std::int64_t k = 0; k < 12; ++k) {
                        const double y = output[static_cast<std::size_t>(k)];
                        want.value(k) = y;
                        want.error(k) = std::isfinite(y) ? 1e-37 + std::fabs(y) * kU : 0;
                    }
                }
                return all;
            };
            CHECK(computes_its_result(op));
        };
        const bool relu = what == Activation::relu;
        const double at_0 = relu ? 2 : 1, below = relu ? 0 : NAN;  // -infinity times 0
        const std::vector<double> slopes = {NAN, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, at_0};
        plain.operands[1].with(all_equal_to(2));
        check(plain, {slopes});
        gated.operands[1].with(all_equal_to(1)), gated.operands[2].with(all_equal_to(2));
        check(gated, {slopes, {NAN, INFINITY, below, kTwice, 0, 2e19, 0, 2e13, 0, 400, 0, 0}});
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

TEST_CASE("an activation's backward pass has no path 'tile', and checks its function",
          "[day06][training][small]") {
    const Operation plain = activate_backward_operation(Activation::gelu_tanh, {3, 5});
    CHECK(contains(
        Caller(plain)(Where::cuda, {.path = static_cast<int>(ActivationPath::tile)}).rejected,
        "activate_backward: the path 'tile' exists only for the forward pass; without a "
        "path the backward pass takes 'one element' or 'vectorized'"));
    const Activation none{4};
    for (const Operation& op : {activate_backward_operation(none, {3, 5}),
                                activate_gated_backward_operation(none, {3, 5})}) {
        CHECK(rejects_as_it_is(
            op, "activation 4 does not exist; it must be one of: relu, gelu_erf, gelu_tanh, silu"));
    }
}

TEST_CASE("a gate's two gradients may be halves of one tensor's rows, but not overlap",
          "[day06][training][small]") {
    Room r[4];
    const Read gate = r[0].of({3, 5}), in = r[1].of({3, 5}), grad = r[2].of({3, 5});
    const Written rows = r[3].of({3, 12});
    const auto rejected = [&](std::int64_t first) {
        return rejection([&] {
            check_activate_gated_backward(gate, in, grad, slice(rows, 1, 0, 5),
                                          slice(rows, 1, first, first + 5));
        });
    };
    for (const std::int64_t first : {5, 6, 7}) CHECK(rejected(first) == "");
    for (const std::int64_t first : {0, 1, 4}) {
        CHECK(contains(rejected(first), "activate_gated_backward: d_gate overlaps d_in"));
    }
}

}  // namespace
