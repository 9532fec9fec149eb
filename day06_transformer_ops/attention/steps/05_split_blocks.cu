// Step 5: step 3 has one block per query, and twelve heads would leave most SMs without work. Here
// several blocks split a query's keys (a split reduction, as in Day 04's step 8): each writes its
// sums to the workspace, and the last block to finish combines them. Keys and values are read with
// 128-bit loads: lanes that share a key have 4 elements each; four keys and values are in flight.
#include "common/gpu/last_block.hpp"
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/attention/steps/partial.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

template <int LANES>
__global__ void __launch_bounds__(kThreads)
    attention_split_blocks_kernel(const __grid_constant__ AttentionProblem p, unsigned parts,
                                  float* found, unsigned* done) {
    const int D = static_cast<int>(p.q.length), t = threadIdx.x, d = t % LANES * 4;
    const std::int64_t r = blockIdx.x / parts, part = blockIdx.x % parts;
    const Index at = unravel(r, p.q.first.layout.shape);
    const Row<const float> row = p.q.row(r);
    float4 q = {};
    if (d < D) q = make_float4(row[d], row[d + 1], row[d + 2], row[d + 3]);

    const std::int64_t counted = p.counted(), n = p.seen(r % p.tokens(), counted);
    const std::int64_t each = (n + parts - 1) / parts, first = part * each;
    float m, sum;
    float x = found_by_block<kThreads, LANES>(q, p.keys_of(at), p.values_of(at), p.scale, first,
                                              min(first + each, n), D, m, sum);
    if (parts > 1) {
        found += r * parts * (D + 2);
        float* const mine = found + part * (D + 2);
        if (t < D) mine[2 + t] = x;
        if (t == 0) mine[0] = m, mine[1] = sum;
        if (!gpu::last_to_come(done + r, parts)) return;
        if (t < D) x = joined(found, static_cast<int>(parts), D + 2, t, m, sum);
    }
    if (t < D) p.out.row(r)[t] = counted < 0 ? NAN : n > 0 ? x / sum : 0;
}

}  // namespace

void launch_attention_split_blocks(const AttentionProblem& p, const AttentionPartials& partials,
                                   gpu::Stream stream) {
    const auto parts = static_cast<unsigned>(partials.found.extent(1));
    const unsigned grid = gpu::blocks_for(p.q.count() * parts, 1);
    const auto kernel =
        p.q.length <= 64 ? attention_split_blocks_kernel<16> : attention_split_blocks_kernel<32>;
    kernel<<<grid, kThreads, 0, stream>>>(p, parts, partials.found.data, partials.done.data);
    gpu::check_launch("attention_split_blocks_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
