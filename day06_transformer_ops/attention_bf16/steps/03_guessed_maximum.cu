// Step 3: a guessed maximum. A weight is exp(score - m), and the sum is divided out, so any m near
// the maximum will do, as long as nothing overflows and not everything underflows. Usually the
// maximum of the first 64 keys is good enough for all, so the others are not searched. The sums of
// weights, needed anyway, show when m is too small; then the tile is repeated with a search.
#include "day06_transformer_ops/attention_bf16/steps/launch.hpp"
#include "day06_transformer_ops/attention_bf16/steps/place.hpp"
#include "day06_transformer_ops/attention_bf16/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

/// Largest allowed sum of a lane's weights of one query in a tile: f16 ends at 65,504. bf16 uses
/// the same limit.
constexpr float kMaxWeightSum = 32768;

/// Is any sum of this warp too large, or NaN?
template <int DOWN>
__device__ __forceinline__ bool too_large(const float (&sum)[DOWN][2]) {
    bool yes = false;
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
        yes |= !(sum[i][0] <= kMaxWeightSum) || !(sum[i][1] <= kMaxWeightSum);
    }
    return __any_sync(0xffffffffu, yes);
}

/// Scores and weights of a tile. @param search  always search for the maximum
template <class C>
__device__ __forceinline__ void attend(std::uint32_t (&weight)[C::kKeys / 16][C::kDown][4],
                                       Warp<C>& mine, const Place<C>& place, const Tiles<C>& tiles,
                                       int stage, std::int64_t s0, bool search, float scale) {
    float sum[C::kDown][2];
    // [rounds]
    // At most two rounds, the second with a search.
#pragma unroll 1
    for (;; search = true) {
        // In the second round again: the weights have overwritten the scores.
        mine.make_scores(tiles.keys(stage));
        place.hide(mine, s0);
        if (search) {
            float old[C::kDown][2];
            mine.find_maximum(old, scale);
            mine.rescale(old);
        }
#pragma unroll
        for (auto& both : sum) both[0] = both[1] = 0;
#pragma unroll
        for (int s = 0; s < C::kKeys; s += 16) mine.make_weights(weight[s / 16], sum, s, scale);
        if (search || !too_large(sum)) break;
    }
#pragma unroll
    for (int i = 0; i < C::kDown; ++i) {
        mine.sum[i][0] += sum[i][0];
        mine.sum[i][1] += sum[i][1];
    }
    // [rounds]
}

template <class C>
__global__ void __launch_bounds__(C::kThreads, 2) attention_guessed_maximum_kernel(
    const __grid_constant__ AttentionBf16Problem<typename C::Element> p, unsigned heads) {
    constexpr int KEYS = C::kKeys, STAGES = C::kStages;
    extern __shared__ __align__(128) unsigned char memory[];
    const Tiles<C> tiles(memory);
    const Place<C> place(p, heads);
    Ring<C> ring(tiles, place);
    Warp<C> mine(tiles.queries);
    gpu::copy_async_wait<STAGES - 1>();
    __syncthreads();
    mine.hold_queries();
    const float scale = p.scale * 1.44269504f;
    int stage = 0;
    for (std::int64_t s0 = 0; s0 < place.most; s0 += KEYS) {
        gpu::copy_async_wait<STAGES - 2>();
        __syncthreads();
        ring.copy((stage + STAGES - 1) % STAGES, s0 + (STAGES - 1) * KEYS);
        if (place.sees(s0)) {
            std::uint32_t weight[KEYS / 16][C::kDown][4];
            attend(weight, mine, place, tiles, stage, s0, s0 == 0, scale);
#pragma unroll
            for (int s = 0; s < KEYS; s += 16) {
                mine.add_values(weight[s / 16], tiles.values(stage), s);
            }
        }
        stage = (stage + 1) % STAGES;
    }
    place.store(mine);
}

}  // namespace

template <class T>
void launch_attention_guessed_maximum(const AttentionBf16Problem<T>& p, gpu::Stream stream) {
    launch_blocks<T>("attention_guessed_maximum_kernel",
                     attention_guessed_maximum_kernel<Cut16<T, 64>>,
                     attention_guessed_maximum_kernel<Cut16<T, 128>>, p, stream);
}

template void launch_attention_guessed_maximum(const AttentionBf16Problem<bf16>&, gpu::Stream);
template void launch_attention_guessed_maximum(const AttentionBf16Problem<f16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
