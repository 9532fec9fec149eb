/// @file
/// Descriptors of the reductions, for their tests (common/testing/operation/operation.hpp).
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "common/tensor/packings.hpp"
#include "day04_argmax/argmax.op.hpp"

namespace sixdays::day04_argmax {

/// The largest relative error of rounding to float.
inline constexpr double kU = 0x1p-24;

/// The elements of every line, combined in double. `scale` is the magnitude that rounding errors
/// are relative to: the sum of |x|, or the product.
struct Second {
    Tensor<double> value, scale;
    std::int64_t length;
};
template <class T>
Second second_reduction(Reduction what, const View<const T>& in, const Dims& dims) {
    const Shape shape = without(in.layout.shape, dims);
    std::int64_t length = 1;
    std::vector<bool> reduced(kMaxRank);
    for (int k = 0; k < dims.rank; ++k) {
        const auto d = static_cast<int>(dims[k] < 0 ? dims[k] + in.rank() : dims[k]);
        reduced[static_cast<std::size_t>(d)] = true;
        length *= in.extent(d);
    }
    Second second{Tensor<double>(shape), Tensor<double>(shape), length};
    const double start = what == Reduction::max       ? -std::numeric_limits<double>::infinity()
                         : what == Reduction::min     ? std::numeric_limits<double>::infinity()
                         : what == Reduction::product ? 1
                                                      : 0;
    std::fill_n(second.value.data(), second.value.size(), start);
    for (const Index& at : packings::indices_of(in.layout.shape)) {
        Index o;
        for (int d = 0; d < in.rank(); ++d) {
            if (!reduced[static_cast<std::size_t>(d)]) o[o.rank++] = at[d];
        }
        const auto x = static_cast<double>(in(at));
        double& value = second.value.view()(o);
        double& scale = second.scale.view()(o);
        switch (what) {
            case Reduction::max:
                value = std::isnan(value) || x <= value ? value : x;
                break;
            case Reduction::min:
                value = std::isnan(value) || x >= value ? value : x;
                break;
            case Reduction::sum:
            case Reduction::mean:
                value += x;
                scale += std::abs(x);
                break;
            case Reduction::product:
                value *= x;
                scale = std::abs(value);
                break;
        }
    }
    if (what == Reduction::mean) {
        for (std::int64_t k = 0; k < second.value.size(); ++k) {
            second.value.data()[k] /= static_cast<double>(length);
            second.scale.data()[k] /= static_cast<double>(length);
        }
    }
    return second;
}

/// The longest chain of operations of a path: those of one thread, then those of the tree.
inline double depth_of(LinePath path, std::int64_t n) {
    const auto each = [n](double threads) { return std::ceil(static_cast<double>(n) / threads); };
    const double vector_threads =  // threads of step 05 that share a line
        n <= 144    ? 4
        : n <= 256  ? 8
        : n <= 2048 ? 32
        : n <= 8192 ? 128
                    : 256;
    switch (path) {
        case LinePath::one_thread:
        case LinePath::walk:
        case LinePath::short_lines:
        case LinePath::tile:  // CUDA does not specify the order
            return static_cast<double>(n);
        case LinePath::shared_tree:  // no sums
            return 0;
        case LinePath::warp:
            return each(32) + 5;
        case LinePath::
            vectorized:  // a float4 counts once, and its four elements add two operations
            return each(4 * vector_threads) + 4 + 9;
        case LinePath::strided:
            return each(8) + 8;
        case LinePath::split:
            return each(4 * 128) + 4 + 7 + 8 + 7;  // for a part; 1,024 parts are 8 per thread
    }
    return 0;
}

/// `depth` operations and the division of a mean each round by at most kU of the intermediate
/// result, which is at most the scale. n u, with a margin, bounds (1 + u)^n - 1.
inline double sum_error(double scale, double depth) {
    return std::isfinite(scale) ? 1.01 * (depth + 1) * kU * scale : 0;
}

/// Operands: in, out.
inline testing::Operation reduce_operation(Reduction what, const Shape& in, const Dims& dims) {
    using namespace testing;
    const Shape rest = without(in, dims);
    Operation op{name(what), {reads<float>("in", in), writes<float>("out", rest)}};
    for (int k = 0; k < dims.rank; ++k) op.operands[0].free.push_back(static_cast<int>(dims[k]));
    op.cpu = [=](const Call& c) { reduce_cpu(what, c.in<float>(0), dims, c.out<float>(1)); };
    op.cuda = [=](const Call& c) {
        reduce_cuda(what, c.in<float>(0), dims, c.out<float>(1), c.how<LinePath>());
    };
    op.needed_bytes = [=](const Call& c) {
        return reduce_workspace_bytes(c.in<float>(0), dims, c.asked<LinePath>());
    };
    op.exact = [=](const Inputs& inputs, int path) {
        const Second second = second_reduction(what, View<const double>(inputs[0]->view()), dims);
        Expected want(rest);
        want.value = second.value;
        if (what == Reduction::max || what == Reduction::min) return std::vector{want};
        // The rounding error of every factor stays in a product, whatever the
        // order.
        const double depth = what == Reduction::product
                                 ? static_cast<double>(second.length)
                                 : depth_of(static_cast<LinePath>(path), second.length);
        for (std::int64_t k = 0; k < want.error.size(); ++k) {
            want.error.data()[k] = sum_error(second.scale.data()[k], depth);
        }
        return std::vector{want};
    };
    set_line_paths(op, dims, false);
    op.path(LinePath::tile).kernel = "reduce_tile";
    return op;
}

}  // namespace sixdays::day04_argmax
