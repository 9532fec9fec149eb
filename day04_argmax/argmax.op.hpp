/// @file
/// Descriptors of argmax and argmin, and what all reductions have in common, for their tests
/// (common/testing/operation/operation.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "common/testing/operation/operation.hpp"
#include "common/testing/rejection.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/reduce.hpp"

namespace sixdays::day04_argmax {

/// A shape without some of its dimensions, which may count from the back.
inline Shape without(const Shape& shape, const Dims& dims) {
    Shape rest;
    for (int d = 0; d < shape.rank; ++d) {
        bool reduced = false;
        for (int k = 0; k < dims.rank; ++k) reduced |= dims[k] == d || dims[k] + shape.rank == d;
        if (!reduced) rest[rest.rank++] = shape[d];
    }
    return rest;
}
inline Shape without(const Shape& shape, int dim) {
    return without(shape, Dims{dim});
}

/// Does the path support the lines of this call?
inline bool takes(LinePath path, const Lines& lines) {
    if (path == LinePath::tile && !gpu::has_tile()) return false;
    return testing::rejection([&] { require_path("test", path, lines); }).empty();
}

/// Each path accepts exactly the lines that conditions.cpp lists for it.
/// @param argmax  does the operation have the path shared_tree?
inline void set_line_paths(testing::Operation& op, const Dims& dims, bool argmax) {
    op.paths = testing::paths_of<LinePath>();
    for (std::size_t p = 0; p < op.paths.size(); ++p) {
        const auto path = static_cast<LinePath>(p);
        op.paths[p].accepts = [=](const testing::Call& c) {
            const Lines lines = lines_of("test", c.in<float>(0), dims);
            if (lines.count() == 0) return true;
            return takes(path, lines) && (argmax || path != LinePath::shared_tree);
        };
    }
    op.repeated = {"vectorized", "split"};
}

/// An independent formula: the first NaN if there is one, else the first of the largest.
template <class T>
std::int64_t second_argmax(const std::vector<T>& line) {
    auto found = std::find_if(line.begin(), line.end(), [](T x) { return std::isnan(x); });
    if (found == line.end()) found = std::max_element(line.begin(), line.end());
    return found - line.begin();
}
template <class T>
std::int64_t second_argmin(std::vector<T> line) {
    for (T& x : line) x = -x;
    return second_argmax(line);
}

/// The elements of the line of output `at`.
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

/// Operands: in, out. @param dim  0 <= dim < rank
inline testing::Operation argmax_operation(const Shape& in, int dim, bool largest = true) {
    using namespace testing;
    const Shape rest = without(in, dim);
    Operation op{largest ? "argmax" : "argmin",
                 {reads<float>("in", in).free_dims({dim}), writes<std::int64_t>("out", rest)}};
    op.cpu = [=](const Call& c) {
        (largest ? argmax_cpu : argmin_cpu)(c.in<float>(0), dim, c.out<std::int64_t>(1));
    };
    op.cuda = [=](const Call& c) {
        (largest ? argmax_cuda : argmin_cuda)(c.in<float>(0), dim, c.out<std::int64_t>(1),
                                              c.how<LinePath>());
    };
    op.needed_bytes = [=](const Call& c) {
        return (largest ? argmax_workspace_bytes : argmin_workspace_bytes)(c.in<float>(0), dim,
                                                                           c.asked<LinePath>());
    };
    op.exact = [=](const Inputs& inputs, int) {
        Expected want(rest);
        const View<const double> x = inputs[0]->view();
        for (std::int64_t k = 0; k < size(rest); ++k) {
            const Index at = unravel(k, rest);
            const auto line = line_at(x, dim, at);
            want.value.view()(at) =
                static_cast<double>(largest ? second_argmax(line) : second_argmin(line));
        }
        return std::vector{want};
    };
    set_line_paths(op, {dim}, largest);
    if (!largest) return op;
    static constexpr const char* kKernels[] = {
        "argmax_kernel",  "shared_tree_kernel", "walk_kernel",  "warp_kernel", "vectorized_kernel",
        "strided_kernel", "short_lines_kernel", "split_kernel", "argmax_tile"};
    for (std::size_t p = 0; p < op.paths.size(); ++p) op.paths[p].kernel = kKernels[p];
    return op;
}

}  // namespace sixdays::day04_argmax
