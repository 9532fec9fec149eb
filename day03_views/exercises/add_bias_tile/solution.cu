// Exercise 7: add a bias to every row with a tile kernel.
// Specification:    day03_views/exercises/add_bias_tile/add_bias_tile.hpp
// CPU reference:    day03_views/exercises/add_bias_tile/add_bias_tile_cpu.cpp
// Hints:            common/learn hint day03 add_bias_tile
#include <cuda_tile.h>

#include "common/gpu/launch.hpp"
#include "day03_views/exercises/add_bias_tile/add_bias_tile.hpp"

namespace sixdays::day03_views {
namespace {

namespace ct = cuda::tiles;
using I = std::int64_t;

constexpr int kRows = 8, kColumns = 32;  // of a tile

__tile_global__ void add_bias_kernel(const float* in, I M, I N, I pitch, const float* bias,
                                     float* out) {
    constexpr std::size_t kAny = ct::dynamic_extent;
    const ct::extents<I, kAny, kAny> all{M, N};
    const ct::extents<I, 1, kAny> one_row{N};
    const ct::layout_strided_mapping rows{all, ct::strides<I, kAny, 1>{pitch}};
    const ct::partition_view from{ct::tensor_span{in, rows}, ct::shape<kRows, kColumns>{}};
    const ct::partition_view biases{ct::tensor_span{bias, one_row}, ct::shape<1, kColumns>{}};
    const ct::partition_view to{ct::tensor_span{out, all}, ct::shape<kRows, kColumns>{}};
    // your code: which tile does this block compute? Load it and its part of the bias, add, store
    const auto i = ct::bid().x, j = ct::bid().y;
    const auto sum = from.load_masked(i, j) + biases.load_masked(0, j);
    to.store_masked(sum, i, j);
    // wrong: const auto i = ct::bid().x * kRows, j = ct::bid().y * kColumns;
    // wrong: to.store_masked(from.load_masked(i, j) + biases.load_masked(0, j), i, j);
    // wrong 2: const auto i = ct::bid().y, j = ct::bid().x;
    // wrong 34: const auto i = ct::bid().x, j = ct::bid().y;
    // wrong 23: to.store_masked(from.load_masked(i, j) + biases.load_masked(0, j), i, j);
    // wrong 4: to.store_masked(from.load_masked(i, j) + biases.load_masked(0, i), i, j);
    // wrong 5: const auto i = ct::bid().x, j = ct::bid().y;
    // wrong 5: to.store(from.load(i, j) + biases.load(0, j), i, j);
    // told 5: The last tile needs a mask
    // told: An index counts tiles, not elements
    // told 2: Are x and y swapped
    // told 3: Only the first tile was computed
    // told 4: The tile of the bias is (0, j)
    // end of your code
}

}  // namespace

void add_bias_tile_cuda(View<const float> in, View<const float> bias, View<float> out,
                        gpu::Stream stream) {
    check_add_bias_tile(in, bias, out);
    if (out.size() == 0) return;
    const I M = out.extent(0), N = out.extent(1);
    // your code: one block per tile; x indexes rows of tiles, y columns of tiles
    // stub: const dim3 grid(1, 1);
    const dim3 grid(gpu::blocks_for(M, kRows), gpu::blocks_for(N, kColumns));
    // wrong: const dim3 grid(gpu::blocks_for(M, kRows), gpu::blocks_for(N, kColumns));
    // wrong 245: const dim3 grid(gpu::blocks_for(M, kRows), gpu::blocks_for(N, kColumns));
    // wrong 3: const dim3 grid(1, 1);
    // end of your code
    const I pitch = M > 1 ? in.stride(0) : 0;
    add_bias_kernel<<<grid, 1, 0, stream>>>(in.data, M, N, pitch, bias.data, out.data);
    gpu::check_launch("add_bias_kernel", grid, 1);
}

}  // namespace sixdays::day03_views
