// The twin, one thread per query, and the launcher. Faster versions are in steps/.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"
#include "day06_transformer_ops/attention_bf16/steps/steps.hpp"
#include "day06_transformer_ops/attention_bf16/tile.hpp"

namespace sixdays::day06_transformer_ops {

// --- the twin ------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 128;

// scores: one row of S per query, so that no two threads share one.
template <class T>
__global__ void attention_bf16_kernel(const __grid_constant__ AttentionBf16Problem<T> p,
                                      float* scores) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < p.q.count()) attend_in_passes(p, r, p.counted(), scores + r * p.S);
}

}  // namespace

// --- launcher ------------------------------------------------------------------------------------

template <class T>
void attention_bf16_cuda(View<const T> q, View<const T> k, View<const T> v,
                         const AttentionOptions& options, View<T> out, View<float> log_sums,
                         const gpu::Launch<AttentionBf16Path>& how) {
    const AttentionBf16Path path = plan_attention_bf16(q, k, v, options, out, log_sums, how);
    if (out.size() == 0) return;
    const auto p = attention_bf16_problem(q, k, v, options, out, log_sums);
    switch (path) {
        case AttentionBf16Path::four_passes: {
            const auto scores = gpu::carve("attention_bf16", how.workspace, [&](gpu::Carver& c) {
                return attention_bf16_scores(c, q, k);
            });
            const unsigned grid = gpu::blocks_for(p.q.count(), kThreads);
            attention_bf16_kernel<T><<<grid, kThreads, 0, how.stream>>>(p, scores.data);
            return gpu::check_launch("attention_bf16_kernel", grid, kThreads);
        }
        case AttentionBf16Path::tensor_cores:
            return launch_attention_tensor_cores(p, how.stream);
        case AttentionBf16Path::guessed_maximum:
            return launch_attention_guessed_maximum(p, how.stream);
        case AttentionBf16Path::warpgroups:
            return launch_attention_warpgroups(p, how.stream);
        case AttentionBf16Path::tile:
            return gpu::by_tile("attention_bf16", [&] {
                launch_attention_bf16_tile(*stacked<T>(kStackOfHalves, q, k, v, out, log_sums), p,
                                           how.stream);
            });
    }
}

template void attention_bf16_cuda(View<const bf16>, View<const bf16>, View<const bf16>,
                                  const AttentionOptions&, View<bf16>, View<float>,
                                  const gpu::Launch<AttentionBf16Path>&);
template void attention_bf16_cuda(View<const f16>, View<const f16>, View<const f16>,
                                  const AttentionOptions&, View<f16>, View<float>,
                                  const gpu::Launch<AttentionBf16Path>&);

}  // namespace sixdays::day06_transformer_ops
