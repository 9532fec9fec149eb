/// @file
/// What Day 04's test files need.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/gpu/tile.hpp"
#include "common/tensor/packings.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/shared_workspace.hpp"
#include "common/testing/testing.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/reduce.hpp"

namespace sixdays::day04_argmax {

using testing::Comparison, testing::DeviceIn, testing::DeviceOut, testing::HostIn, testing::HostOut,
    testing::Lead;

inline const std::vector<LinePath> kPaths = [] {
    std::vector<LinePath> paths = {
        LinePath::one_thread, LinePath::shared_tree, LinePath::walk,    LinePath::warp,
        LinePath::quads,      LinePath::short_lines, LinePath::strided, LinePath::split};
    if (gpu::has_tile()) paths.push_back(LinePath::tile);
    return paths;
}();

/// What other operations than argmax refuse.
inline bool argmax_only(LinePath path) {
    return path == LinePath::shared_tree;
}

inline const char* const kKernels[] = {"argmax_kernel",  "shared_tree_kernel", "walk_kernel",
                                       "warp_kernel",    "quads_kernel",       "short_lines_kernel",
                                       "strided_kernel", "split_kernel",       "argmax_tile"};

inline bool takes(LinePath path, const Lines& lines) {
    return testing::refusal([&] { require_path("test", path, lines); }).empty();
}

/// Memory for step 08, which must be as it was after every call: counters at 0.
class Memory {
public:
    explicit Memory(const Lines& lines)
        : bytes_(takes(LinePath::split, lines) ? workspace_bytes("test", lines, LinePath::split)
                                               : 0),
          shared_(bytes_) {}
    gpu::Workspace workspace() { return shared_.next(bytes_); }
    Comparison kept() const { return shared_.kept(); }

private:
    std::int64_t bytes_;
    testing::SharedWorkspace shared_;
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

/// Said in another way: the first NaN; if there is none, the first of the largest.
inline std::int64_t second_argmax(const std::vector<float>& line) {
    auto found = std::find_if(line.begin(), line.end(), [](float x) { return std::isnan(x); });
    if (found == line.end()) found = std::max_element(line.begin(), line.end());
    return found - line.begin();
}
inline std::int64_t second_argmin(std::vector<float> line) {
    for (float& x : line) x = -x;
    return second_argmax(line);
}

inline Tensor<std::int64_t> second_formula(const View<const float>& in, int dim,
                                           bool largest = true) {
    Tensor<std::int64_t> answer(without(in.layout.shape, dim));
    for (const Index& at : packings::indices_of(answer.shape())) {
        const auto line = line_at(in, dim, at);
        answer.view()(at) = largest ? second_argmax(line) : second_argmin(line);
    }
    return answer;
}

/// Every path that takes these views gives what the loop gives, and the loop what the second
/// formula gives. Returns how many paths there were beside the tiles.
inline int check_all(const Tensor<float>& values, const Layout& layout, int dim, const Layout& out,
                     std::int64_t lead = 0, bool largest = true) {
    CAPTURE(to_string(layout), dim, to_string(out), lead);
    HostOut<std::int64_t> want(out);
    const HostIn<float> host(values, layout, Lead{lead});
    (largest ? argmax_cpu : argmin_cpu)(host.view(), dim, want.view());
    CHECK(want.matches(second_formula(values.view(), dim, largest)));
    CHECK(host.unchanged());
    const DeviceIn<float> in(values, layout, Lead{lead});
    const Lines lines = lines_of("test", in.view(), {dim});
    int paths = 0;
    for (const LinePath path : kPaths) {
        if (!takes(path, lines) || lines.count() == 0) continue;
        if (!largest && argmax_only(path)) continue;
        CAPTURE(name(path));
        paths += path != LinePath::tile;
        DeviceOut<std::int64_t> got(out), again(out);
        Memory memory(lines);
        if (largest) {
            argmax_cuda(in.view(), dim, got.view(),
                        {.path = path, .workspace = memory.workspace()});
            if (path == LinePath::split) {
                argmax_cuda(in.view(), dim, again.view(),
                            {.path = path, .workspace = memory.workspace()});
            }
        } else {
            argmin_cuda(in.view(), dim, got.view(),
                        {.path = path, .workspace = memory.workspace()});
            if (path == LinePath::split) {
                argmin_cuda(in.view(), dim, again.view(),
                            {.path = path, .workspace = memory.workspace()});
            }
        }
        CHECK(got.matches(want));
        if (path == LinePath::split) {
            CHECK(again.matches(want));
            CHECK(memory.kept());
        }
    }
    CHECK(in.unchanged());
    return paths;
}

inline int check_all(const Tensor<float>& values, int dim, std::int64_t lead = 0) {
    return check_all(values, row_major(values.shape()), dim,
                     row_major(without(values.shape(), dim)), lead);
}

}  // namespace sixdays::day04_argmax
