/// @file
/// The launchers of the ways back from bf16 that are no twins. They check nothing.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/training/bf16/attention_backward_bf16_problem.hpp"

namespace sixdays::day06_transformer_ops {

/// Step 2 of attention. @param problem  its `rounded` and `softmaxed` are to be made
void launch_attention_backward_tensor_cores(const AttentionBackwardBf16& problem,
                                            gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
