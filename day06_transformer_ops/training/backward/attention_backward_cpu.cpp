// The CPU references: a pass over queries, and a pass over keys.
#include <vector>

#include "day06_transformer_ops/training/backward/attention_backward_problem.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

void queries_backward_loop(const AttentionBackward& p) {
    const AttentionProblem& f = p.forward;
    const std::int64_t D = f.q.length;
    for (std::int64_t r = 0; r < f.q.count(); ++r) {
        const Index at = unravel(r, f.q.first.shape());
        const std::int64_t n = f.seen(r % f.tokens(), f.S);
        const Row<const float> q = f.q.row(r), g = p.grad.row(r);
        const Table k = f.keys_of(at), v = f.values_of(at);
        const Row<float> d_q = f.out.row(r);
        // 1. the largest score
        float m = -INFINITY;
        for (std::int64_t s = 0; s < n; ++s) {
            m = std::fmax(m, f.scale * dot(q, k, s, D));
        }
        // 2. the sum of exp, and delta: the weighted mean of d_weight
        float sum = 0, delta = 0;
        for (std::int64_t s = 0; s < n; ++s) {
            const float e = std::exp(f.scale * dot(q, k, s, D) - m);
            sum += e;
            delta += e * dot(g, v, s, D);
        }
        const Softmaxed x = {m + std::log(sum), delta / sum};
        p.softmaxed(at) = x;
        // 3. the gradient of the query, gathered from its keys
        for (std::int64_t d = 0; d < D; ++d) {
            d_q[d] = 0;
        }
        for (std::int64_t s = 0; s < n; ++s) {
            const float weight = std::exp(f.scale * dot(q, k, s, D) - x.log_sum);
            const float d_score = weight * (dot(g, v, s, D) - x.delta);
            for (std::int64_t d = 0; d < D; ++d) {
                d_q[d] += f.scale * d_score * k(s, d);
            }
        }
    }
}

void keys_backward_loop(const AttentionBackward& p) {
    const AttentionProblem& f = p.forward;
    const std::int64_t D = f.q.length, T = f.tokens();
    for (std::int64_t r = 0; r < p.k.count(); ++r) {
        const Row<const float> k = p.k.row(r), v = p.v.row(r);
        const Row<float> d_k = p.d_k.row(r), d_v = p.d_v.row(r);
        for (std::int64_t d = 0; d < D; ++d) {
            d_k[d] = d_v[d] = 0;
        }
        for (std::int64_t h = 0; h < p.heads; ++h) {
            Index at = unravel(r, p.k.first.shape());
            const Index of_head = unravel(h, p.sharing);  // a head that shares this key
            const std::int64_t s = at[at.rank - 1];
            for (int dim = 0; dim + 1 < at.rank; ++dim) {
                at[dim] += of_head[dim];
            }
            for (std::int64_t t = p.first_to_see(s); t < T; ++t) {
                at[at.rank - 1] = t;
                const Row<const float> q = {&f.q.first(at), f.q.stride};
                const Row<const float> g = {&p.grad.first(at), p.grad.stride};
                const Softmaxed x = p.softmaxed(at);
                const float weight = std::exp(f.scale * dot(q, k, D) - x.log_sum);
                const float d_score = weight * (dot(g, v, D) - x.delta);
                for (std::int64_t d = 0; d < D; ++d) {
                    d_k[d] += f.scale * d_score * q[d];
                    d_v[d] += weight * g[d];
                }
            }
        }
    }
}

}  // namespace

void attention_backward_cpu(View<const float> q, View<const float> k, View<const float> v,
                            const AttentionOptions& options, View<const float> grad,
                            const AttentionGradients& d, const AttentionSaved& saved) {
    check_attention_backward(q, k, v, options, grad, d, saved);
    AttentionBackward p = attention_backward_problem(q, k, v, options, grad, d);
    std::vector<Softmaxed> softmaxed(static_cast<std::size_t>(p.forward.q.count()));
    p.softmaxed = {softmaxed.data(), p.forward.q.first.shape()};
    if (q.size() > 0) queries_backward_loop(p);
    if (k.size() > 0) keys_backward_loop(p);
}

}  // namespace sixdays::day06_transformer_ops
