// The naive kernel, and the dispatch. Faster versions are in steps/matmul_bf16/.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day05_matmul/matmul_bf16.hpp"
#include "day05_matmul/stack.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"
#include "day05_matmul/tiles.hpp"

namespace sixdays::day05_matmul {

// --- the naive kernel ----------------------------------------------------------------------------
namespace {

template <class T>
__global__ void matmul_bf16_kernel(const __grid_constant__ View<const T> a,
                                   const __grid_constant__ View<const T> b,
                                   const __grid_constant__ Epilogue epilogue,
                                   const __grid_constant__ View<float> out) {
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    const std::int64_t n = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        float sum = 0;
        for (std::int64_t k = 0; k < K; ++k) {
            sum += static_cast<float>(a(m, k)) * static_cast<float>(b(k, n));
        }
        out(m, n) = epilogue(sum, n, out(m, n));
    }
}

template <class T>
void launch_one_element(View<const T> a, View<const T> b, const Epilogue& epilogue, View<float> out,
                        gpu::Stream stream) {
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(out.extent(1), 32), gpu::blocks_for(out.extent(0), 8));
    matmul_bf16_kernel<T><<<grid, block, 0, stream>>>(a, b, epilogue, out);
    gpu::check_launch("matmul_bf16_kernel", grid, block);
}

}  // namespace

// --- the dispatch --------------------------------------------------------------------------------

template <class T>
void matmul_bf16_cuda(View<const T> a, View<const T> b, const Epilogue& epilogue, View<float> out,
                      const gpu::Launch<MatmulBf16Path>& how) {
    check_matmul_bf16(a, b, epilogue, out, how.path);
    if (out.size() == 0) return;
    const MatmulBf16Path path = how.path.value_or(choose_matmul_bf16(a, b, epilogue, out));
    const auto one = [&](View<const T> x, View<const T> y, const Epilogue& then, View<float> to) {
        switch (path) {
            case MatmulBf16Path::one_element:
                return launch_one_element(x, y, then, to, how.stream);
            case MatmulBf16Path::one_warp:
                return launch_matmul_bf16_one_warp(x, y, then, to, how.stream);
            case MatmulBf16Path::shared_tiles:
                return launch_matmul_bf16_shared_tiles(x, y, then, to, how.stream);
            case MatmulBf16Path::ring:
                return launch_matmul_bf16_ring(x, y, then, to, how.stream);
            case MatmulBf16Path::fragments_ahead:
                return launch_matmul_bf16_fragments_ahead(x, y, then, to, how.stream);
            case MatmulBf16Path::warpgroups:
                return launch_matmul_bf16_warpgroups(x, y, then, to, how.stream);
            case MatmulBf16Path::persistent:
                return launch_matmul_bf16_persistent(x, y, then, to, how.stream);
            case MatmulBf16Path::ping_pong:
                return launch_matmul_bf16_ping_pong(x, y, then, to, how.stream);
            case MatmulBf16Path::tile:
                return gpu::by_tile("matmul_bf16",
                                    [&] { launch_matmul_bf16_tile(x, y, then, to, how.stream); });
        }
    };
    for_each_matrix(a, b, epilogue, out, one);  // one launch per matrix of the stack
}

template void matmul_bf16_cuda(View<const bf16>, View<const bf16>, const Epilogue&, View<float>,
                               const gpu::Launch<MatmulBf16Path>&);
template void matmul_bf16_cuda(View<const f16>, View<const f16>, const Epilogue&, View<float>,
                               const gpu::Launch<MatmulBf16Path>&);

}  // namespace sixdays::day05_matmul
