/// @file
/// The launcher of the tile port, attention_tile.cu, and the views that it takes.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/attention/attention_problem.hpp"

namespace sixdays::day06_transformer_ops {

/// All of rank 4: two dims of stack, then tokens, then a head.
struct FourDims {
    View<const float> q, k, v;
    View<float> out;
};
/// Nothing if the stacks have more dims than two once they are simplified, or a stride is negative.
[[nodiscard]] std::optional<FourDims> four_dims(const View<const float>& q,
                                                const View<const float>& k,
                                                const View<const float>& v, const View<float>& out);

void launch_attention_tile(const FourDims& views, const AttentionProblem& problem,
                           gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
