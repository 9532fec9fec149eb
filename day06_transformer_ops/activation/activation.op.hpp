/// @file
/// Test descriptors of the activations (common/testing/operation/operation.hpp).
#pragma once

#include "common/testing/operation/visit.hpp"
#include "day06_transformer_ops/activation/activation.hpp"
#include "day06_transformer_ops/tests/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// In double precision, as in the definitions.
inline double exact_activation(Activation what, double x) {
    const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    switch (what) {
        case Activation::relu:
            return x <= 0 ? 0 : x;
        case Activation::gelu_erf:
            return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
        case Activation::gelu_tanh:
            return x / (1 + std::exp(-2 * u));
        case Activation::silu:
            return x / (1 + std::exp(-x));
    }
    return NAN;
}

/// The bound of activation.hpp. The 16 units: 4 of exp or 8 of erfc, an addition, a division and a
/// product or two. An error of n units in the argument v of exp changes the result by n |v|: silu
/// has v = x with three roundings (the constant, the product, - 2), gelu_tanh v = 2 u with seven.
/// erfc at x / sqrt(2) changes by x^2 for each of two. Above 0, exp is small compared with 1, and
/// so is its error.
inline double activation_error(Activation what, double x, double y) {
    if (what == Activation::relu) return 0;
    double more = 0;
    if (x < 0 && what == Activation::silu) more = 3 * -x;
    if (x < 0 && what == Activation::gelu_erf) more = 2 * x * x;
    if (x < 0 && what == Activation::gelu_tanh) {
        more = 14 * std::sqrt(2 / M_PI) * (-x - 0.044715 * x * x * x);
    }
    return std::fabs(y) * std::min(16 + more, 1e9) * kU + 3e-37;
}

enum class Activate { plain, biased, gated };
inline constexpr Activate kActivates[] = {Activate::plain, Activate::biased, Activate::gated};

/// The paths of activate_operation(), and which calls each accepts.
template <class T>
void set_activation_paths(testing::Operation& op, const Shape& shape) {
    using namespace testing;
    const auto visited = [](const Call& c) {
        std::vector<Call::Argument> all = {c.arguments[1], c.arguments[0]};
        if (c.arguments.size() > 2) all.push_back(c.arguments[2]);
        return visit(all, sizeof(T), false);
    };
    const auto has_vectors = [=](const Call& c) { return visited(c).all_have_groups(16); };
    const bool empty = size(shape) == 0;
    op.takes(ActivationPath::one_element, op.name + "_kernel");
    op.takes(ActivationPath::vectorized, "activation_vectorized_kernel",
             [=](const Call& c) { return empty || has_vectors(c); });
    op.takes(ActivationPath::tile, "activation_tile",
             [=](const Call& c) { return empty || (gpu::has_tile() && visited(c).takes_tiles()); });
    op.best = [=](const Call& c) {
        return static_cast<int>(empty || has_vectors(c) ? ActivationPath::vectorized
                                                        : ActivationPath::one_element);
    };
}

/// Operands: in, out and, of activate_biased, bias or, of activate_gated, gate.
/// @param bias  shape of the bias
template <class T>
testing::Operation activate_operation(Activate kind, Activation what, const Shape& shape,
                                      const Shape& bias = {}) {
    using namespace testing;
    static constexpr const char* kNames[] = {"activate", "activate_biased", "activate_gated"};
    Operation op{kNames[static_cast<int>(kind)], {reads<T>("in", shape), writes<T>("out", shape)}};
    const bool plain = kind == Activate::plain, biased = kind == Activate::biased;
    op.in_place = {{"in", "out"}};
    if (biased) op.operands.push_back(reads<T>("bias", bias).broadcasts());
    if (kind == Activate::gated) op.operands.push_back(reads<T>("gate", shape));
    if (!plain) op.in_place.emplace_back(op.operands[2].name, "out");
    op.cpu = [=](const Call& c) {
        const auto in = c.in<T>(0);
        const auto out = c.out<T>(1);
        if (plain) return activate_cpu<T>(what, in, out);
        if (biased) return activate_biased_cpu<T>(what, in, c.in<T>(2), out);
        activate_gated_cpu<T>(what, c.in<T>(2), in, out);
    };
    op.cuda = [=](const Call& c) {
        const auto in = c.in<T>(0);
        const auto out = c.out<T>(1);
        const auto how = c.how<ActivationPath>();
        if (plain) return activate_cuda<T>(what, in, out, how);
        if (biased) return activate_biased_cuda<T>(what, in, c.in<T>(2), out, how);
        activate_gated_cuda<T>(what, c.in<T>(2), in, out, how);
    };
    const bool rounded = what != Activation::relu || kind == Activate::gated;
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        const Tensor<double>& in = *inputs[0];
        const auto other = plain ? View<const double>(in.view())
                                 : broadcast_to(View<const double>(inputs[2]->view()), shape);
        for (std::int64_t k = 0; k < size(shape); ++k) {
            const double more = other(unravel(k, shape));
            const double x = plain    ? in.data()[k]
                             : biased ? double(float(in.data()[k]) + float(more))
                                      : more;
            const double factor = plain || biased ? 1 : in.data()[k];
            const double f = exact_activation(what, x), y = f * factor;
            all[0].value.data()[k] = y;
            if (!std::isfinite(y)) continue;
            all[0].error.data()[k] = activation_error(what, x, f) * std::fabs(factor) +
                                     (rounded ? std::fabs(y) * kU : 0) + storing<T>(y);
        }
        return all;
    };
    set_activation_paths<T>(op, shape);
    return op;
}

}  // namespace sixdays::day06_transformer_ops
