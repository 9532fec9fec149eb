// The naive kernel, and the dispatch. Faster versions are in steps/matmul/.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day05_matmul/matmul.hpp"
#include "day05_matmul/stack.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/tiles.hpp"

namespace sixdays::day05_matmul {

// --- the naive kernel ----------------------------------------------------------------------------
namespace {

// [matmul]
__global__ void matmul_kernel(const __grid_constant__ View<const float> a,
                              const __grid_constant__ View<const float> b,
                              const __grid_constant__ Epilogue epilogue,
                              const __grid_constant__ View<float> out) {
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    const std::int64_t m = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t n = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        float sum = 0;
        for (std::int64_t k = 0; k < K; ++k) {
            sum += a(m, k) * b(k, n);
        }
        out(m, n) = epilogue(sum, n, out(m, n));
    }
}
// [matmul]

// One launch per matrix of the stack.
void matmul_one_element(View<const float> a, View<const float> b, const Epilogue& epilogue,
                        View<float> out, gpu::Stream stream) {
    const auto one = [stream](View<const float> x, View<const float> y, const Epilogue& then,
                              View<float> to) {
        const dim3 block(32, 8);
        const dim3 grid(gpu::blocks_for(to.extent(0), 32), gpu::blocks_for(to.extent(1), 8));
        matmul_kernel<<<grid, block, 0, stream>>>(x, y, then, to);
        gpu::check_launch("matmul_kernel", grid, block);
    };
    for_each_matrix(a, b, epilogue, out, one);
}

}  // namespace

// --- the dispatch --------------------------------------------------------------------------------

void launch_matmul(MatmulPath path, const Problem& x, gpu::Workspace workspace,
                   gpu::Stream stream) {
    switch (path) {
        case MatmulPath::one_element:
        case MatmulPath::tile:
            break;  // these take the views themselves
        case MatmulPath::lanes_along_n:
            return launch_matmul_lanes_along_n(x, stream);
        case MatmulPath::shared_tile:
            return launch_matmul_shared_tile(x, stream);
        case MatmulPath::transposed_tile:
            return launch_matmul_transposed_tile(x, stream);
        case MatmulPath::column_per_thread:
            return launch_matmul_column_per_thread(x, stream);
        case MatmulPath::square_per_thread:
            return launch_matmul_square_per_thread(x, stream);
        case MatmulPath::vectorized:
            return launch_matmul_vectorized(x, stream);
        case MatmulPath::warp_tiles:
            return launch_matmul_warp_tiles(x, stream);
        case MatmulPath::ring:
            return launch_matmul_ring(x, stream);
        case MatmulPath::fragments:
            return launch_matmul_fragments(x, stream);
        case MatmulPath::serpentine:
            return launch_matmul_serpentine(x, stream);
        case MatmulPath::spread_copies:
            return launch_matmul_spread_copies(x, stream);
        case MatmulPath::whole_tiles:
            return launch_matmul_whole_tiles(cut_for(x), x, stream);
        case MatmulPath::skinny:
            return launch_matmul_skinny(x, stream);
        case MatmulPath::shallow:
            return launch_matmul_shallow(x, stream);
        case MatmulPath::split_k: {
            const auto parts = gpu::carve("matmul", workspace,
                                          [&](gpu::Carver& c) { return room_for_parts(c, x); });
            return launch_matmul_split_k(x, parts.data, stream);
        }
    }
}

void matmul_cuda(View<const float> a, View<const float> b, const Epilogue& epilogue,
                 View<float> out, const gpu::Launch<MatmulPath>& how) {
    const auto [path, problem] = plan_matmul(a, b, epilogue, out, how);
    if (out.size() == 0) return;
    if (path == MatmulPath::one_element) return matmul_one_element(a, b, epilogue, out, how.stream);
    if (path == MatmulPath::tile) {
        return gpu::by_tile("matmul", [&] { launch_matmul_tile(a, b, epilogue, out, how.stream); });
    }
    launch_matmul(path, problem, how.workspace, how.stream);
}

}  // namespace sixdays::day05_matmul
