/// @file
/// The arguments of attention's backward pass from bf16, for CPU reference and kernels.
#pragma once

#include <cmath>

#include "common/gpu/workspace.hpp"
#include "common/tensor/index.hpp"
#include "day06_transformer_ops/training/backward/attention_backward_problem.hpp"
#include "day06_transformer_ops/training/bf16/attention_backward_bf16.hpp"

namespace sixdays::day06_transformer_ops {

/// The rows of one head: element (r, d) is first[r * along_rows + d * along_d].
template <class E>
struct HeadOf {
    E* first;
    std::int64_t along_rows, along_d;
    SIXDAYS_HD E& operator()(std::int64_t r, std::int64_t d) const noexcept {
        return first[r * along_rows + d * along_d];
    }
};
/// The same for all heads.
template <class E>
struct HeadsOf {
    View<E> firsts;  // element (0, 0) of each head
    std::int64_t along_rows, along_d;
    SIXDAYS_HD HeadOf<E> operator[](std::int64_t head) const noexcept {
        return {&firsts(unravel(head, firsts.layout.shape)), along_rows, along_d};
    }
};

struct AttentionBackwardBf16 {
    HeadsOf<const bf16> q, k, v, out;
    HeadsOf<const float> grad, log_sums;  // log_sums: rows of one element
    HeadsOf<bf16> d_q, d_k, d_v;
    std::int64_t heads, T, S, D;
    float scale;
    bool causal;
    View<bf16> rounded = {};         // (heads, T, D): grad, for products
    View<Softmaxed> softmaxed = {};  // (heads, T)

    /// The number of keys that query t sees.
    SIXDAYS_HD std::int64_t seen(std::int64_t t) const noexcept {
        const std::int64_t n = causal ? S - T + t + 1 : S;
        return n > 0 ? n : 0;
    }
    /// The first query that sees key s; the later ones do too.
    SIXDAYS_HD std::int64_t first_to_see(std::int64_t s) const noexcept {
        const std::int64_t t = s - (S - T);
        return causal && t > 0 ? t : 0;
    }
};

/// For CPU reference and twin: the weight of pair (t, s) of a head, and the slope of its score.
struct PairBack {
    float weight, d_score;
};
SIXDAYS_HD inline PairBack pair_back(const AttentionBackwardBf16& p, std::int64_t head,
                                     std::int64_t t, std::int64_t s) {
    const HeadOf<const bf16> q = p.q[head], k = p.k[head], v = p.v[head], out = p.out[head];
    const HeadOf<const float> grad = p.grad[head];
    float score = 0, d_weight = 0, delta = 0;
    for (std::int64_t d = 0; d < p.D; ++d) {
        score += float(q(t, d)) * float(k(s, d));
        d_weight += grad(t, d) * float(v(s, d));
        delta += grad(t, d) * float(out(t, d));
    }
    const float weight = std::exp(p.scale * score - p.log_sums[head](t, 0));
    return {weight, weight * (d_weight - delta)};
}
/// Sums in flight of a thread: outputs of 16 bits cannot hold them.
inline constexpr std::int64_t kSumsAtOnce = 16;
/// A query gathers from the keys that it sees.
SIXDAYS_HD inline void query_back(const AttentionBackwardBf16& p, std::int64_t head,
                                  std::int64_t t) {
    const HeadOf<const bf16> k = p.k[head];
    const HeadOf<bf16> d_q = p.d_q[head];
    for (std::int64_t d0 = 0; d0 < p.D; d0 += kSumsAtOnce) {
        float sum[kSumsAtOnce] = {};
        for (std::int64_t s = 0; s < p.seen(t); ++s) {
            const float slope = p.scale * pair_back(p, head, t, s).d_score;
            for (int i = 0; i < kSumsAtOnce && d0 + i < p.D; ++i) {
                sum[i] += slope * float(k(s, d0 + i));
            }
        }
        for (int i = 0; i < kSumsAtOnce && d0 + i < p.D; ++i) d_q(t, d0 + i) = bf16(sum[i]);
    }
}
/// A key and its value gather from the queries that see them.
SIXDAYS_HD inline void key_back(const AttentionBackwardBf16& p, std::int64_t head, std::int64_t s) {
    const HeadOf<const bf16> q = p.q[head];
    const HeadOf<const float> grad = p.grad[head];
    const HeadOf<bf16> d_k = p.d_k[head], d_v = p.d_v[head];
    for (std::int64_t d0 = 0; d0 < p.D; d0 += kSumsAtOnce) {
        float of_key[kSumsAtOnce] = {}, of_value[kSumsAtOnce] = {};
        for (std::int64_t t = p.first_to_see(s); t < p.T; ++t) {
            const PairBack pair = pair_back(p, head, t, s);
            for (int i = 0; i < kSumsAtOnce && d0 + i < p.D; ++i) {
                of_key[i] += p.scale * pair.d_score * float(q(t, d0 + i));
                of_value[i] += pair.weight * grad(t, d0 + i);
            }
        }
        for (int i = 0; i < kSumsAtOnce && d0 + i < p.D; ++i) {
            d_k(s, d0 + i) = bf16(of_key[i]), d_v(s, d0 + i) = bf16(of_value[i]);
        }
    }
}

[[nodiscard]] AttentionBackwardBf16 attention_backward_bf16_problem(
    const View<const bf16>& q, const View<const bf16>& k, const View<const bf16>& v,
    const AttentionOptions& options, const View<const bf16>& out, const View<const float>& log_sums,
    const View<const float>& grad, const AttentionGradientsOf<bf16>& d);

}  // namespace sixdays::day06_transformer_ops
