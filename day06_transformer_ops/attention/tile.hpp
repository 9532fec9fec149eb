/// @file
/// The launcher of the tile port, attention_tile.cu, and the views that it takes.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/attention/attention_problem.hpp"

namespace sixdays::day06_transformer_ops {

/// Views of equal rank: some dims of stack, of which each head is one place, then tokens, then a
/// head.
template <class E>
struct Stacked {
    View<const E> q, k, v;
    View<E> out;
    View<float> log_sums;  // without the last dim; or a null pointer
};
/// Nothing if the stacks have more than `dims` dims once they are simplified, or a stride is
/// negative.
template <class E>
[[nodiscard]] std::optional<Stacked<E>> stacked(int dims, const View<const E>& q,
                                                const View<const E>& k, const View<const E>& v,
                                                const View<Same<E>>& out,
                                                const View<float>& log_sums = {});
inline constexpr int kStackOfFloats = 2;  // dims of stack that attention_tile.cu takes

void launch_attention_tile(const Stacked<float>& views, const AttentionProblem& problem,
                           gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
