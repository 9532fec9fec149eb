/// @file
/// Test descriptors of the activations' backward pass (common/testing/operation/operation.hpp).
#pragma once

#include "common/testing/operation/visit.hpp"
#include "day06_transformer_ops/activation/activation.op.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

namespace sixdays::day06_transformer_ops {

/// The factor of x, and the derivative of the activation: activation_backward.hpp.
struct Slope {
    Near factor, slope;
};
inline Slope slope_near(Activation what, double at) {
    const Near x{at}, one{1};
    // Of x / (1 + exp(-v)), with dv the derivative of v.
    const auto times_sigmoid = [&](const Near& v, const Near& dv) -> Slope {
        const Near factor = one / (one + exp_of({-v.value, v.off}));
        const Near rest = one / (one + exp_of(v));
        return {factor, factor + x * factor * rest * dv};
    };
    switch (what) {
        case Activation::relu: {
            const Near step{at > 0 ? 1.0 : at <= 0 ? 0.0 : at};
            return {step, step};
        }
        case Activation::gelu_erf: {
            const Near factor = Near{0.5} * erfc_of(x * constant(-std::sqrt(0.5)));
            const Near density = constant(1 / std::sqrt(2 * M_PI)) * exp_of(Near{-0.5} * x * x);
            return {factor, factor + x * density};
        }
        case Activation::gelu_tanh: {
            const Near twice = constant(2 * std::sqrt(2 / M_PI));
            return times_sigmoid(twice * (x + constant(0.044715) * x * x * x),
                                 twice * (one + constant(3 * 0.044715) * x * x));
        }
        case Activation::silu:
            return times_sigmoid(x, one);
    }
    return {{NAN}, {NAN}};  // a value without a formula fails every comparison
}

/// Operands: in, grad, out.
template <class T = float>
testing::Operation activate_backward_operation(Activation what, const Shape& shape) {
    using namespace testing;
    Operation op{
        "activate_backward",
        {reads<T>("in", shape).with(taken_from(seeded<float>(shape, 13, -6, 6))),
         reads<T>("grad", shape).with(taken_from(random(shape, 14))), writes<T>("out", shape)}};
    op.in_place = {{"in", "out"}, {"grad", "out"}};
    op.cpu = [=](const Call& c) {
        activate_backward_cpu<T>(what, c.in<T>(0), c.in<T>(1), c.out<T>(2));
    };
    op.cuda = [=](const Call& c) {
        activate_backward_cuda<T>(what, c.in<T>(0), c.in<T>(1), c.out<T>(2),
                                  c.how<ActivationBackwardPath>());
    };
    op.exact = [=](const Inputs& inputs, int) {
        Tensor<Near> all(shape);
        for (std::int64_t k = 0; k < all.size(); ++k) {
            all.data()[k] =
                Near{inputs[1]->data()[k]} * slope_near(what, inputs[0]->data()[k]).slope;
        }
        return std::vector{expected<T>(all)};
    };
    const bool empty = size(shape) == 0;
    const auto has_vectors = [=](const Call& c) {
        return empty || visit({c.arguments[2], c.arguments[0], c.arguments[1]}, sizeof(T), false)
                            .all_have_groups(16);
    };
    op.takes(ActivationPath::one_element, "activate_backward_kernel");
    op.takes(ActivationPath::vectorized, "activation_vectorized_kernel", has_vectors);
    op.path(ActivationPath::tile).accepts = [](const Call&) { return false; };
    op.not_taken = {"tile"};
    op.best = [=](const Call& c) {
        return static_cast<int>(has_vectors(c) ? ActivationPath::vectorized
                                               : ActivationPath::one_element);
    };
    return op;
}

/// Operands: gate, in, grad, d_gate, d_in.
inline testing::Operation activate_gated_backward_operation(Activation what, const Shape& shape) {
    using namespace testing;
    Operation op{"activate_gated_backward",
                 {reads<float>("gate", shape).with(taken_from(seeded<float>(shape, 13, -6, 6))),
                  reads<float>("in", shape).with(taken_from(random(shape, 8))),
                  reads<float>("grad", shape).with(taken_from(random(shape, 4))),
                  writes<float>("d_gate", shape), writes<float>("d_in", shape)}};
    op.cpu = [=](const Call& c) {
        activate_gated_backward_cpu(what, c.in<float>(0), c.in<float>(1), c.in<float>(2),
                                    c.out<float>(3), c.out<float>(4));
    };
    op.cuda = [=](const Call& c) {
        activate_gated_backward_cuda(what, c.in<float>(0), c.in<float>(1), c.in<float>(2),
                                     c.out<float>(3), c.out<float>(4));
    };
    op.exact = [=](const Inputs& inputs, int) {
        Tensor<Near> d_gate(shape), d_in(shape);
        for (std::int64_t k = 0; k < d_in.size(); ++k) {
            const auto input = [&](std::size_t i) { return Near{inputs[i]->data()[k]}; };
            const Slope slope = slope_near(what, input(0).value);
            d_gate.data()[k] = input(2) * input(1) * slope.slope;
            d_in.data()[k] = input(2) * (input(0) * slope.factor);
        }
        return std::vector{expected(d_gate), expected(d_in)};
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
