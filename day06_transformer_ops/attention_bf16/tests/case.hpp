/// @file
/// What the tests of attention_bf16 share: its paths on this device, and tensors of a case.
#pragma once

#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

namespace sixdays::day06_transformer_ops {

using B = AttentionBf16Path;
inline const bool kHopper =
    gpu::is_emulated() || (gpu::why_unavailable().empty() && gpu::on_hopper());
inline const std::vector<B> kAll = [] {
    std::vector<B> paths{B::four_passes, B::tensor_cores, B::guessed_maximum};
    if (kHopper) paths.push_back(B::warpgroups);
    if (gpu::has_tile()) paths.push_back(B::tile);
    return paths;
}();

template <class T>
struct Case {
    Tensor<T> q, k, v;  // (heads, T, D), (heads, S, D), (heads, S, D)
    AttentionOptions options = {};
    std::int64_t counted = -1;  // -1: S
};

template <class T>
Case<T> case_of(std::int64_t heads, std::int64_t tokens, std::int64_t S, std::int64_t D,
                const AttentionOptions& options = {}, double size = 2) {
    return {testing::seeded<T>({heads, tokens, D}, 1, -size, size),
            testing::seeded<T>({heads, S, D}, 2, -size, size),
            testing::seeded<T>({heads, S, D}, 3, -1, 1), options};
}

}  // namespace sixdays::day06_transformer_ops
