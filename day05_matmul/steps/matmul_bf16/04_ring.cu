// Step 4: tiles in flight. As in step 9 of the float ladder, tiles lie in a ring of stages: while one
// is multiplied, the next ones are on their way, 16 bytes a copy. A tile lies as its matrix does: with
// rows of k's, or across, with rows of m's or n's; ldmatrix turns the latter on the way.
#include "common/gpu/device.hpp"
#include "common/gpu/large_shared.hpp"
#include "common/gpu/ptx.hpp"
#include "common/gpu/shared_tiles.hpp"
#include "day05_matmul/steps/matmul_bf16/operands.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"
#include "day05_matmul/steps/matmul_bf16/warps.hpp"

namespace sixdays::day05_matmul {
namespace {

// [copy]
/// Starts this thread's copies of the tile of `of` that begins at (row0, column0): 16 bytes of a row,
/// and the same of rows further on. What lies outside of the matrix becomes 0.
template <int ROWS, int COLUMNS, int THREADS, class T>
__device__ __forceinline__ void copy_tile(Panel<T, ROWS> tile, const Rows16<T>& of,
                                          std::int64_t row0, std::int64_t column0) {
    constexpr int kStep = THREADS / (COLUMNS / 8);  // rows from one copy to the next
    static_assert(kStep % 8 == 0, "so that all lie at the same place of their rows");
    const int i = static_cast<int>(threadIdx.x);
    const int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;
    const std::int64_t rows = of.rows - row0 - row, columns = of.columns - column0 - column;
    const int valid = columns >= 8 ? 16 : columns > 0 ? 2 * static_cast<int>(columns) : 0;
    const T* from = of.data + (row0 + row) * of.pitch + column0 + column;
    T* const to = tile.at(row, column);
#pragma unroll
    for (int r = 0; r < ROWS; r += kStep) {
        gpu::copy_async<16>(to + r * 64, from, r < rows ? valid : 0);
        from += kStep * of.pitch;
    }
}
// [copy]

/// The ring: where the tiles of a stage lie, how they come there, and how fragments are fetched.
/// @tparam A_ACROSS, B_ACROSS  do the rows of a's or b's tile hold m's or n's instead of k's?
template <class T, int BM, int BN, int STAGES, bool A_ACROSS, bool B_ACROSS>
struct Ring16 {
    static constexpr int kThreads = Warps<BM, BN>::kThreads;
    static constexpr int kRowsA = A_ACROSS ? kDepth : BM, kRowsB = B_ACROSS ? kDepth : BN;
    static constexpr std::size_t kBytes =
        gpu::tile_bytes<T>(STAGES * BM * kDepth) + gpu::tile_bytes<T>(STAGES * BN * kDepth);
    T *a, *b;  // stage 0

    __device__ __forceinline__ explicit Ring16(unsigned char* memory) {
        gpu::SharedTiles tiles(memory);
        a = tiles.next<T>(STAGES * BM * kDepth);
        b = tiles.next<T>(STAGES * BN * kDepth);
    }
    __device__ __forceinline__ Panel<T, kRowsA> tile_a(int stage) const {
        return {a + stage * BM * kDepth};
    }
    __device__ __forceinline__ Panel<T, kRowsB> tile_b(int stage) const {
        return {b + stage * BN * kDepth};
    }
    __device__ __forceinline__ void copy(const Rows16<T>& of_a, const Rows16<T>& of_b, TileAt at,
                                         std::int64_t k0, int stage) const {
        if constexpr (A_ACROSS) {
            copy_tile<kDepth, BM, kThreads>(tile_a(stage), of_a, k0, at.m0);
        } else {
            copy_tile<BM, kDepth, kThreads>(tile_a(stage), of_a, at.m0, k0);
        }
        if constexpr (B_ACROSS) {
            copy_tile<kDepth, BN, kThreads>(tile_b(stage), of_b, k0, at.n0);
        } else {
            copy_tile<BN, kDepth, kThreads>(tile_b(stage), of_b, at.n0, k0);
        }
    }
    __device__ __forceinline__ void multiply(Warps<BM, BN>& warps, int stage) const {
        warps.template multiply<T>(
            [&](auto& to, int m, int k) {
                if constexpr (A_ACROSS) {
                    load_a_across(to, tile_a(stage), m, k);
                } else {
                    load_a(to, tile_a(stage), m, k);
                }
            },
            [&](auto& to, int k, int n) {
                if constexpr (B_ACROSS) {
                    load_b_across(to, tile_b(stage), k, n);
                } else {
                    load_b(to, tile_b(stage), k, n);
                }
            });
    }
};

// [kernel]
template <class T, int BM, int BN, int STAGES, bool A_ACROSS, bool B_ACROSS>
__global__ void __launch_bounds__(Warps<BM, BN>::kThreads)
    matmul_bf16_ring_kernel(const __grid_constant__ Rows16<T> a,
                            const __grid_constant__ Rows16<T> b, std::int64_t K,
                            const __grid_constant__ Epilogue epilogue,
                            const __grid_constant__ View<float> out) {
    extern __shared__ __align__(128) unsigned char memory[];
    const Ring16<T, BM, BN, STAGES, A_ACROSS, B_ACROSS> ring(memory);
    const TileAt at = tile_of_block(out, BM, BN);
    Warps<BM, BN> warps;
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s * kDepth < K) ring.copy(a, b, at, s * kDepth, s);
        gpu::copy_async_commit();
    }
    int stage = 0;
    for (std::int64_t k0 = 0; k0 < K; k0 += kDepth) {
        gpu::copy_async_wait<STAGES - 2>();  // what I copied of this tile is there
        __syncthreads();                     // and what the others copied
        const std::int64_t next = k0 + (STAGES - 1) * kDepth;
        if (next < K) ring.copy(a, b, at, next, (stage + STAGES - 1) % STAGES);
        gpu::copy_async_commit();  // also of nothing: the wait counts groups
        ring.multiply(warps, stage);
        stage = (stage + 1) % STAGES;
    }
    warps.store(epilogue, out, at.m0, at.n0);
}
// [kernel]

template <class T, int BM, int BN, int STAGES, bool A_ACROSS, bool B_ACROSS>
void launch(const Rows16<T>& a, const Rows16<T>& b, std::int64_t K, const Epilogue& epilogue,
            View<float> out, gpu::Stream stream) {
    using R = Ring16<T, BM, BN, STAGES, A_ACROSS, B_ACROSS>;
    const unsigned grid = blocks_for_tiles(out, BM, BN);
    gpu::allow_shared(matmul_bf16_ring_kernel<T, BM, BN, STAGES, A_ACROSS, B_ACROSS>, R::kBytes);
    matmul_bf16_ring_kernel<T, BM, BN, STAGES, A_ACROSS, B_ACROSS>
        <<<grid, R::kThreads, R::kBytes, stream>>>(a, b, K, epilogue, out);
    gpu::check_launch("matmul_bf16_ring_kernel", grid, R::kThreads, R::kBytes);
}

template <class T, int BM, int BN, int STAGES>
void launch_cut(const Operands16<T>& x, const Epilogue& epilogue, View<float> out,
                gpu::Stream stream) {
    const auto go = [&](auto a_across, auto b_across) {
        launch<T, BM, BN, STAGES, a_across.value, b_across.value>(x.a, x.b, x.K, epilogue, out,
                                                                  stream);
    };
    using Yes = std::true_type;
    using No = std::false_type;
    if (x.a_across) return x.b_across ? go(Yes{}, Yes{}) : go(Yes{}, No{});
    return x.b_across ? go(No{}, Yes{}) : go(No{}, No{});
}

}  // namespace

template <class T>
void launch_matmul_bf16_ring(View<const T> a, View<const T> b, const Epilogue& epilogue,
                             View<float> out, gpu::Stream stream) {
    const Operands16<T> x = operands_of(a, b);
    if (cut_for_ring(out.extent(0), out.extent(1), gpu::multiprocessors(), gpu::most_shared()) ==
        RingCut::wide) {
        return launch_cut<T, 128, 256, 4>(x, epilogue, out, stream);
    }
    launch_cut<T, 128, 128, 3>(x, epilogue, out, stream);
}

template void launch_matmul_bf16_ring(View<const bf16>, View<const bf16>, const Epilogue&,
                                      View<float>, gpu::Stream);
template void launch_matmul_bf16_ring(View<const f16>, View<const f16>, const Epilogue&,
                                      View<float>, gpu::Stream);

}  // namespace sixdays::day05_matmul
