/// @file
/// The launcher of the tile kernel, attention_bf16_tile.cu, and the views that it supports.
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/attention/tile.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"

namespace sixdays::day06_transformer_ops {

inline constexpr int kStackOfHalves = 3;  // stack dimensions: batch, group, head in the group

/// Offsets are 32-bit, including those of a last tile's missing rows.
template <class E>
[[nodiscard]] bool is_near(const View<E>& x) {
    const std::int64_t most = INT32_MAX, step = x.stride(x.rank() - 2);
    return x.size() == 0 ||
           (step < most / kMostOfHead && required_span(x.layout) <= most - kMostOfHead * step);
}

template <class T>
void launch_attention_bf16_tile(const Stacked<T>& views, const AttentionBf16Problem<T>& problem,
                                gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
