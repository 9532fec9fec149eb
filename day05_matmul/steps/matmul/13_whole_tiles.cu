// Step 13: the loop has no guard. A tile that would reach past the matrix begins earlier and ends
// with it: it recomputes some outputs of the adjacent tile and stores only its own. The remainder
// of K after whole tiles comes first, while the ring is being filled. So pointers only advance,
// and at the end the last tile is copied again instead of one past it. Three more changes: any
// layout, by copies whose lanes run along the contiguous dimension; tiles in an order that keeps
// their operands in the L2 cache (no measured difference at 4,096); smaller tiles where large ones
// would be few.
#include "common/gpu/large_shared.hpp"
#include "common/gpu/launch.hpp"
#include "day05_matmul/steps/matmul/feed.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

namespace sixdays::day05_matmul {
namespace {

// Blocks that run at the same time have adjacent numbers. Going through 8 rows
// of tiles column by column, they share their operands' tiles in the L2 cache.
__device__ __forceinline__ Tile whole_tile_of_block(const Problem& x, int BM, int BN) {
    constexpr unsigned kGroup = 8;
    const unsigned matrix = blockIdx.x / (x.down * x.across);
    const unsigned b = blockIdx.x % (x.down * x.across);
    const unsigned top = b / (kGroup * x.across) * kGroup;
    const unsigned rows = x.down - top < kGroup ? x.down - top : kGroup;
    const unsigned at = b - top * x.across;
    const std::int64_t own_m = std::int64_t{top + at % rows} * BM;
    const std::int64_t own_n = std::int64_t{at / rows} * BN;
    const std::int64_t m0 = own_m + BM > x.M ? x.M - BM : own_m;
    const std::int64_t n0 = own_n + BN > x.N ? x.N - BN : own_n;
    Tile tile = tile_at(x, m0, n0, matrix, BM, BN);
    tile.first_row = static_cast<int>(own_m - m0);
    tile.first_column = static_cast<int>(own_n - n0);
    return tile;
}

template <class C, Lanes LANES_A, Lanes LANES_B>
__global__ void __launch_bounds__(C::kThreads, C::kBlocks)
    matmul_whole_tiles_kernel(const __grid_constant__ Problem x) {
    extern __shared__ __align__(16) unsigned char memory[];
    const Tile tile = whole_tile_of_block(x, C::BM, C::BN);
    Feed<C, LANES_A, LANES_B> feed(x, tile, memory);
    const int tiles = static_cast<int>((x.K + C::BK - 1) / C::BK);
    feed.fill(tiles, static_cast<int>(x.K - std::int64_t{tiles - 1} * C::BK));
    feed.wait();
    float sum[C::TM][C::TN] = {}, ra[2][C::TM], rb[2][C::TN];
    feed.load(0, ra[0], rb[0]);
#pragma unroll 1
    // [loop]
    for (int t = 0; t < tiles; ++t) {
#pragma unroll
        for (int k = 0; k < C::BK; ++k) {
            if (k == C::BK - 1) feed.next_stage();
            feed.load((k + 1) % C::BK, ra[(k + 1) % 2], rb[(k + 1) % 2]);
            feed.start(k);
#pragma unroll
            for (int column = 0; column < C::TN; ++column) {
                const int j = k % 2 == 0 ? column : C::TN - 1 - column;
#pragma unroll
                for (int step = 0; step < C::TM; ++step) {
                    const int i = column % 2 == 0 ? step : C::TM - 1 - step;
                    sum[i][j] += ra[k % 2][i] * rb[k % 2][j];
                }
            }
        }
    }
    // [loop]
    gpu::copy_async_wait<0>();
    const auto m_of = [&](int i) { return feed.m0 + i / 4 * 32 + i % 4; };
    const auto n_of = [&](int j) { return feed.n0 + j * 4; };
    store_all(x, tile, sum, m_of, n_of);
}

template <class C, Lanes LANES_A, Lanes LANES_B>
void launch(Problem x, gpu::Stream stream) {
    constexpr std::size_t kBytes = Feed<C, LANES_A, LANES_B>::kBytes;
    static_assert(kBytes <= gpu::kSharedOfAll);
    const unsigned grid = cut_into_tiles(x, C::BM, C::BN);
    auto* const kernel = matmul_whole_tiles_kernel<C, LANES_A, LANES_B>;
    gpu::allow_shared(kernel, kBytes);
    matmul_whole_tiles_kernel<C, LANES_A, LANES_B><<<grid, C::kThreads, kBytes, stream>>>(x);
    gpu::check_launch("matmul_whole_tiles_kernel", grid, C::kThreads, kBytes);
}

// Which dimension of each operand is contiguous? Five pairs are enough; all others use the nearest,
// which is correct for any strides. ALONG_K: the cut where b is copied along k.
template <class C, class ALONG_K = C>
void launch_by_layout(const Problem& x, gpu::Stream stream) {
    const bool a_vectors = x.M % 4 == 0 && a_columns_are_vectors(x);
    const bool b_vectors = x.N % 4 == 0 && b_has_vectors(x);
    const bool b_along_k = x.b_k == 1 && x.b_n != 1;
    if (a_vectors && b_vectors) return launch<C, Lanes::vectors, Lanes::vectors>(x, stream);
    if (b_vectors) return launch<C, Lanes::along_k, Lanes::vectors>(x, stream);
    if (a_vectors && b_along_k) return launch<ALONG_K, Lanes::vectors, Lanes::along_k>(x, stream);
    if (b_along_k) return launch<ALONG_K, Lanes::along_k, Lanes::along_k>(x, stream);
    return launch<C, Lanes::along_k, Lanes::along_row>(x, stream);
}

}  // namespace

void launch_matmul_whole_tiles(WholeTile cut, Problem x, gpu::Stream stream) {
    x = along_rows(x);
    x.vectors_out = x.vectors_out && x.N % 4 == 0;  // a tile may begin at any column
    switch (cut) {
        case WholeTile::large:
            return launch_by_layout<TileShape<2, 4, 8, 16, 3, 1, 11>,
                                    TileShape<2, 4, 8, 16, 3, 1, 13>>(x, stream);
        case WholeTile::medium:
            return launch_by_layout<TileShape<1, 2, 8, 8, 3, 8, 15>>(x, stream);
        case WholeTile::small:
            return launch_by_layout<TileShape<1, 4, 4, 8, 4, 4, 15>>(x, stream);
    }
}

}  // namespace sixdays::day05_matmul
