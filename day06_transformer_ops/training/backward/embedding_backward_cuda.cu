// The twin, one thread per column, and the launchers.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

__global__ void embed_backward_kernel(const __grid_constant__ Rows<const float> grad,
                                      const __grid_constant__ View<const std::int64_t> ids,
                                      const __grid_constant__ View<const std::int64_t> places,
                                      const __grid_constant__ EmbedGradients d) {
    const std::int64_t c = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (c < grad.length) {
        for (std::int64_t r = 0; r < grad.count(); ++r) {
            const Index at = unravel(r, ids.shape());
            const float g = grad.row(r)[c];
            if (names_row(ids(at), d.tokens)) d.tokens(ids(at), c) += g;
            if (d.positions.rank() > 0 && names_row(places(at), d.positions)) {
                d.positions(places(at), c) += g;
            }
        }
    }
}

}  // namespace

void embed_backward_cuda(View<const float> grad, View<const std::int64_t> ids,
                         View<const std::int64_t> places, const EmbedGradients& d,
                         const gpu::Launch<EmbedBackwardPath>& how) {
    check_embed_backward(grad, ids, places, d, how.path);
    if (grad.size() == 0) return;
    const Rows<const float> rows = rows_along(grad, grad.rank() - 1);
    places = places_of(ids, places, d);
    switch (how.path.value_or(EmbedBackwardPath::word_a_block)) {
        case EmbedBackwardPath::column_per_thread: {
            const unsigned grid = gpu::blocks_for(rows.length, kThreads);
            embed_backward_kernel<<<grid, kThreads, 0, how.stream>>>(rows, ids, places, d);
            return gpu::check_launch("embed_backward_kernel", grid, kThreads);
        }
        case EmbedBackwardPath::atomics:
            return launch_embed_backward_atomics(rows, ids, places, d, how.stream);
        case EmbedBackwardPath::word_a_block:
            launch_embed_backward_word_a_block(rows, ids, d.tokens, how.stream);
            if (d.positions.rank() == 0) return;
            return launch_embed_backward_word_a_block(rows, places, d.positions, how.stream);
    }
}

}  // namespace sixdays::day06_transformer_ops
