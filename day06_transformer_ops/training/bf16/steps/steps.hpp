/// @file
/// The launchers of the bf16 backward passes' steps after the twins. They check nothing.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/training/bf16/attention_backward_bf16_problem.hpp"

namespace sixdays::day06_transformer_ops {

/// Step 2 of attention. @param problem  its `rounded` and `softmaxed` are computed here
void launch_attention_backward_tensor_cores(const AttentionBackwardBf16& problem,
                                            gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
