/// @file
/// What several of Day 03's test files need.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/packings.hpp"
#include "common/testing/testing.hpp"
#include "day03_views/tiles.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

inline std::string last_kernel() {
    return gpu::last_kernel();
}

/// The path that an operation chooses, and tiles, where there are any.
template <class Path>
std::vector<std::optional<Path>> chosen_and_tile() {
    if (!gpu::has_tile()) return {std::nullopt};
    return {std::nullopt, Path::tile};
}

/// Elements of every size, all bits of which count; but floats hold whole numbers, so that what a
/// failing test says can be read.
template <class T>
Tensor<T> patterns(const Shape& shape) {
    if constexpr (std::is_same_v<T, float>) return testing::distinct<float>(shape);
    Tensor<T> x(shape);
    const auto bytes = x.size() * static_cast<std::int64_t>(sizeof(T));
    const auto random = testing::seeded_integers<std::uint8_t>({bytes}, 1, 0, 0xFE);  // no poison
    if (bytes == 0) return x;  // memcpy takes no null pointer, not even for nothing
    std::memcpy(static_cast<void*>(x.data()), random.data(), static_cast<std::size_t>(bytes));
    return x;
}

/// A tensor whose rows, along the last dim, are `pitch` apart.
inline Layout pitched(const Shape& shape, std::int64_t pitch) {
    Shape room = shape;
    room[shape.rank - 1] = pitch;
    return {shape, row_major(room).strides};
}

/// All orders and directions of a shape's dims in memory, also with room behind every dim.
template <class F>
void for_each_layout(const Shape& shape, const F& f) {
    for (const std::int64_t pad : {0, 1}) {
        packings::for_each_packing(shape.rank, pad, [&](const packings::Packing& packing) {
            f(Layout(shape, packings::strides_of(packing, shape)));
        });
    }
}

}  // namespace sixdays::day03_views
