// Step 3: a block, a word. Of the tokens that name one row of the table, the first one's block adds
// up all of them, in their order; the blocks of the others see that there was one before, and end. So
// every row has one writer, and the loop's bits.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

// [word_a_block]
__global__ void __launch_bounds__(kThreads)
    embed_word_a_block_kernel(const __grid_constant__ Rows<const float> grad,
                              const __grid_constant__ View<const std::int64_t> ids,
                              const __grid_constant__ View<float> table) {
    __shared__ int found[kThreads];  // tokens of this word among kThreads of them
    __shared__ int count;
    const std::int64_t first = blockIdx.x, id = ids(unravel(first, ids.shape()));
    if (!names_row(id, table)) return;
    const auto is_same = [&](std::int64_t r) { return ids(unravel(r, ids.shape())) == id; };
    // 1. was there one before?
    for (std::int64_t r0 = 0; r0 < first; r0 += kThreads) {
        const std::int64_t r = r0 + threadIdx.x;
        if (__syncthreads_or(r < first && is_same(r))) return;  // all threads of the block
    }
    // 2. the tokens from the first on, kThreads at a time
    for (std::int64_t r0 = first; r0 < grad.count(); r0 += kThreads) {
        const std::int64_t r = r0 + threadIdx.x;
        const bool is_one = r < grad.count() && is_same(r);
        if (__syncthreads_or(is_one) == 0) continue;
        if (threadIdx.x == 0) count = 0;
        for (int warp = 0; warp < kThreads / 32; ++warp) {  // in their order
            __syncthreads();
            if (static_cast<int>(threadIdx.x) / 32 != warp) continue;
            const unsigned those = __ballot_sync(0xffffffffu, is_one);
            const int before = __popc(those & ((1u << threadIdx.x % 32) - 1));
            if (is_one) found[count + before] = static_cast<int>(threadIdx.x);
            __syncwarp();
            if (threadIdx.x % 32 == 0) count += __popc(those);
        }
        __syncthreads();
        for (std::int64_t c = threadIdx.x; c < grad.length; c += kThreads) {
            float sum = table(id, c);
#pragma unroll 4
            for (int i = 0; i < count; ++i) sum += grad.row(r0 + found[i])[c];
            table(id, c) = sum;
        }
        __syncthreads();
    }
}
// [word_a_block]

}  // namespace

void launch_embed_backward_word_a_block(const Rows<const float>& grad,
                                        const View<const std::int64_t>& ids,
                                        const View<float>& table, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(grad.count(), 1);
    embed_word_a_block_kernel<<<grid, kThreads, 0, stream>>>(grad, ids, table);
    gpu::check_launch("embed_word_a_block_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
