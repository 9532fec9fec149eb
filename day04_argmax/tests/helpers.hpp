/// @file
/// What Day 04's test files need.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/tensor/packings.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day04_argmax/lines.hpp"

namespace sixdays::day04_argmax {

using testing::DeviceIn, testing::DeviceOut, testing::HostIn, testing::HostOut, testing::Lead;

inline constexpr LinePath kPaths[] = {LinePath::one_thread, LinePath::walk,  LinePath::shared_tree,
                                      LinePath::warp,       LinePath::quads, LinePath::short_lines,
                                      LinePath::strided,    LinePath::split};

inline const char* const kKernels[] = {"argmax_kernel",  "walk_kernel",  "shared_tree_kernel",
                                       "warp_kernel",    "quads_kernel", "short_lines_kernel",
                                       "strided_kernel", "split_kernel"};

inline bool takes(LinePath path, const Lines& lines) {
    return testing::refusal([&] { check_path("test", path, lines); }).empty();
}

/// Memory for step 08, which must be as it was after every call: counters back at 0.
class Memory {
public:
    explicit Memory(const Lines& lines)
        : lines_(lines),
          bytes_(gpu::bytes_to_carve([&](gpu::Carver& c) { return partials_of(c, lines); })) {
        bytes_.fill_bytes(0);
    }
    gpu::Workspace workspace() { return bytes_; }
    bool counters_are_0() const {
        const std::vector<std::byte> now = bytes_.download();
        const auto* memory = now.data();
        const auto begin = static_cast<std::size_t>(
            gpu::bytes_to_carve([&](gpu::Carver& c) { return partials_of(c, lines_); }) -
            4 * lines_.count());
        for (std::size_t i = begin; i < now.size(); ++i) {
            if (memory[i] != std::byte{0}) return false;
        }
        return true;
    }

private:
    Lines lines_;
    gpu::Buffer<std::byte> bytes_;
};

inline Shape without(Shape shape, int dim) {
    for (int d = dim; d + 1 < shape.rank; ++d) shape[d] = shape[d + 1];
    --shape.rank;
    return shape;
}

/// The elements of a line, one by one: for second formulas.
template <class T>
std::vector<T> line_at(const View<const T>& in, int dim, const Index& at) {
    std::vector<T> line;
    Index i;
    i.rank = in.rank();
    for (int d = 0, o = 0; d < in.rank(); ++d) {
        if (d != dim) i[d] = at[o++];
    }
    for (i[dim] = 0; i[dim] < in.extent(dim); ++i[dim]) line.push_back(in(i));
    return line;
}

}  // namespace sixdays::day04_argmax
