/// @file
/// Launchers of the steps, one idea per file; they check nothing. Step 1, the twin: norm_cuda.cu.
/// Each exists for OP = LayerNorm and RmsNorm, T = float and bf16.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/held_row.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::day06_transformer_ops {

struct LayerNorm {
    static constexpr bool kCentered = true;
};
struct RmsNorm {
    static constexpr bool kCentered = false;  // the mean is taken as 0
};

/// @param residual  in is added to it first; none if it is a null pointer
template <class OP, class T>
void launch_norm_warp(const Rows<const T>& in, const NormParameters& parameters,
                      const Rows<T>& residual, const Rows<T>& out, gpu::Stream stream);
template <class OP, class T>
void launch_norm_registers(const Rows<const T>& in, const NormParameters& parameters,
                           const Rows<T>& residual, const Rows<T>& out, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
