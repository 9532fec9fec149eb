/// @file
/// The launcher of the activations' step. It checks nothing; all tensors have one shape by now.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/activation.hpp"

namespace sixdays::day06_transformer_ops {

// [operations]
/// What becomes of the elements of two tensors; Plain is given the first one twice.
struct Plain {
    Activation what;
    SIXDAYS_HD float operator()(float x, float) const { return activated(what, x); }
};
struct Biased {
    Activation what;
    SIXDAYS_HD float operator()(float x, float bias) const { return activated(what, x + bias); }
};
struct Gated {
    Activation what;
    SIXDAYS_HD float operator()(float gate, float x) const { return activated(what, gate) * x; }
};
// [operations]

/// Step 2: quads, four of each tensor in flight. For Plain, Biased and Gated, float and bf16.
template <class T, class OP>
void launch_activation_quads(const OP& op, const View<const T>& a, const View<const T>& b,
                             const View<T>& out, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
