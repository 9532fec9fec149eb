// One tile of indices per block. iota gives 0, 1, 2, ...: a column of row numbers and a row of
// column numbers. Adding the two broadcasts the extents of 1 to a full tile.
#include <cuda_tile.h>

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day01_flat_memory/tiles.hpp"

namespace sixdays::day01_flat_memory {
namespace {

namespace ct = cuda::tiles;

constexpr int kRows = 8, kColumns = 128;

// out as a matrix: the last dimension is its columns, all others its rows. Values past the last row
// are computed but not stored. They may exceed 64 bits; unsigned arithmetic may wrap.
__tile_global__ void indices_tile(std::uint64_t base, std::uint64_t H, std::uint64_t T,
                                  std::int64_t rows, std::int64_t columns, float* out) {
    const std::int64_t across = (columns + kColumns - 1) / kColumns;
    const std::int64_t i = ct::bid().x / across, j = ct::bid().x % across;
    const auto row = ct::iota<ct::tile<std::uint64_t, ct::shape<kRows, 1>>>() +
                     static_cast<std::uint64_t>(i * kRows);
    const auto k = ct::iota<ct::tile<std::uint64_t, ct::shape<1, kColumns>>>() +
                   static_cast<std::uint64_t>(j * kColumns);
    const auto q = row % T;
    const auto h = row / T % H;
    const auto b = row / T / H;
    const auto value = ((b * base + h) * base + q) * base + k;
    const ct::extents<std::int64_t, ct::dynamic_extent, ct::dynamic_extent> all{rows, columns};
    const ct::partition_view tiles{ct::tensor_span{out, all}, ct::shape<kRows, kColumns>{}};
    tiles.store_masked(ct::element_cast<float>(value), i, j);
}

}  // namespace

void launch_indices_tile(std::int64_t base, View<float> out, gpu::Stream stream) {
    const Shape& s = out.layout.shape;  // (..., h, q, k); missing dimensions have extent 1
    const auto from_back = [&](int d) { return d < s.rank ? s[s.rank - 1 - d] : 1; };
    const std::int64_t columns = from_back(0), rows = out.size() / columns;
    const unsigned grid =
        gpu::blocks_for((rows + kRows - 1) / kRows * ((columns + kColumns - 1) / kColumns), 1);
    indices_tile<<<grid, 1, 0, stream>>>(
        static_cast<std::uint64_t>(base), static_cast<std::uint64_t>(from_back(2)),
        static_cast<std::uint64_t>(from_back(1)), rows, columns, out.data);
    gpu::check_launch("indices_tile", grid, 1);
}

}  // namespace sixdays::day01_flat_memory
