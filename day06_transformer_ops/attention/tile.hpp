/// @file
/// The launcher of the tile kernel, attention_tile.cu, and the views that it supports.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/attention/attention_problem.hpp"

namespace sixdays::day06_transformer_ops {

/// Views of equal rank: stack dimensions, whose index selects a head, then tokens, then the head's
/// elements.
template <class E>
struct Stacked {
    View<const E> q, k, v;
    View<E> out;
    View<float> log_sums;  // without the last dimension; or a null pointer
};
/// Empty if the stacks simplify to more than `dims` dimensions, or if a stride is
/// negative.
template <class E>
[[nodiscard]] std::optional<Stacked<E>> stacked(int dims, const View<const E>& q,
                                                const View<const E>& k, const View<const E>& v,
                                                const View<Same<E>>& out,
                                                const View<float>& log_sums = {});
inline constexpr int kStackOfFloats = 2;  // stack dimensions that attention_tile.cu supports

void launch_attention_tile(const Stacked<float>& views, const AttentionProblem& problem,
                           gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
