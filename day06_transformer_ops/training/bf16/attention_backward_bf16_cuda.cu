// The twins, and the launcher.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/training/backward/attention_reject.hpp"
#include "day06_transformer_ops/training/bf16/attention_backward_bf16_problem.hpp"
#include "day06_transformer_ops/training/bf16/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

__global__ void query_back_kernel(const __grid_constant__ AttentionBackwardBf16 p) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < p.heads * p.T) query_back(p, r / p.T, r % p.T);
}
__global__ void key_back_kernel(const __grid_constant__ AttentionBackwardBf16 p) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < p.heads * p.S) key_back(p, r / p.S, r % p.S);
}

void launch_row_per_thread(const AttentionBackwardBf16& p, gpu::Stream stream) {
    if (p.heads * p.T > 0) {
        const unsigned grid = gpu::blocks_for(p.heads * p.T, kThreads);
        query_back_kernel<<<grid, kThreads, 0, stream>>>(p);
        gpu::check_launch("query_back_kernel", grid, kThreads);
    }
    if (p.heads * p.S > 0) {
        const unsigned grid = gpu::blocks_for(p.heads * p.S, kThreads);
        key_back_kernel<<<grid, kThreads, 0, stream>>>(p);
        gpu::check_launch("key_back_kernel", grid, kThreads);
    }
}

struct Made {
    View<bf16> rounded;
    View<Softmaxed> softmaxed;
};
Made made(gpu::Carver& carver, const View<const bf16>& q) {
    const int last = q.rank() - 1;
    const std::int64_t T = q.extent(last - 1), D = q.extent(last);
    const std::int64_t heads = size(without(q.layout, {last - 1, last}).shape);
    return {carver.take<bf16>({heads, T, D}), carver.take<Softmaxed>({heads, T})};
}

}  // namespace

std::int64_t attention_backward_bf16_workspace_bytes(const View<const bf16>& q) {
    require_tokens("attention_backward_bf16", q);
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return made(c, q); });
}

void attention_backward_bf16_cuda(View<const bf16> q, View<const bf16> k, View<const bf16> v,
                                  const AttentionOptions& options, View<const bf16> out,
                                  View<const float> log_sums, View<const float> grad,
                                  const AttentionGradientsOf<bf16>& d,
                                  const gpu::Launch<AttentionBackwardBf16Path>& how) {
    check_attention_backward_bf16(q, k, v, options, out, log_sums, grad, d, how.path);
    AttentionBackwardBf16 p =
        attention_backward_bf16_problem(q, k, v, options, out, log_sums, grad, d);
    const Made room = gpu::carve("attention_backward_bf16", how.workspace,
                                 [&](gpu::Carver& c) { return made(c, q); });
    p.rounded = room.rounded, p.softmaxed = room.softmaxed;
    switch (how.path.value_or(choose_attention_backward_bf16(q, k, v, d))) {
        case AttentionBackwardBf16Path::row_per_thread:
            return launch_row_per_thread(p, how.stream);
        case AttentionBackwardBf16Path::tensor_cores:
            return launch_attention_backward_tensor_cores(p, how.stream);
    }
}

}  // namespace sixdays::day06_transformer_ops
