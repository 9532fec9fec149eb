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

// [attention]
/// Loop and twin alike: the loop of attention for query r, each number becoming a float when it is
/// read. @param score  room for S numbers; @param counted  keys that count; -1: the answer is NaN
template <class T>
SIXDAYS_HD inline void attend_in_passes(const AttentionBf16Problem<T>& p, std::int64_t r,
                                        std::int64_t counted, float* score) {
    const Index at = unravel(r, p.q.first.layout.shape);
    const std::int64_t n = p.seen(r % p.tokens(), counted), D = p.q.length;
    const Row<const T> q = p.q.row(r);
    const TableOf<T> k = p.keys_of(at), v = p.values_of(at);
    const Row<T> out = p.out.row(r);
    // 1. how well each key fits the query, and the best of them
    float m = -INFINITY;
    for (std::int64_t s = 0; s < n; ++s) {
        float dot = 0;
        for (std::int64_t d = 0; d < D; ++d) {
            dot += float(q[d]) * float(k(s, d));
        }
        score[s] = p.scale * dot;
        m = std::fmax(m, score[s]);
    }
    if (m == -INFINITY) m = 0;  // -infinity minus -infinity is NaN; so all shares are 0
    // 2. scores become shares, but for the factor 1 / sum
    float sum = counted < 0 ? NAN : 0;
    for (std::int64_t s = 0; s < n; ++s) {
        score[s] = std::exp(score[s] - m);
        sum += score[s];
    }
    // 3. the values, each by its share
    for (std::int64_t d = 0; d < D; ++d) {
        float x = 0;
        for (std::int64_t s = 0; s < n; ++s) {
            x += score[s] * float(v(s, d));
        }
        out[d] = T(n > 0 || counted < 0 ? x / sum : 0);
    }
    p.keep_log_sum(at, m, sum);
}
// [attention]

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

/// How Hopper's copy engine is told of the rows of all heads: matrices, `planes` of them, and a
/// head begins in the first row of one, at a column.
struct Planes {
    std::int64_t planes, plane_pitch, columns, pitch;
};
/// Empty if heads do not lie so.
/// @param heads  strides from head to head, in elements
/// @param rows, pitch  of each head: D numbers, and `pitch` from row to row
[[nodiscard]] std::optional<Planes> planes_of(const Layout& heads, std::int64_t rows,
                                              std::int64_t pitch, std::int64_t D);

/// For the path 'four passes': (queries, S).
template <class T>
[[nodiscard]] View<float> attention_bf16_scores(gpu::Carver& carver, View<const T> q,
                                                View<const T> k);

}  // namespace sixdays::day06_transformer_ops
