/// @file
/// The launcher of the vectorized step. It checks nothing; all tensors have the same shape.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/activation/activation.hpp"

namespace sixdays::day06_transformer_ops {

/// How the elements of two tensors are combined; Plain gets the first one twice. f: the activation
struct Plain {
    template <class F>
    SIXDAYS_HD static float of(const F& f, float x, float) {
        return f(x);
    }
};
struct Biased {
    template <class F>
    SIXDAYS_HD static float of(const F& f, float x, float bias) {
        return f(x + bias);
    }
};
struct Gated {
    template <class F>
    SIXDAYS_HD static float of(const F& f, float gate, float x) {
        return f(gate) * x;
    }
};

/// Step 2: 128-bit loads, two per tensor in flight. For Plain, Biased and Gated, float and bf16.
template <class OP, class T>
void launch_activation_vectorized(Activation what, const View<const T>& a, const View<const T>& b,
                                  const View<T>& out, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
