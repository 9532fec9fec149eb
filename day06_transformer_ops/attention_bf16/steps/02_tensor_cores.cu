// Step 2: both products on tensor cores. As in step 4 of the float ladder, a block takes 128
// queries and loops over the keys in tiles, and each tile is copied while the previous one is
// multiplied. But here a query belongs to four lanes of one warp: its scores leave the tensor core
// in registers, become attention weights there, and are the operand of the second product.
#include "day06_transformer_ops/attention_bf16/steps/launch.hpp"
#include "day06_transformer_ops/attention_bf16/steps/place.hpp"
#include "day06_transformer_ops/attention_bf16/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [kernel]
template <class C>
__global__ void __launch_bounds__(C::kThreads, 2) attention_tensor_cores_kernel(
    const __grid_constant__ AttentionBf16Problem<typename C::Element> p, unsigned heads) {
    constexpr int KEYS = C::kKeys, STAGES = C::kStages;
    extern __shared__ __align__(128) unsigned char memory[];
    const Tiles<C> tiles(memory);
    const Place<C> place(p, heads);
    Ring<C> ring(tiles, place);
    Warp<C> mine(tiles.queries);
    gpu::copy_async_wait<STAGES - 1>();
    __syncthreads();  // the queries have arrived
    mine.hold_queries();
    const float scale = p.scale * 1.44269504f;  // log2(e): exp(x) is exp2(x * log2(e))
    int stage = 0;
    for (std::int64_t s0 = 0; s0 < place.most; s0 += KEYS) {
        gpu::copy_async_wait<STAGES - 2>();
        __syncthreads();  // the tile has arrived, and all warps have finished the previous one
        ring.copy((stage + STAGES - 1) % STAGES, s0 + (STAGES - 1) * KEYS);
        if (place.sees(s0)) {
            mine.make_scores(tiles.keys(stage));
            place.hide(mine, s0);
            float old[C::kDown][2];
            mine.find_maximum(old, scale);
            mine.rescale(old);
#pragma unroll
            for (int s = 0; s < KEYS; s += 16) {
                std::uint32_t weight[C::kDown][4];
                mine.make_weights(weight, mine.sum, s, scale);
                mine.add_values(weight, tiles.values(stage), s);
            }
        }
        stage = (stage + 1) % STAGES;
    }
    place.store(mine);
}
// [kernel]

}  // namespace

template <class T>
void launch_attention_tensor_cores(const AttentionBf16Problem<T>& p, gpu::Stream stream) {
    launch_blocks<T>("attention_tensor_cores_kernel", attention_tensor_cores_kernel<Cut16<T, 64>>,
                     attention_tensor_cores_kernel<Cut16<T, 128>>, p, stream);
}

template void launch_attention_tensor_cores(const AttentionBf16Problem<bf16>&, gpu::Stream);
template void launch_attention_tensor_cores(const AttentionBf16Problem<f16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
