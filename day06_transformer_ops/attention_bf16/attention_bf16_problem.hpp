/// @file
/// What loop and kernels of attention_bf16 are given.
#pragma once

#include <cmath>

#include "day06_transformer_ops/attention/attention_problem.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"

namespace sixdays::day06_transformer_ops {

// [problem]
template <class T>
struct AttentionBf16Problem : AttentionProblemOf<T> {
    View<float> log_sums;  // of each query, or a null pointer

    /// @param at   a query
    /// @param sum  of exp(score - m) over the keys that it sees
    SIXDAYS_HD void keep_log_sum(const Index& at, float m, float sum) const {
        if (log_sums.data != nullptr) log_sums(at) = m + std::log(sum);
    }
};
// [problem]

template <class T>
[[nodiscard]] AttentionBf16Problem<T> attention_bf16_problem(View<const T> q, View<const T> k,
                                                             View<const T> v,
                                                             const AttentionOptions& options,
                                                             View<T> out, View<float> log_sums) {
    AttentionBf16Problem<T> p{attention_problem(q, k, v, options, out), log_sums};
    // The step of a single row is never taken, so it may be any. But tiles also name rows that are
    // not there, and each must begin at a multiple of 16 bytes.
    if (p.tokens() == 1) p.q.first.stride(p.q.first.rank() - 1) = 0;
    if (p.S == 1) p.k_along_s = p.v_along_s = 0;
    return p;
}

/// For the path 'four passes': (queries, S).
template <class T>
[[nodiscard]] View<float> attention_bf16_scores(gpu::Carver& carver, View<const T> q,
                                                View<const T> k);

}  // namespace sixdays::day06_transformer_ops
