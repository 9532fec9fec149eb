/// @file
/// The arguments of attention_bf16's CPU reference and kernels.
#pragma once

#include <cmath>

#include "day06_transformer_ops/attention/attention_problem.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"

namespace sixdays::day06_transformer_ops {

template <class T>
struct AttentionBf16Problem : AttentionProblemOf<T> {
    View<float> log_sums;  // one per query, or a null pointer

    /// @param at   a query
    /// @param sum  of exp(score - m) over the keys that it sees
    SIXDAYS_HD void keep_log_sum(const Index& at, float m, float sum) const {
        if (log_sums.data != nullptr) log_sums(at) = m + std::log(sum);
    }
};

/// For CPU reference and twin: attention of query r, where each element is widened to float when it
/// is read. @param score  room for S floats; @param counted  valid keys; -1: the result is NaN
template <class T>
SIXDAYS_HD inline void attend_in_passes(const AttentionBf16Problem<T>& p, std::int64_t r,
                                        std::int64_t counted, float* score) {
    const Index at = unravel(r, p.q.first.layout.shape);
    const std::int64_t n = p.seen(r % p.tokens(), counted), D = p.q.length;
    const Row<const T> q = p.q.row(r);
    const TableOf<T> k = p.keys_of(at), v = p.values_of(at);
    const Row<T> out = p.out.row(r);
    // 1. scores and their maximum
    float m = -INFINITY;
    for (std::int64_t s = 0; s < n; ++s) {
        float dot = 0;
        for (std::int64_t d = 0; d < D; ++d) {
            dot += float(q[d]) * float(k(s, d));
        }
        score[s] = p.scale * dot;
        m = std::fmax(m, score[s]);
    }
    if (m == -INFINITY) m = 0;  // -infinity - -infinity is NaN; now all weights are 0
    // 2. unnormalized weights and their sum
    float sum = counted < 0 ? NAN : 0;
    for (std::int64_t s = 0; s < n; ++s) {
        score[s] = std::exp(score[s] - m);
        sum += score[s];
    }
    // 3. values, each times its weight
    for (std::int64_t d = 0; d < D; ++d) {
        float x = 0;
        for (std::int64_t s = 0; s < n; ++s) {
            x += score[s] * float(v(s, d));
        }
        out[d] = T(n > 0 || counted < 0 ? x / sum : 0);
    }
    p.keep_log_sum(at, m, sum);
}

template <class T>
[[nodiscard]] AttentionBf16Problem<T> attention_bf16_problem(View<const T> q, View<const T> k,
                                                             View<const T> v,
                                                             const AttentionOptions& options,
                                                             View<T> out, View<float> log_sums) {
    AttentionBf16Problem<T> p{attention_problem(q, k, v, options, out), log_sums};
    // The stride of a single row is never used and may be any number. But tiles also address rows
    // past the end, and each must begin at a multiple of 16 bytes.
    if (p.tokens() == 1) p.q.first.stride(p.q.first.rank() - 1) = 0;
    if (p.S == 1) p.k_along_s = p.v_along_s = 0;
    return p;
}

/// The rows of all heads as the TMA addresses them: `planes` matrices; a head begins in the first
/// row of one, at some column.
struct Planes {
    std::int64_t planes, plane_pitch, columns, pitch;
};
/// Empty if the heads do not have this layout.
/// @param heads  strides from head to head, in elements
/// @param rows, pitch  per head: rows of D elements, `pitch` apart
[[nodiscard]] std::optional<Planes> planes_of(const Layout& heads, std::int64_t rows,
                                              std::int64_t pitch, std::int64_t D);

/// Scores for the path 'four passes': (queries, S).
template <class T>
[[nodiscard]] View<float> attention_bf16_scores(gpu::Carver& carver, View<const T> q,
                                                View<const T> k);

}  // namespace sixdays::day06_transformer_ops
