// Step 2: both products on tensor cores. As in step 4 of the float ladder, a block takes 128 queries
// and walks along the keys in tiles, and a tile comes while the one before is multiplied. But here a
// query belongs to one warp, and four of its lanes: its scores leave the tensor core in registers,
// become shares there, and are handed back to it as an operand, without a way through shared memory.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul_bf16/ring.hpp"
#include "day06_transformer_ops/attention_bf16/steps/steps.hpp"
#include "day06_transformer_ops/attention_bf16/steps/warp.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using day05_matmul::Rows16;

// [store]
/// Divides by the sums, rounds, and stores: two neighbours at a time.
/// @param t  of the warp's first query
template <class C>
__device__ __forceinline__ void store(const Warp<C>& o,
                                      const AttentionBf16Problem<typename C::Element>& p, Index at,
                                      std::int64_t t, std::int64_t counted) {
    const int lane = static_cast<int>(threadIdx.x % 32), along_t = p.out.first.rank() - 1;
#pragma unroll
    for (int i = 0; i < C::kDown; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float sum = o.sum[i][h];
            sum += __shfl_xor_sync(0xffffffffu, sum, 1);
            sum += __shfl_xor_sync(0xffffffffu, sum, 2);
            at[along_t] = t + 16 * i + 8 * h + lane / 4;
            if (at[along_t] >= p.tokens()) continue;
            // A token that sees nothing has no sum, and gets 0. A sum that is NaN stays so.
            const float factor = counted < 0 ? NAN : sum == 0 ? 0 : 1 / sum;
            auto* const row = &p.out.first(at);
#pragma unroll
            for (int d = 0; d < C::kHead / 8; ++d) {
                const int column = 8 * d + 2 * (lane % 4);
                if (column < p.q.length) {
                    *reinterpret_cast<std::uint32_t*>(row + column) =
                        gpu::pack<typename C::Element>(factor * o.out[i][d][2 * h],
                                                       factor * o.out[i][d][2 * h + 1]);
                }
            }
            if (lane % 4 == 0) {
                p.keep_log_sum(at, o.m[i][h] * 0.693147181f, counted < 0 ? NAN : sum);  // log(2)
            }
        }
    }
}
// [store]

// [kernel]
// heads: block b has queries of head b / blocks of a head. Its last queries,
// which see most keys, come first.
template <class C>
__global__ void __launch_bounds__(C::kThreads, 2) attention_tensor_cores_kernel(
    const __grid_constant__ AttentionBf16Problem<typename C::Element> p, unsigned blocks) {
    using T = typename C::Element;
    constexpr int KEYS = C::kKeys, HEAD = C::kHead, QUERIES = C::kQueries;
    constexpr int STAGES = C::kStages;
    extern __shared__ __align__(128) unsigned char memory[];
    gpu::SharedTiles tiles(memory);
    const Panel<T, QUERIES> queries{tiles.next<T>(QUERIES * HEAD)};
    T* const keys = tiles.next<T>(STAGES * KEYS * HEAD);
    T* const values = tiles.next<T>(STAGES * KEYS * HEAD);

    const std::int64_t D = p.q.length, counted = p.counted();
    const std::int64_t t0 = std::int64_t{blocks - 1 - blockIdx.x % blocks} * QUERIES;
    const std::int64_t most = p.seen(min(t0 + QUERIES, p.tokens()) - 1, counted);
    const Index at = unravel(blockIdx.x / blocks * p.tokens(), p.q.first.layout.shape);
    const int along_t = p.q.first.rank() - 1;
    const Rows16<T> q{&p.q.first(at), p.tokens(), D, p.q.first.stride(along_t)};
    const Rows16<T> k{&p.keys(at), most, D, p.k_along_s}, v{&p.values(at), most, D, p.v_along_s};
    day05_matmul::copy_tile<QUERIES, HEAD, C::kThreads>(queries, q, t0, 0);
    const auto copy = [&](std::int64_t s0, int stage) {
        if (s0 < most) {
            const int to = stage * KEYS * HEAD;
            day05_matmul::copy_tile<KEYS, HEAD, C::kThreads>(Panel<T, KEYS>{keys + to}, k, s0, 0);
            day05_matmul::copy_tile<KEYS, HEAD, C::kThreads>(Panel<T, KEYS>{values + to}, v, s0, 0);
        }
        gpu::copy_async_commit();  // also of nothing: the wait counts groups
    };
    for (int s = 0; s < STAGES - 1; ++s) copy(s * KEYS, s);

    const float scale = p.scale * 1.44269504f;  // log2(e): exp(x) is exp2(x * log2(e))
    const std::int64_t my_t = t0 + threadIdx.x / 32 * (C::kDown * 16);
    const std::int64_t seen = p.causal ? counted - p.tokens() + my_t + 1 : counted;
    Warp<C> mine(queries);
    int stage = 0;
    for (std::int64_t s0 = 0; s0 < most; s0 += KEYS) {
        gpu::copy_async_wait<STAGES - 2>();
        __syncthreads();  // the tile is there, and all have done with the one before
        copy(s0 + (STAGES - 1) * KEYS, (stage + STAGES - 1) % STAGES);
        const Panel<T, KEYS> tile{values + stage * KEYS * HEAD};
        mine.make_scores(Panel<T, KEYS>{keys + stage * KEYS * HEAD});
        if (s0 + KEYS > seen) mine.hide(static_cast<int>(seen - s0), p.causal ? 1 : 0);
        mine.follow_maximum(scale);
#pragma unroll
        for (int s = 0; s < KEYS; s += 16) {
            std::uint32_t share[C::kDown][4];
            mine.make_shares(share, s, scale);
            mine.add_values(share, tile, s);
        }
        stage = (stage + 1) % STAGES;
    }
    store(mine, p, at, my_t, counted);
}
// [kernel]

template <class C>
void launch(const AttentionBf16Problem<typename C::Element>& p, gpu::Stream stream) {
    const unsigned blocks = gpu::blocks_for(p.tokens(), C::kQueries);
    const unsigned grid = gpu::blocks_for(p.q.count() / p.tokens() * blocks, 1);
    gpu::allow_shared(attention_tensor_cores_kernel<C>, C::kBytes);
    attention_tensor_cores_kernel<C><<<grid, C::kThreads, C::kBytes, stream>>>(p, blocks);
    gpu::check_launch("attention_tensor_cores_kernel", grid, C::kThreads, C::kBytes);
}

}  // namespace

template <class T>
void launch_attention_tensor_cores(const AttentionBf16Problem<T>& p, gpu::Stream stream) {
    p.q.length > 64 ? launch<Cut16<T, 128>>(p, stream) : launch<Cut16<T, 64>>(p, stream);
}

template void launch_attention_tensor_cores(const AttentionBf16Problem<bf16>&, gpu::Stream);
template void launch_attention_tensor_cores(const AttentionBf16Problem<f16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
