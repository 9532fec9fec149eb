/// @file
/// A tile of a tensor map as the copy engine walks it, in chunks of 16 bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/emulator/mbarrier.hpp"

namespace sixdays::emulator {

inline constexpr std::int64_t kTileRowBytes = 128, kChunkBytes = 16;

inline std::size_t bytes_of_tile(const TileMap& map) {
    return static_cast<std::size_t>(map.rows_of_tile * kTileRowBytes);
}

/// Calls f(at, element, bytes) for each chunk of the tile: its swizzled offset in shared memory, its
/// first element in the matrix, and the bytes from there to the end of the row, at most 16. The
/// element is null if it is outside.
template <class F>
void for_each_chunk(const TileMap& map, std::int64_t plane, std::int64_t row, std::int64_t column,
                    const F& f) {
    const std::int64_t per_chunk = kChunkBytes / map.element_bytes;
    for (std::int64_t r = 0; r < map.rows_of_tile; ++r) {
        for (std::int64_t c = 0; c < kTileRowBytes / kChunkBytes; ++c) {
            const auto at = static_cast<std::size_t>(r * kTileRowBytes + (c ^ r % 8) * kChunkBytes);
            const std::int64_t m = row + r, k = column + per_chunk * c;
            const bool inside = m >= 0 && m < map.rows && k >= 0 && k < map.columns && plane >= 0 &&
                                plane < map.planes;
            if (!inside) {
                f(at, nullptr, std::size_t{0});
                continue;
            }
            const std::int64_t element = plane * map.plane_pitch + m * map.pitch + k;
            f(at, static_cast<const unsigned char*>(map.data) + element * map.element_bytes,
              static_cast<std::size_t>(std::min(per_chunk, map.columns - k) * map.element_bytes));
        }
    }
}

}  // namespace sixdays::emulator
