// Transpose as a tile kernel (CUDA Tile): a tile of `in` is loaded, transposed, and stored as a
// tile of `out`. The compiler handles shared memory, padding and barriers. The launcher guarantees
// the alignment, which the compiler cannot know.
#include <cuda_tile.h>

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day03_views/tiles.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {
namespace {

namespace ct = cuda::tiles;

constexpr int kSide = 64;

// WHOLE > 1 guarantees that extents and pitches are multiples of WHOLE elements, and that both
// matrices begin at multiples of 16 bytes.
// [transpose]
template <class T, int WHOLE>
__tile_global__ void transpose_tile(const T* in, std::int64_t M, std::int64_t N,
                                    std::int64_t pitch_in, std::int64_t pitch_out, T* out) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    constexpr int kBytes = WHOLE == 1 ? int{sizeof(T)} : 16;
    M = ct::assume_divisible<WHOLE>(M);
    N = ct::assume_divisible<WHOLE>(N);
    const ct::layout_strided_mapping rows{
        ct::extents<std::int64_t, kAny, kAny>{M, N},
        ct::strides<std::int64_t, kAny, 1>{ct::assume_divisible<WHOLE>(pitch_in)}};
    const ct::layout_strided_mapping columns{
        ct::extents<std::int64_t, kAny, kAny>{N, M},
        ct::strides<std::int64_t, kAny, 1>{ct::assume_divisible<WHOLE>(pitch_out)}};
    const ct::tensor_span from{ct::assume_aligned<kBytes>(in), rows};
    const ct::tensor_span to{ct::assume_aligned<kBytes>(out), columns};
    const ct::partition_view tiles_in{from, ct::shape<kSide, kSide>{}};
    const ct::partition_view tiles_out{to, ct::shape<kSide, kSide>{}};
    const std::int64_t down = (M + kSide - 1) / kSide;  // neighbouring blocks store adjacent tiles
    const std::int64_t i = ct::bid().x % down, j = ct::bid().x / down;
    tiles_out.store_masked(ct::transpose(tiles_in.load_masked(i, j)), j, i);
}
// [transpose]

template <class T>
void launch_transpose_tile(const T* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in,
                           std::int64_t pitch_out, T* out, gpu::Stream stream) {
    if (M == 1) pitch_in = 0;  // a single row has no pitch
    if (N == 1) pitch_out = 0;
    const bool whole = M % 16 == 0 && N % 16 == 0 && pitch_in % 16 == 0 && pitch_out % 16 == 0 &&
                       gpu::all_at_16_bytes(in, out);
    const auto kernel = whole ? transpose_tile<T, 16> : transpose_tile<T, 1>;
    const unsigned grid = gpu::blocks_for((M + kSide - 1) / kSide * ((N + kSide - 1) / kSide), 1);
    kernel<<<grid, 1, 0, stream>>>(in, M, N, pitch_in, pitch_out, out);
    gpu::check_launch("transpose_tile", grid, 1);
}

}  // namespace

void launch_transpose_tiles(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    const auto each = [&]<class T>(T) {
        for_each_matrix(in.as<T>(), out.as<T>(),
                        [&](auto... matrix) { launch_transpose_tile<T>(matrix..., stream); });
    };
    switch (in.element) {
        case 1:
            return each(std::uint8_t{});
        case 2:
            return each(std::uint16_t{});
        case 4:
            return each(std::uint32_t{});
        case 8:
            return each(std::uint64_t{});
    }
}

}  // namespace sixdays::day03_views
