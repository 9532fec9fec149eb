// Step 5: the next fragments are loaded while the current ones are multiplied. In step 4 a warp
// fetches fragments, waits for them, multiplies them, and fetches the next: its tensor core is idle
// while it waits. Here there are two sets, one being multiplied and one in flight from shared
// memory, across tiles as well. And addresses are computed once, before the first tile: the loop
// needs only an addition or an exclusive or.
#include "day05_matmul/steps/matmul_bf16/ring.hpp"
#include "day05_matmul/steps/matmul_bf16/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

/// This thread's copies of successive tiles, as in copy_tile(), but only of tiles that are entirely
/// in the matrix: no copy checks bounds.
template <class T, bool ACROSS, int SIZE, int THREADS>
struct Copies {
    static constexpr int kRows = ACROSS ? kDepth : SIZE, kColumns = ACROSS ? SIZE : kDepth;
    static constexpr int kStep = THREADS / (kColumns / 8);
    const T* from;      // this thread's source in the next tile
    std::int64_t step;  // elements between copies
    int to;             // offset in the tile

    /// @param first  the tile's first m or n
    __device__ __forceinline__ Copies(const Rows16<T>& of, std::int64_t first) {
        const int i = static_cast<int>(threadIdx.x);
        const int row = i / (kColumns / 8), column = i % (kColumns / 8) * 8;
        from = of.data + row * of.pitch + column + first * (ACROSS ? 1 : of.pitch);
        step = kStep * of.pitch;
        to = Panel<T, kRows>::offset(row, column);
    }
    __device__ __forceinline__ void start(Panel<T, kRows> tile) {
#pragma unroll
        for (int r = 0; r < kRows; r += kStep) {
            gpu::copy_async<16>(tile.data + to + r * 64, from);
            from += step;
        }
        if (!ACROSS) from += kDepth - kRows / kStep * step;  // first row again, next tile along k
    }
};

/// Where a lane's part of an operand's fragments begins. The swizzle is an exclusive or, so a step
/// along a row of 64 by a multiple of 16 is an exclusive or, too. A step down is an addition.
template <bool ACROSS>
struct Reader {
    int first;  // offset of the warp's first fragment

    /// @param beside  offset along m or n
    template <class T, int ROWS>
    __device__ __forceinline__ void fetch(std::uint32_t (&to)[4], Panel<T, ROWS> tile, int beside,
                                          int k) const {
        if constexpr (ACROSS) {
            gpu::load_matrices_transposed(to, tile.data + (first ^ beside) + k * 64);
        } else {
            gpu::load_matrices(to, tile.data + (first ^ k) + beside * 64);
        }
    }
};

/// The two sets of fragments, and how they are fetched.
template <class R>
struct Fragments {
    using T = typename R::Element;
    using W = Warps<R::kM, R::kN>;
    Reader<R::kAcrossA> read_a;
    Reader<R::kAcrossB> read_b;
    std::uint32_t a[2][W::kDown][4], b[2][W::kAcross / 2][2][2];

    __device__ __forceinline__ explicit Fragments(const W& warps) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const int low = lane % 16, high = lane / 16 * 8;                     // as in load_a()
        const int split = lane % 8 + lane / 16 * 8, odd = lane / 8 % 2 * 8;  // as in load_b()
        using A = Panel<T, R::kRowsA>;
        using B = Panel<T, R::kRowsB>;
        read_a.first =
            R::kAcrossA ? A::offset(split, warps.m + odd) : A::offset(warps.m + low, high);
        read_b.first =
            R::kAcrossB ? B::offset(low, warps.n + high) : B::offset(warps.n + split, odd);
    }
    __device__ __forceinline__ void fetch(int set, const R& ring, int stage, int k) {
#pragma unroll
        for (int i = 0; i < W::kDown; ++i) read_a.fetch(a[set][i], ring.tile_a(stage), 16 * i, k);
#pragma unroll
        for (int j = 0; j < W::kAcross / 2; ++j) {
            std::uint32_t both[4];
            read_b.fetch(both, ring.tile_b(stage), 16 * j, k);
#pragma unroll
            for (int i = 0; i < 4; ++i) b[set][j][i / 2][i % 2] = both[i];
        }
    }
};

template <class R, class Out>
__global__ void __launch_bounds__(R::kThreads)
    matmul_bf16_fragments_ahead_kernel(const __grid_constant__ Rows16<typename R::Element> a,
                                       const __grid_constant__ Rows16<typename R::Element> b,
                                       std::int64_t K, const __grid_constant__ Epilogue epilogue,
                                       const __grid_constant__ View<Out> out) {
    using T = typename R::Element;
    constexpr int STAGES = R::kStages, STEPS = kDepth / 16;
    extern __shared__ __align__(128) unsigned char memory[];
    const R ring(memory);
    const TileAt at = tile_of_block(out, R::kM, R::kN);
    const bool inside = at.m0 + R::kM <= out.extent(0) && at.n0 + R::kN <= out.extent(1);
    Copies<T, R::kAcrossA, R::kM, R::kThreads> copies_a(a, at.m0);
    Copies<T, R::kAcrossB, R::kN, R::kThreads> copies_b(b, at.n0);
    const auto copy = [&](std::int64_t k0, int stage) {
        if (inside && k0 + kDepth <= K) {
            copies_a.start(ring.tile_a(stage));
            copies_b.start(ring.tile_b(stage));
        } else if (k0 < K) {
            ring.copy(a, b, at, k0, stage);
        }
        gpu::copy_async_commit();
    };
    Warps<R::kM, R::kN> warps;
    Fragments<R> fragments(warps);
    for (int s = 0; s < STAGES - 1; ++s) copy(s * kDepth, s);
    gpu::copy_async_wait<STAGES - 2>();
    __syncthreads();
    if (K > 0) fragments.fetch(0, ring, 0, 0);
    int stage = 0;
    // [loop]
    for (std::int64_t k0 = 0; k0 < K; k0 += kDepth) {
        copy(k0 + (STAGES - 1) * kDepth, (stage + STAGES - 1) % STAGES);
#pragma unroll
        for (int i = 0; i < STEPS; ++i) {
            if (i == STEPS - 1) {  // the next fragments belong to the next tile
                gpu::copy_async_wait<STAGES - 2>();
                __syncthreads();
                stage = (stage + 1) % STAGES;
            }
            if (i < STEPS - 1 || k0 + kDepth < K) {
                fragments.fetch((i + 1) % 2, ring, stage, (i + 1) % STEPS * 16);
            }
            warps.template add<T>(fragments.a[i % 2], fragments.b[i % 2]);
        }
    }
    // [loop]
    warps.store(epilogue, out, at.m0, at.n0);
}

}  // namespace

template <class T, class Out>
void launch_matmul_bf16_fragments_ahead(View<const T> a, View<const T> b, const Epilogue& epilogue,
                                        View<Out> out, gpu::Stream stream) {
    const Operands16<T> x = operands_of(a, b);
    with_ring(x, out, [&]<class R>(std::type_identity<R>) {
        const unsigned grid = blocks_for_tiles(out, R::kM, R::kN);
        gpu::allow_shared(matmul_bf16_fragments_ahead_kernel<R, Out>, R::kBytes);
        matmul_bf16_fragments_ahead_kernel<R, Out>
            <<<grid, R::kThreads, R::kBytes, stream>>>(x.a, x.b, x.K, epilogue, out);
        gpu::check_launch("matmul_bf16_fragments_ahead_kernel", grid, R::kThreads, R::kBytes);
    });
}

template void launch_matmul_bf16_fragments_ahead(View<const bf16>, View<const bf16>,
                                                 const Epilogue&, View<float>, gpu::Stream);
template void launch_matmul_bf16_fragments_ahead(View<const bf16>, View<const bf16>,
                                                 const Epilogue&, View<bf16>, gpu::Stream);
template void launch_matmul_bf16_fragments_ahead(View<const f16>, View<const f16>, const Epilogue&,
                                                 View<float>, gpu::Stream);
template void launch_matmul_bf16_fragments_ahead(View<const f16>, View<const f16>, const Epilogue&,
                                                 View<f16>, gpu::Stream);

}  // namespace sixdays::day05_matmul
