// Step 3: one block per distinct id. The block of the first token with an id adds up all tokens
// with it, in order; the blocks of the others find an earlier token and return. So every row has
// one writer, and the result is bitwise equal to the CPU reference.
#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 512, kWarps = kThreads / 32;

// rows: the offsets of each token's gradient and of its id.
template <int RANK>
__global__ void __launch_bounds__(kThreads)
    embed_word_a_block_kernel(const __grid_constant__ Walk<RANK, 2> rows, const float* grad,
                              std::int64_t stride, const std::int64_t* ids,
                              const __grid_constant__ View<float> table) {
    __shared__ int found[kThreads];  // tokens with this id among kThreads tokens
    __shared__ int of_warp[kWarps];  // how many of them each warp has found
    const unsigned first = blockIdx.x, thread = threadIdx.x;
    const auto id_of = [&](unsigned r) { return ids[rows.offsets(r).of[1]]; };
    const std::int64_t id = id_of(first);
    if (!names_row(id, table)) return;
    // 1. is there an earlier one?
    for (unsigned r0 = 0; r0 < first; r0 += kThreads) {
        const unsigned r = r0 + thread;
        if (__syncthreads_or(r < first && id_of(r) == id)) return;  // all threads of the block
    }
    // 2. the tokens from the first on, kThreads at a time
    for (unsigned r0 = first; r0 < rows.size; r0 += kThreads) {
        const unsigned r = r0 + thread;
        const bool is_one = r < rows.size && id_of(r) == id;
        const unsigned those = __ballot_sync(0xffffffffu, is_one);
        if (thread % 32 == 0) of_warp[thread / 32] = __popc(those);
        if (__syncthreads_or(is_one) == 0) continue;
        int before = __popc(those & ((1u << thread % 32) - 1)), count = 0;
        for (int warp = 0; warp < kWarps; ++warp) {
            if (warp == static_cast<int>(thread / 32)) before += count;
            count += of_warp[warp];
        }
        if (is_one) found[before] = static_cast<int>(thread);  // in their order
        __syncthreads();
        for (std::int64_t c = thread; c < table.extent(1); c += kThreads) {
            float sum = table(id, c);
#pragma unroll 8
            for (int i = 0; i < count; ++i) {
                sum += grad[rows.offsets(r0 + found[i]).of[0] + c * stride];
            }
            table(id, c) = sum;
        }
    }
}

}  // namespace

void launch_embed_backward_word_a_block(const Rows<const float>& grad,
                                        const View<const std::int64_t>& ids,
                                        const View<float>& table, gpu::Stream stream) {
    if (grad.count() == 0) return;
    const unsigned grid = gpu::blocks_for(grad.count(), 1);
    with_rank(ids.rank(), [&](auto rank) {
        constexpr int RANK = rank <= 2 ? 2 : kMaxRank;
        const Walk<RANK, 2> rows({grad.first.layout, ids.layout});
        embed_word_a_block_kernel<RANK>
            <<<grid, kThreads, 0, stream>>>(rows, grad.first.data, grad.stride, ids.data, table);
        gpu::check_launch("embed_word_a_block_kernel", grid, kThreads);
    });
}

}  // namespace sixdays::day06_transformer_ops
