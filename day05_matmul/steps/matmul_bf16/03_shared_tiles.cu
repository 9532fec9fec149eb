// Step 3: tiles in shared memory, swizzled. In step 2 each element of a is fetched N / 8 times, and
// each of b M / 16 times. Here a block of eight warps computes 128 x 128 outputs from tiles that
// all of them read, and ldmatrix fetches a fragment with one instruction. Elements are copied one
// by one, so any strides will do.
#include "day05_matmul/steps/matmul_bf16/steps.hpp"
#include "day05_matmul/steps/matmul_bf16/warps.hpp"

namespace sixdays::day05_matmul {
namespace {

constexpr int BM = 128, BN = 128;
using W = Warps<BM, BN>;

/// Fills a tile of ROWS rows, element by element; lanes run along whichever dimension is
/// contiguous.
template <int ROWS, class T, class F>
__device__ void fill(Panel<T, ROWS> tile, bool along_k, const F& element) {
    for (int i = static_cast<int>(threadIdx.x); i < ROWS * kDepth; i += W::kThreads) {
        const int row = along_k ? i / kDepth : i % ROWS;
        const int k = along_k ? i % kDepth : i / ROWS;
        *tile.at(row, k) = element(row, k);
    }
}

template <class T, class Out>
__global__ void __launch_bounds__(W::kThreads)
    matmul_bf16_shared_tiles_kernel(const __grid_constant__ View<const T> a,
                                    const __grid_constant__ View<const T> b,
                                    const __grid_constant__ Epilogue epilogue,
                                    const __grid_constant__ View<Out> out) {
    __shared__ __align__(16) T memory_a[BM * kDepth];
    __shared__ __align__(16) T memory_b[BN * kDepth];
    const Panel<T, BM> tile_a{memory_a};
    const Panel<T, BN> tile_b{memory_b};  // its rows are b's columns
    const std::int64_t M = out.extent(0), N = out.extent(1), K = a.extent(1);
    const auto [m0, n0] = tile_of_block(out, BM, BN);
    const T zero = T::from_bits(0);
    W warps;
    // [loop]
    for (std::int64_t k0 = 0; k0 < K; k0 += kDepth) {
        fill(tile_a, a.stride(1) == 1,
             [&](int m, int k) { return m0 + m < M && k0 + k < K ? a(m0 + m, k0 + k) : zero; });
        fill(tile_b, b.stride(0) == 1,
             [&](int n, int k) { return n0 + n < N && k0 + k < K ? b(k0 + k, n0 + n) : zero; });
        __syncthreads();  // the tiles are complete
        warps.template multiply<T>([&](auto& to, int m, int k) { load_a(to, tile_a, m, k); },
                                   [&](auto& to, int k, int n) { load_b(to, tile_b, k, n); });
        __syncthreads();  // all warps have multiplied them
    }
    // [loop]
    warps.store(epilogue, out, m0, n0);
}

}  // namespace

template <class T, class Out>
void launch_matmul_bf16_shared_tiles(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                     View<Out> out, gpu::Stream stream) {
    const unsigned grid = blocks_for_tiles(out, BM, BN);
    matmul_bf16_shared_tiles_kernel<T, Out><<<grid, W::kThreads, 0, stream>>>(a, b, epilogue, out);
    gpu::check_launch("matmul_bf16_shared_tiles_kernel", grid, W::kThreads);
}

template void launch_matmul_bf16_shared_tiles(View<const bf16>, View<const bf16>, const Epilogue&,
                                              View<float>, gpu::Stream);
template void launch_matmul_bf16_shared_tiles(View<const bf16>, View<const bf16>, const Epilogue&,
                                              View<bf16>, gpu::Stream);
template void launch_matmul_bf16_shared_tiles(View<const f16>, View<const f16>, const Epilogue&,
                                              View<float>, gpu::Stream);
template void launch_matmul_bf16_shared_tiles(View<const f16>, View<const f16>, const Epilogue&,
                                              View<f16>, gpu::Stream);

}  // namespace sixdays::day05_matmul
