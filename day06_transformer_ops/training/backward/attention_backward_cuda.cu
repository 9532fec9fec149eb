// The twins, one thread per query, then one thread per key, and the launcher.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/training/backward/attention_backward_problem.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

__global__ void queries_backward_kernel(const __grid_constant__ AttentionBackward p) {
    const AttentionProblem& f = p.forward;
    const std::int64_t D = f.q.length;
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < f.q.count()) {
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

__global__ void keys_backward_kernel(const __grid_constant__ AttentionBackward p) {
    const AttentionProblem& f = p.forward;
    const std::int64_t D = f.q.length, T = f.tokens();
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < p.k.count()) {
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
                // [by_keys]
                const Row<const float> q = {&f.q.first(at), f.q.stride};
                const Row<const float> g = {&p.grad.first(at), p.grad.stride};
                const Softmaxed x = p.softmaxed(at);
                const float weight = std::exp(f.scale * dot(q, k, D) - x.log_sum);
                const float d_score = weight * (dot(g, v, D) - x.delta);
                for (std::int64_t d = 0; d < D; ++d) {
                    d_k[d] += f.scale * d_score * q[d];
                    d_v[d] += weight * g[d];
                }
                // [by_keys]
            }
        }
    }
}

void launch_row_per_thread(const AttentionBackward& p, gpu::Stream stream) {
    if (p.forward.q.count() > 0) {
        const unsigned grid = gpu::blocks_for(p.forward.q.count(), kThreads);
        queries_backward_kernel<<<grid, kThreads, 0, stream>>>(p);
        gpu::check_launch("queries_backward_kernel", grid, kThreads);
    }
    if (p.k.count() > 0) {
        const unsigned grid = gpu::blocks_for(p.k.count(), kThreads);
        keys_backward_kernel<<<grid, kThreads, 0, stream>>>(p);
        gpu::check_launch("keys_backward_kernel", grid, kThreads);
    }
}

}  // namespace

void attention_backward_cuda(View<const float> q, View<const float> k, View<const float> v,
                             const AttentionOptions& options, View<const float> grad,
                             const AttentionGradients& d, const AttentionSaved& saved,
                             const gpu::Launch<AttentionBackwardPath>& how) {
    check_attention_backward(q, k, v, options, grad, d, saved, how.path);
    AttentionBackward p = attention_backward_problem(q, k, v, options, grad, d);
    p.softmaxed = gpu::carve("attention_backward", how.workspace,
                             [&](gpu::Carver& c) { return attention_softmaxed(c, q); });
    if (saved.given()) {
        p.out = rows_along(saved.out, q.rank() - 1);
        p.log_sums = saved.log_sums;
    }
    switch (how.path ? *how.path
                     : choose_attention_backward(q, gpu::most_shared(), saved.given())) {
        case AttentionBackwardPath::row_per_thread:
            return launch_row_per_thread(p, how.stream);
        case AttentionBackwardPath::tiles:
            return launch_attention_backward_tiles(p, how.stream);
        case AttentionBackwardPath::kept:
            return launch_attention_backward_kept(p, how.stream);
    }
}

bool attention_keeps_cuda(const View<const float>& q) {
    const std::size_t shared = gpu::most_shared();
    return choose_attention_backward(q, shared, true) == AttentionBackwardPath::kept &&
           attention_tiles_bytes(q.extent(q.rank() - 1)) <= shared;
}

}  // namespace sixdays::day06_transformer_ops
