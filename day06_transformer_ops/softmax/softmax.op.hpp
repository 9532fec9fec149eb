/// @file
/// Test descriptors of softmax and its variants (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/softmax/softmax.hpp"
#include "day06_transformer_ops/tests/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Longest chain of dependent additions in a row of N; at most N, since adding 0 is exact. Online
/// softmax also rescales the sum before each addition, with errors of 4 from exp and 1 from the
/// product.
inline double softmax_chain(SoftmaxPath path, std::int64_t N) {
    const auto n = static_cast<double>(N);
    switch (path) {
        case SoftmaxPath::thread_per_row:
            return n;
        case SoftmaxPath::warp_per_row:  // then 5 shuffles
            return std::min(n, n / 32 + 6);
        case SoftmaxPath::online:
            return 6 * std::min(n, n / 256 + 9);
        case SoftmaxPath::registers:  // 32 in a thread, 10 levels across threads
            return std::min(n, 43.0);
        case SoftmaxPath::shared:
            return 6 * std::min(n, n / 64 + 25);
        case SoftmaxPath::split:
            return 6 * std::min(n, n / 8192 + 19);
        case SoftmaxPath::tile:  // the order of a tile's additions is unknown: one by one at worst
            return N <= 1024 ? n : 6 * n;
    }
    return 0;
}

/// The bounds of softmax.hpp: the rounding of x - m changes e by |x - m|, and the terms of the sum
/// by at most log N when weighted. exp has an error of 4 in e and in the sum; 2 for the last steps,
/// and 2 for neglected terms.
inline double probability_error(double y, double x_minus_m, double N, double chain) {
    return y * (std::fabs(x_minus_m) + std::log(N) + chain + 12) * kU;
}
/// A logarithm turns relative errors into absolute ones, and has a relative error of 2.
inline double log_probability_error(double y, double x_minus_m, double N, double chain) {
    return (std::fabs(x_minus_m) + std::fabs(y) + 3 * std::log(N) + chain + 6) * kU;
}

/// Shared by all elements of a row: its maximum, and the sum of exp(x - m).
struct RowSums {
    double m = -INFINITY, sum = 0;
    bool nan = false;
};
inline RowSums sums_of(const std::vector<double>& row) {
    RowSums of;
    for (const double x : row) {
        of.nan |= std::isnan(x);
        of.m = std::max(of.m, x);
    }
    for (const double x : row) of.sum += std::exp(x - of.m);
    if (of.nan) of.sum = NAN;
    return of;
}

inline constexpr SoftmaxKind kSoftmaxes[] = {SoftmaxKind::softmax, SoftmaxKind::log_softmax,
                                             SoftmaxKind::masked_softmax,
                                             SoftmaxKind::causal_softmax};

/// The row of x that begins at `at`, where `counts(i)` tells which elements are unmasked.
template <class T, class Counts>
void expect_softmax(Expected& want, SoftmaxKind kind, const Tensor<double>& x, int dim,
                    SoftmaxPath path, Index at, const Counts& counts) {
    std::vector<double> row;
    for (at[dim] = 0; at[dim] < x.shape()[dim]; ++at[dim]) {
        if (counts(at)) row.push_back(x.view()(at));
    }
    const RowSums sums = sums_of(row);
    const auto n = static_cast<std::int64_t>(row.size());
    const double chain = softmax_chain(path, n);
    for (at[dim] = 0; at[dim] < x.shape()[dim]; ++at[dim]) {
        double &y = want.value.view()(at), &error = want.error.view()(at);
        if (!counts(at)) {  // in a row of NaN, masked elements are NaN too
            y = kind == SoftmaxKind::masked_softmax && !(sums.sum > 0) ? NAN : 0;
            continue;
        }
        const double d = x.view()(at) - sums.m;
        const bool log = kind == SoftmaxKind::log_softmax;
        y = sums.nan ? NAN : log ? d - std::log(sums.sum) : std::exp(d) / sums.sum;
        if (std::isnan(y) || std::isinf(d)) continue;
        error = (log ? log_probability_error : probability_error)(y, d, double(n), chain) +
                storing<T>(y);
    }
}

/// The paths of softmax_operation(), and which calls each accepts.
template <class T>
void set_softmax_paths(testing::Operation& op, SoftmaxKind kind, const Shape& shape, int dim) {
    const bool plain = kind == SoftmaxKind::softmax, masked = kind == SoftmaxKind::masked_softmax;
    const bool empty = size(shape) == 0;
    const auto has_vectors = [=](const Call& c) {
        return shape[dim] <= 16384 && has_rows_of_vectors<T>(c.arguments[0], dim) &&
               has_rows_of_vectors<T>(c.arguments[1], dim);
    };
    const auto along = [=](const Call& c) { return has_rows_along_memory(c.arguments[0], dim); };
    const auto only_softmax = [=](const Call&) { return plain; };

    op.takes(SoftmaxPath::thread_per_row, op.name + "_kernel");
    op.takes(SoftmaxPath::warp_per_row, "softmax_warp_kernel", only_softmax);
    op.takes(SoftmaxPath::online, "softmax_online_kernel", only_softmax);
    op.takes(SoftmaxPath::registers,
             masked ? "masked_softmax_registers_kernel" : "softmax_registers_kernel",
             [=](const Call& c) { return empty || has_vectors(c); });
    op.takes(SoftmaxPath::shared, "softmax_shared_kernel",
             [=](const Call& c) { return !masked && (empty || along(c)); });
    op.takes(SoftmaxPath::split, "softmax_split_kernel", only_softmax);
    op.takes(SoftmaxPath::tile, "softmax_tile", [=](const Call& c) {
        return plain && (empty || (gpu::has_tile() && has_evenly_spaced_rows(c.arguments[0], dim) &&
                                   has_evenly_spaced_rows(c.arguments[1], dim)));
    });
    op.best = [=](const Call& c) {
        const std::int64_t n = shape[dim];
        const bool few_and_long = plain && n >= 8192 && size(shape) / n <= 8;
        return static_cast<int>(few_and_long          ? SoftmaxPath::split
                                : has_vectors(c)      ? SoftmaxPath::registers
                                : masked || !along(c) ? SoftmaxPath::thread_per_row
                                : plain && n <= 1024  ? SoftmaxPath::warp_per_row
                                                      : SoftmaxPath::shared);
    };
}

/// Operands: in, out and, of masked_softmax, mask.
/// @param mask  shape of the mask
template <class T>
testing::Operation softmax_operation(SoftmaxKind kind, const Shape& shape, int dim,
                                     const Shape& mask = {}) {
    using namespace testing;
    Operation op{name(kind), {reads<T>("in", shape), writes<T>("out", shape)}};
    const bool plain = kind == SoftmaxKind::softmax, masked = kind == SoftmaxKind::masked_softmax;
    if (masked) {
        op.operands.push_back(
            reads<std::uint8_t>("mask", mask).broadcasts().with([](std::int64_t k) {
                return k % 3 == 1 ? 0.0 : k % 2 == 0 ? 1.0 : 200.0;
            }));
    }
    op.cpu = [=](const Call& c) {
        const auto in = c.in<T>(0);
        const auto out = c.out<T>(1);
        if (plain) return softmax_cpu<T>(in, dim, out);
        if (masked) return masked_softmax_cpu<T>(in, c.in<std::uint8_t>(2), dim, out);
        if (kind == SoftmaxKind::log_softmax) return log_softmax_cpu<T>(in, dim, out);
        causal_softmax_cpu<T>(in, out);
    };
    op.cuda = [=](const Call& c) {
        const auto in = c.in<T>(0);
        const auto out = c.out<T>(1);
        const auto how = c.how<SoftmaxPath>();
        if (plain) return softmax_cuda<T>(in, dim, out, how);
        if (masked) return masked_softmax_cuda<T>(in, c.in<std::uint8_t>(2), dim, out, how);
        if (kind == SoftmaxKind::log_softmax) return log_softmax_cuda<T>(in, dim, out, how);
        causal_softmax_cuda<T>(in, out, how);
    };
    op.exact = [=](const Inputs& inputs, int path) {
        std::vector<Expected> all = {Expected(shape)};
        const View<const double> seen =
            masked ? broadcast_to(View<const double>(inputs[2]->view()), shape)
                   : View<const double>();
        const int d = dim < 0 ? dim + shape.rank : dim;
        const auto counts = [&](const Index& at) {
            if (masked) return seen(at) != 0;
            if (kind != SoftmaxKind::causal_softmax) return true;
            return at[d] <= at[d - 1] + shape[d] - shape[d - 1];
        };
        for_each_row(shape, d, [&](const Index& at) {
            expect_softmax<T>(all[0], kind, *inputs[0], d, static_cast<SoftmaxPath>(path), at,
                              counts);
        });
        return all;
    };
    op.in_place = {{"in", "out"}};
    if (plain) {
        op.needed_bytes = [=](const Call& c) {
            return softmax_workspace_bytes<T>(c.in<T>(0), dim, c.asked<SoftmaxPath>());
        };
    }
    set_softmax_paths<T>(op, kind, shape, dim < 0 ? dim + shape.rank : dim);
    return op;
}

}  // namespace sixdays::day06_transformer_ops
