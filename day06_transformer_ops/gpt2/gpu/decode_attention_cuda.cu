// Attention of one token: its query, and the keys and values of all positions so far. Blocks split
// them as in Day 06's step 5, so that a small model keeps a large GPU busy. But the next phase
// combines the parts: no block has to wait for the last.
#include <cmath>

#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "day06_transformer_ops/attention/steps/partial.hpp"
#include "day06_transformer_ops/gpt2/gpu/decode.hpp"

namespace sixdays::gpt2 {
namespace {

using namespace day06_transformer_ops;

constexpr int kThreads = 256;

// A block has a head and one of kSplits parts of the positions.
template <int LANES>
__global__ void __launch_bounds__(kThreads)
    attend_kernel(const float* query, const __grid_constant__ KvSlots cache,
                  const std::int64_t* place, float scale, int group,
                  const __grid_constant__ AttentionParts parts) {
    const int D = static_cast<int>(parts.D), t = threadIdx.x, d = t % LANES * 4;
    const std::int64_t head = blockIdx.x, split = blockIdx.y, shared = blockIdx.x / group;
    const Table keys = {cache.keys.data + shared * cache.keys.stride(0), D, 1};
    const Table values = {cache.values.data + shared * cache.values.stride(0), D, 1};
    gpu::let_next_start();
    gpu::wait_for_previous();

    const std::int64_t n = *place + 1, each = (n + kSplits - 1) / kSplits, first = split * each;
    float4 q = {};
    if (d < D) q = *reinterpret_cast<const float4*>(query + head * D + d);
    float m, sum;
    const float x = found_by_block<kThreads, LANES>(q, keys, values, scale, first,
                                                    min(first + each, n), D, m, sum);
    const std::int64_t part = head * kSplits + split;
    if (t < D) parts.sums[part * D + t] = x;
    if (t == 0) parts.tops[2 * part] = m, parts.tops[2 * part + 1] = sum;
}

}  // namespace

void launch_attend(const float* query, const KvSlots& cache, const std::int64_t* place,
                   const AttentionParts& parts, gpu::Stream queue, int group) {
    const dim3 grid(static_cast<unsigned>(cache.keys.extent(0) * group), kSplits);
    const float scale = 1 / std::sqrt(static_cast<float>(parts.D));
    const auto kernel = parts.D <= 64 ? attend_kernel<16> : attend_kernel<32>;
    kernel<<<grid, kThreads, 0, queue>>>(query, cache, place, scale, group, parts);
    gpu::check_launch("attend_kernel", grid, kThreads);
}

}  // namespace sixdays::gpt2
