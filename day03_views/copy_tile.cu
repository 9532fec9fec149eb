// Copy as a tile kernel (CUDA Tile): the strides are part of the two spans, so the kernel is one
// load and one store. The compiler decides how threads read and write the tile.
#include "day03_views/tiles.hpp"

#include "common/gpu/strided_tiles.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/vectorized.hpp"

namespace sixdays::day03_views {
namespace {

namespace ct = cuda::tiles;
using gpu::I, gpu::strided_tiles, gpu::four, gpu::tiles_of;

template <class T, int WHOLE, int ROWS, int COLUMNS>
__tile_global__ void copy_tile(const T* in, I n0, I n1, I n2, I n3, I from0, I from1, I from2,
                               I from3, I to0, I to1, I to2, I to3, T* out) {
    const auto from =
        strided_tiles<WHOLE, ROWS, COLUMNS>(in, n0, n1, n2, n3, from0, from1, from2, from3);
    const auto to = strided_tiles<WHOLE, ROWS, COLUMNS>(out, n0, n1, n2, n3, to0, to1, to2, to3);
    const I down = (n2 + ROWS - 1) / ROWS, across = (n3 + COLUMNS - 1) / COLUMNS;
    const I k = ct::bid().x;  // the flat tile index, split into indices, last dimension first
    const I d = k % across, c = k / across % down, b = k / across / down % n1,
            a = k / across / down / n1;
    to.store_masked(from.load_masked(a, b, c, d), a, b, c, d);
}

template <class T, int WHOLE, int ROWS, int COLUMNS>
void launch(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    const auto n = four(out.layout.shape, 1), from = four(in.layout.strides, 0),
               to = four(out.layout.strides, 0);
    const unsigned grid = tiles_of(n, ROWS, COLUMNS);
    copy_tile<T, WHOLE, ROWS, COLUMNS><<<grid, 1, 0, stream>>>(
        static_cast<const T*>(in.data), n[0], n[1], n[2], n[3], from[0], from[1], from[2], from[3],
        to[0], to[1], to[2], to[3], static_cast<T*>(out.data));
    gpu::check_launch("copy_tile", grid, 1);
}

template <class T>
void launch(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    constexpr int kWhole = 16 / sizeof(T);
    const bool whole =
        has_wider(in.data, in.layout, in.element) && has_wider(out.data, out.layout, out.element);
    if (out.layout.rank() == 1) {
        return whole ? launch<T, kWhole, 1, 4096>(in, out, stream)
                     : launch<T, 1, 1, 4096>(in, out, stream);
    }
    return whole ? launch<T, kWhole, 64, 64>(in, out, stream)
                 : launch<T, 1, 64, 64>(in, out, stream);
}

}  // namespace

void launch_copy_tile(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    switch (in.element) {
        case 1:
            return launch<std::uint8_t>(in, out, stream);
        case 2:
            return launch<std::uint16_t>(in, out, stream);
        case 4:
            return launch<std::uint32_t>(in, out, stream);
        case 8:
            return launch<std::uint64_t>(in, out, stream);
    }
}

}  // namespace sixdays::day03_views
