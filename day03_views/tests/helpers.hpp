/// @file
/// What several of Day 03's test files need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/tensor/packings.hpp"
#include "common/testing/testing.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

inline std::string last_kernel() {
    return gpu::last_kernel();
}

/// Elements of every size, all bits of which count.
template <class T>
Tensor<T> patterns(const Shape& shape) {
    Tensor<T> x(shape);
    auto* bytes = reinterpret_cast<unsigned char*>(x.data());
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()) * sizeof(T); ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = static_cast<unsigned char>((state >> 33) % 251);  // never the poison, 0xFF
    }
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
