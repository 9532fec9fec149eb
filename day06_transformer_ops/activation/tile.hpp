/// @file
/// The launcher of the tile kernel, activation_tile.cu. It checks nothing; all tensors have the
/// same shape.
#pragma once

#include "day06_transformer_ops/activation/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {

/// For Plain, Biased and Gated, float and bf16; Plain is given `a` twice.
template <class OP, class T>
void launch_activation_tile(Activation what, View<const T> a, View<const T> b, View<T> out,
                            gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
