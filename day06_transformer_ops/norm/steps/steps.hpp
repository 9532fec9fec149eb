/// @file
/// The ladder's launchers, one idea a file. Step 1 is the twin in norm_cuda.cu. They check nothing.
/// Each is there for OP = LayerNorm and RmsNorm, T = float and bf16.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/held_row.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

namespace sixdays::day06_transformer_ops {

struct LayerNorm {
    static constexpr bool kCentered = true;
};
struct RmsNorm {
    static constexpr bool kCentered = false;  // the mean is taken for 0
};

/// @param residual  what in is added to first; nothing, if it begins at a null pointer
template <class OP, class T>
void launch_norm_warp(const Rows<const T>& in, const NormParameters& parameters,
                      const Rows<T>& residual, const Rows<T>& out, gpu::Stream stream);
template <class OP, class T>
void launch_norm_registers(const Rows<const T>& in, const NormParameters& parameters,
                           const Rows<T>& residual, const Rows<T>& out, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
