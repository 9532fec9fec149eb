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

template <class T, class Out>
__global__ void matmul_bf16_kernel(const __grid_constant__ View<const T> a,
                                   const __grid_constant__ View<const T> b,
                                   const __grid_constant__ Epilogue epilogue,
                                   const __grid_constant__ View<Out> out) {
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    const std::int64_t n = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        float sum = 0;
        for (std::int64_t k = 0; k < K; ++k) {
            sum += static_cast<float>(a(m, k)) * static_cast<float>(b(k, n));
        }
        out(m, n) = static_cast<Out>(epilogue(sum, n, out(m, n)));
    }
}

template <class T, class Out>
void launch_one_element(View<const T> a, View<const T> b, const Epilogue& epilogue, View<Out> out,
                        gpu::Stream stream) {
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(out.extent(1), 32), gpu::blocks_for(out.extent(0), 8));
    matmul_bf16_kernel<T, Out><<<grid, block, 0, stream>>>(a, b, epilogue, out);
    gpu::check_launch("matmul_bf16_kernel", grid, block);
}

}  // namespace

// --- the dispatch --------------------------------------------------------------------------------

template <class T, class Out>
void matmul_bf16_cuda(View<const T> a, View<const T> b, const Epilogue& epilogue, View<Out> out,
                      const gpu::Launch<MatmulBf16Path>& how) {
    check_matmul_bf16(a, b, epilogue, out, how.path);
    if (out.size() == 0) return;
    const MatmulBf16Path path = how.path.value_or(choose_matmul_bf16(a, b, epilogue, out));
    const auto one = [&](View<const T> x, View<const T> y, const Epilogue& then, View<Out> to) {
        // check_matmul_bf16() has rejected other outputs.
        const auto if_floats = [&](const auto& launch) {
            if constexpr (std::is_same_v<Out, float>) launch(x, y, then, to, how.stream);
        };
        switch (path) {
            case MatmulBf16Path::one_element:
                return launch_one_element(x, y, then, to, how.stream);
            case MatmulBf16Path::one_warp:
                return if_floats(launch_matmul_bf16_one_warp<T>);
            case MatmulBf16Path::shared_tiles:
                return launch_matmul_bf16_shared_tiles(x, y, then, to, how.stream);
            case MatmulBf16Path::ring:
                return if_floats(launch_matmul_bf16_ring<T>);
            case MatmulBf16Path::fragments_ahead:
                return launch_matmul_bf16_fragments_ahead(x, y, then, to, how.stream);
            case MatmulBf16Path::warpgroups:
                return if_floats(launch_matmul_bf16_warpgroups<T>);
            case MatmulBf16Path::persistent:
                return if_floats(launch_matmul_bf16_persistent<T>);
            case MatmulBf16Path::ping_pong:
                return launch_matmul_bf16_ping_pong(x, y, then, to, how.stream);
            case MatmulBf16Path::tile:
                return gpu::by_tile("matmul_bf16", [&] { if_floats(launch_matmul_bf16_tile<T>); });
        }
    };
    for_each_matrix(a, b, epilogue, out, one);  // one launch per matrix of the stack
}

#define SIXDAYS_FOR(T, Out)                                                                  \
    template void matmul_bf16_cuda(View<const T>, View<const T>, const Epilogue&, View<Out>, \
                                   const gpu::Launch<MatmulBf16Path>&);
SIXDAYS_FOR(bf16, float)
SIXDAYS_FOR(bf16, bf16)
SIXDAYS_FOR(f16, float)
SIXDAYS_FOR(f16, f16)
#undef SIXDAYS_FOR

}  // namespace sixdays::day05_matmul
