/// @file
/// The argument of a transpose kernel: a stack of matrices, cut into tiles, one block per tile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

/// `in` holds matrices (M, N) with stride 1 along N; `out` holds their transposes with stride 1
/// along M. The other dimensions may have any strides. Plain numbers, passed to a kernel by value.
struct Matrices {
    const void* in = nullptr;
    void* out = nullptr;
    int element = 0;  // bytes
    std::int64_t M = 0, N = 0;
    std::int64_t pitch_in = 0;   // elements from row m of in to row m + 1
    std::int64_t pitch_out = 0;  // elements from row n of out to row n + 1
    int dims = 0;                // of the stack
    std::uint32_t extent[kMaxRank - 2] = {};
    std::int64_t step_in[kMaxRank - 2] = {};  // elements from one matrix to the next
    std::int64_t step_out[kMaxRank - 2] = {};
    std::uint32_t across = 0;  // tiles side by side in a matrix: N / tile width, rounded up
    std::uint32_t down = 0;    // tiles one below the other
};

/// For in (..., M, N) and out (..., N, M).
[[nodiscard]] inline Matrices matrices_to_transpose(const UntypedIn& in, const UntypedOut& out) {
    // The stride of an extent of 1 is never used and may be huge; 0 cannot overflow.
    const auto step = [](const Layout& layout, int d) {
        return layout.extent(d) == 1 ? 0 : layout.stride(d);
    };
    Matrices x;
    x.in = in.data;
    x.out = out.data;
    x.element = in.element;
    x.dims = in.layout.rank() - 2;
    x.M = in.layout.extent(x.dims);
    x.N = in.layout.extent(x.dims + 1);
    x.pitch_in = step(in.layout, x.dims);
    x.pitch_out = step(out.layout, x.dims);
    for (int d = 0; d < x.dims; ++d) {
        // An extent beyond 32 bits means more tiles than a grid has blocks: cut_into_tiles throws.
        x.extent[d] =
            static_cast<std::uint32_t>(std::min<std::int64_t>(in.layout.extent(d), UINT32_MAX));
        x.step_in[d] = step(in.layout, d);
        x.step_out[d] = step(out.layout, d);
    }
    return x;
}

/// Fills in `across` and `down` for tiles of TM x TN. @return  number of tiles, may be 0
/// @throws std::invalid_argument  more tiles than a grid can have blocks (2^31 - 1)
[[nodiscard]] inline std::uint32_t cut_into_tiles(Matrices& x, std::int64_t TM, std::int64_t TN) {
    const std::int64_t down = x.M / TM + (x.M % TM != 0), across = x.N / TN + (x.N % TN != 0);
    std::int64_t tiles = down * across;  // at most the number of elements: no overflow
    for (int d = 0; d < x.dims; ++d) tiles *= x.extent[d];
    if (tiles > INT32_MAX) {
        reject("transpose: matrices of shape ", Shape{x.M, x.N},
               ": all of them together are more than 2^31 - 1 tiles of ", Shape{TM, TN});
    }
    x.down = static_cast<std::uint32_t>(down);
    x.across = static_cast<std::uint32_t>(across);
    return static_cast<std::uint32_t>(tiles);
}

}  // namespace sixdays::day03_views
