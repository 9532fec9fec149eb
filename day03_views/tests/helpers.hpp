/// @file
/// Helpers for several of Day 03's test files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/packings.hpp"
#include "common/testing/operation/cases.hpp"
#include "common/testing/testing.hpp"
#include "day03_views/tests/moves.hpp"

namespace sixdays::day03_views {

inline std::string last_kernel() {
    return gpu::last_kernel();
}

/// The default path of an operation, and `tile` where it is available.
template <class Path>
std::vector<std::optional<Path>> chosen_and_tile() {
    if (!gpu::has_tile()) return {std::nullopt};
    return {std::nullopt, Path::tile};
}

/// All orders and directions of a shape's dimensions in memory, also with padding after each.
template <class F>
void for_each_layout(const Shape& shape, const F& f) {
    for (const std::int64_t pad : {0, 1}) {
        packings::for_each_packing(shape.rank, pad, [&](const packings::Packing& packing) {
            f(Layout(shape, packings::strides_of(packing, shape)));
        });
    }
}

}  // namespace sixdays::day03_views
