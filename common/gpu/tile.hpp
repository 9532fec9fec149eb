/// @file
/// Tile kernels, `<set>_tile.cu`: which compilers support them, and shared helpers.
#pragma once

#include <cstdint>
#include <string>

#include "common/tensor/arguments.hpp"
#include "common/tensor/layout.hpp"

namespace sixdays::gpu {

/// Whether this program was compiled with support for CUDA Tile C++. The emulator has it, and nvcc
/// from 13.3 on.
[[nodiscard]] bool has_tile() noexcept;

#if defined(SIXDAYS_EMULATED) || __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1303
/// Whether this file is compiled with support for CUDA Tile C++.
inline constexpr bool kHasTile = true;
#else
/// Whether this file is compiled with support for CUDA Tile C++.
inline constexpr bool kHasTile = false;
#endif

/// For .cu files: calls the launcher of a tile kernel, where there is one.
/// @throws std::invalid_argument  the program was compiled by an older nvcc
template <class Launch>
void by_tile(const char* op, const Launch& launch) {
    if constexpr (kHasTile) {
        launch();
    } else {
        reject(op,
               ": the path \"tile\" needs nvcc 13.3 or newer, and an older one has compiled this; "
               "`common/learn tile` gets one");
    }
}

/// Whether all of them are multiples of 16 bytes. Then a launcher may promise it to a tile kernel.
template <class... P>
[[nodiscard]] bool all_at_16_bytes(const P*... pointers) {
    return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

/// Whether all used strides are nonnegative. Tile spans require it: a negative stride would need a
/// pointer to the last element, and CUDA Tile C++ treats strides as sizes.
[[nodiscard]] inline bool goes_forwards(const Layout& layout) {
    for (int d = 0; d < layout.rank(); ++d) {
        if (layout.extent(d) > 1 && layout.stride(d) < 0) return false;
    }
    return true;
}

/// The wording of an error message, after "and" or "with".
inline const std::string kNoNegativeStride =
    "no negative stride, for CUDA Tile C++ takes strides for sizes";

/// The most dimensions of a tile span here.
inline constexpr int kMostTileDims = 4;
/// Whether a tile kernel takes this layout: at most kMostTileDims dimensions, none with a negative
/// stride. For layouts as simplify() leaves them.
[[nodiscard]] inline bool takes_tiles(const Layout& layout) {
    return layout.rank() <= kMostTileDims && goes_forwards(layout);
}

}  // namespace sixdays::gpu
