// Tile kernels (CUDA Tile). A block loads a tile of 2,048 elements, computes with it as if it were
// one number, and stores it. The compiler maps elements to threads. Instead of a guard `i < n`
// there is a mask: elements past the end are neither loaded nor stored.
//
// BYTES is the alignment that the caller guarantees for all tensors. 4 always holds; 16 allows
// 128-bit accesses and is passed only where it holds.
#include <cuda_tile.h>

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day01_flat_memory/tiles.hpp"

namespace sixdays::day01_flat_memory {

// --- kernels -------------------------------------------------------------------------------------
namespace {

namespace ct = cuda::tiles;

constexpr int kTile = 2048;

// [tiles]
// n elements in tiles of 2,048; the last tile may extend past the end.
template <int BYTES, class T>
__tile__ auto tiles(T* data, std::int64_t n) {
    const ct::extents<std::int64_t, ct::dynamic_extent> all{n};
    const ct::tensor_span span{ct::assume_aligned<BYTES>(data), all};
    return ct::partition_view{span, ct::shape<kTile>{}};
}
// [tiles]

template <int BYTES>
__tile_global__ void square_tile(const float* in, std::int64_t n, float* out) {
    const auto i = ct::bid().x;
    const auto x = tiles<BYTES>(in, n).load_masked(i);
    tiles<BYTES>(out, n).store_masked(x * x, i);
}

template <int BYTES>
__tile_global__ void scale_tile(float alpha, const float* in, std::int64_t n, float* out) {
    const auto i = ct::bid().x;
    const auto x = tiles<BYTES>(in, n).load_masked(i);
    tiles<BYTES>(out, n).store_masked(alpha * x, i);
}

template <int BYTES>
__tile_global__ void saxpy_tile(float alpha, const float* x, const float* y, std::int64_t n,
                                float* out) {
    const auto i = ct::bid().x;
    const auto mine = tiles<BYTES>(x, n).load_masked(i);
    const auto sum = ct::fma(alpha, mine, tiles<BYTES>(y, n).load_masked(i));
    tiles<BYTES>(out, n).store_masked(sum, i);
}

// [add]
template <int BYTES>
__tile_global__ void add_tile(const float* a, const float* b, std::int64_t n, float* out) {
    const auto i = ct::bid().x;
    const auto sum = tiles<BYTES>(a, n).load_masked(i) + tiles<BYTES>(b, n).load_masked(i);
    tiles<BYTES>(out, n).store_masked(sum, i);
}
// [add]

template <int BYTES>
__tile_global__ void invert_tile(const std::uint8_t* in, std::int64_t n, std::uint8_t* out) {
    const auto i = ct::bid().x;
    const auto x = tiles<BYTES>(in, n).load_masked(i);
    tiles<BYTES>(out, n).store_masked(std::uint8_t{255} - x, i);
}

}  // namespace

// --- launchers -----------------------------------------------------------------------------------

void launch_square_tile(View<const float> in, View<float> out, gpu::Stream stream) {
    const bool aligned = gpu::all_at_16_bytes(in.data, out.data);
    const auto kernel = aligned ? square_tile<16> : square_tile<4>;
    const unsigned grid = gpu::blocks_for(out.size(), kTile);
    kernel<<<grid, 1, 0, stream>>>(in.data, out.size(), out.data);
    gpu::check_launch("square_tile", grid, 1);
}

void launch_scale_tile(float alpha, View<const float> in, View<float> out, gpu::Stream stream) {
    const bool aligned = gpu::all_at_16_bytes(in.data, out.data);
    const auto kernel = aligned ? scale_tile<16> : scale_tile<4>;
    const unsigned grid = gpu::blocks_for(out.size(), kTile);
    kernel<<<grid, 1, 0, stream>>>(alpha, in.data, out.size(), out.data);
    gpu::check_launch("scale_tile", grid, 1);
}

void launch_saxpy_tile(float alpha, View<const float> x, View<const float> y, View<float> out,
                       gpu::Stream stream) {
    const bool aligned = gpu::all_at_16_bytes(x.data, y.data, out.data);
    const auto kernel = aligned ? saxpy_tile<16> : saxpy_tile<4>;
    const unsigned grid = gpu::blocks_for(out.size(), kTile);
    kernel<<<grid, 1, 0, stream>>>(alpha, x.data, y.data, out.size(), out.data);
    gpu::check_launch("saxpy_tile", grid, 1);
}

// [launch]
void launch_add_tile(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream) {
    const bool aligned = gpu::all_at_16_bytes(a.data, b.data, out.data);
    const auto kernel = aligned ? add_tile<16> : add_tile<4>;
    const unsigned grid = gpu::blocks_for(out.size(), kTile);
    kernel<<<grid, 1, 0, stream>>>(a.data, b.data, out.size(), out.data);
    gpu::check_launch("add_tile", grid, 1);
}
// [launch]

void launch_invert_tile(View<const std::uint8_t> in, View<std::uint8_t> out, gpu::Stream stream) {
    const bool aligned = gpu::all_at_16_bytes(in.data, out.data);
    const auto kernel = aligned ? invert_tile<16> : invert_tile<1>;
    const unsigned grid = gpu::blocks_for(out.size(), kTile);
    kernel<<<grid, 1, 0, stream>>>(in.data, out.size(), out.data);
    gpu::check_launch("invert_tile", grid, 1);
}

}  // namespace sixdays::day01_flat_memory
