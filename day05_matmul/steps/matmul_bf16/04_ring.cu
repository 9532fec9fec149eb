// Step 4: tiles in flight. As in step 9 of the float ladder, tiles are in a ring of stages: while
// one is multiplied, the next ones are in flight, in 16-byte copies. A tile has the layout of its
// matrix: K-major, with rows of k's, or MN-major ("across"), with rows of m's or n's. ldmatrix
// transposes the latter as it loads.
#include "day05_matmul/steps/matmul_bf16/ring.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

/// Loads fragments from rows of k's, or from rows of m's or n's.
template <class R, class W>
__device__ __forceinline__ void multiply(W& warps, const R& ring, int stage) {
    using T = typename R::Element;
    warps.template multiply<T>(
        [&](auto& to, int m, int k) {
            if constexpr (R::kAcrossA) {
                load_a_across(to, ring.tile_a(stage), m, k);
            } else {
                load_a(to, ring.tile_a(stage), m, k);
            }
        },
        [&](auto& to, int k, int n) {
            if constexpr (R::kAcrossB) {
                load_b_across(to, ring.tile_b(stage), k, n);
            } else {
                load_b(to, ring.tile_b(stage), k, n);
            }
        });
}

template <class R>
__global__ void __launch_bounds__(R::kThreads)
    matmul_bf16_ring_kernel(const __grid_constant__ Rows16<typename R::Element> a,
                            const __grid_constant__ Rows16<typename R::Element> b, std::int64_t K,
                            const __grid_constant__ Epilogue epilogue,
                            const __grid_constant__ View<float> out) {
    constexpr int STAGES = R::kStages;
    extern __shared__ __align__(128) unsigned char memory[];
    const R ring(memory);
    const TileAt at = tile_of_block(out, R::kM, R::kN);
    Warps<R::kM, R::kN> warps;
    // [loop]
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s * kDepth < K) ring.copy(a, b, at, s * kDepth, s);
        gpu::copy_async_commit();
    }
    int stage = 0;
    for (std::int64_t k0 = 0; k0 < K; k0 += kDepth) {
        gpu::copy_async_wait<STAGES - 2>();  // this thread's copies of the tile have arrived
        __syncthreads();                     // and all other threads' copies
        const std::int64_t next = k0 + (STAGES - 1) * kDepth;
        if (next < K) ring.copy(a, b, at, next, (stage + STAGES - 1) % STAGES);
        gpu::copy_async_commit();  // even if empty: the wait counts groups
        multiply(warps, ring, stage);
        stage = (stage + 1) % STAGES;
    }
    // [loop]
    warps.store(epilogue, out, at.m0, at.n0);
}

}  // namespace

template <class T>
void launch_matmul_bf16_ring(View<const T> a, View<const T> b, const Epilogue& epilogue,
                             View<float> out, gpu::Stream stream) {
    const Operands16<T> x = operands_of(a, b);
    with_ring(x, out, [&]<class R>(std::type_identity<R>) {
        const unsigned grid = blocks_for_tiles(out, R::kM, R::kN);
        gpu::allow_shared(matmul_bf16_ring_kernel<R>, R::kBytes);
        matmul_bf16_ring_kernel<R>
            <<<grid, R::kThreads, R::kBytes, stream>>>(x.a, x.b, x.K, epilogue, out);
        gpu::check_launch("matmul_bf16_ring_kernel", grid, R::kThreads, R::kBytes);
    });
}

template void launch_matmul_bf16_ring(View<const bf16>, View<const bf16>, const Epilogue&,
                                      View<float>, gpu::Stream);
template void launch_matmul_bf16_ring(View<const f16>, View<const f16>, const Epilogue&,
                                      View<float>, gpu::Stream);

}  // namespace sixdays::day05_matmul
