/// @file
/// The steps after the twin.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"

namespace sixdays::day06_transformer_ops {

/// Step 2: a block has 128 queries of a head, and each of its four warps 32 of them.
template <class T>
void launch_attention_tensor_cores(const AttentionBf16Problem<T>& p, gpu::Stream stream);

/// Step 4: wgmma, which reads operands from shared memory.
template <class T>
void launch_attention_warpgroups(const AttentionBf16Problem<T>& p, gpu::Stream stream);

/// Step 3: the maximum is searched for only where the previous one is too small.
template <class T>
void launch_attention_guessed_maximum(const AttentionBf16Problem<T>& p, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
