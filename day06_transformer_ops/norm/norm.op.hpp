/// @file
/// Test descriptors of the norms (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/norm/norm.hpp"
#include "day06_transformer_ops/tests/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Longest chain of dependent additions in a row of C, with those that combine partial sums. At
/// most C, as in norm.hpp, since adding 0 is exact.
inline double norm_chain(NormPath path, std::int64_t C) {
    const auto n = static_cast<double>(C);
    if (path == NormPath::thread_per_row || path == NormPath::tile) return n;  // in any order
    return std::min(n, path == NormPath::warp_per_row ? n / 32 + 6 : 32.0 + 11);
}

/// The norm of the row of `x` that begins at `at`, and its error bound for float:
///
///     mean      error of sums of x - x(0): chain + 2 half units of the mean of |x - x(0)|
///     z         that, scaled, is d; the root has half the error of the sum of squares,
///               chain + 8, and 1 / sqrt(1 + d^2): around a shifted mean the squares are larger
///     z w + b   one rounding
template <class T>
void expect_norm(Expected& want, bool subtract_mean, const Tensor<double>& x,
                 const std::optional<Tensor<double>>& weight,
                 const std::optional<Tensor<double>>& bias, double eps, double chain, Index at) {
    const int last = at.rank - 1;
    const std::vector<double> row = row_at(x, last, at);
    const auto C = static_cast<double>(row.size());
    double mean = 0, from_first = 0, squares = 0;
    for (const double v : row) {
        mean += subtract_mean ? v / C : 0;
        from_first += subtract_mean ? std::fabs(v - row[0]) / C : 0;
    }
    for (const double v : row) squares += (v - mean) * (v - mean) / C;
    const double scale = 1 / std::sqrt(squares + eps);
    const double d = scale * ((chain + 2) * from_first + std::fabs(mean)) * kU;
    for (at[last] = 0; at[last] < x.shape()[last]; ++at[last]) {
        const double w = weight ? (*weight)(at[last]) : 1, b = bias ? (*bias)(at[last]) : 0;
        const double z = (row[static_cast<std::size_t>(at[last])] - mean) * scale, y = z * w + b;
        const double z_off =
            d + std::fabs(z) * ((chain / 2 + 8) * kU + 1 - 1 / std::sqrt(1 + d * d));
        want.value.view()(at) = y;
        want.error.view()(at) =
            std::isnan(y) ? 0 : std::fabs(w) * z_off + std::fabs(y) * 2 * kU + storing<T>(y);
    }
}

enum class Norm { layer_norm, rms_norm, add_layer_norm };
inline constexpr Norm kNorms[] = {Norm::layer_norm, Norm::rms_norm, Norm::add_layer_norm};

/// Operands: in, weight, bias, out and, of add_layer_norm, residual.
template <class T>
testing::Operation norm_operation(Norm norm, const Shape& shape, float eps = 0.25f) {
    using namespace testing;
    static constexpr const char* kNames[] = {"layer_norm", "rms_norm", "add_layer_norm"};
    const bool adds = norm == Norm::add_layer_norm;
    const int last = shape.rank - 1;
    const Shape row = {shape[last]};
    Operation op{
        kNames[static_cast<int>(norm)],
        {reads<T>("in", shape), reads<float>("weight", row).may_be_null().with([](std::int64_t i) {
             return 0.5 + double(i * 3 % 7);
         }),
         reads<float>("bias", row).may_be_null().with([](std::int64_t i) {
             return -2.25 + double(i * 3 % 11);
         }),
         writes<T>("out", shape)}};
    if (adds)
        op.operands.push_back(updates<T>("residual", shape).with([](std::int64_t k) {
            return double(k * 29 % 81 - 40);
        }));
    const auto parameters = [eps](const Call& c) {
        return NormParameters{c.in<float>(1), c.in<float>(2), eps};
    };
    op.cpu = [=](const Call& c) {
        if (adds) return add_layer_norm_cpu<T>(c.in<T>(0), parameters(c), c.out<T>(4), c.out<T>(3));
        const auto cpu = norm == Norm::layer_norm ? layer_norm_cpu<T> : rms_norm_cpu<T>;
        cpu(c.in<T>(0), parameters(c), c.out<T>(3));
    };
    op.cuda = [=](const Call& c) {
        const auto how = c.how<NormPath>();
        if (adds) {
            return add_layer_norm_cuda<T>(c.in<T>(0), parameters(c), c.out<T>(4), c.out<T>(3), how);
        }
        const auto cuda = norm == Norm::layer_norm ? layer_norm_cuda<T> : rms_norm_cuda<T>;
        cuda(c.in<T>(0), parameters(c), c.out<T>(3), how);
    };
    op.exact = [=](const Inputs& inputs, int path) {
        Tensor<double> x = *inputs[0];
        std::vector<Expected> all(adds ? 2 : 1, Expected(shape));
        for (std::int64_t k = 0; adds && k < x.size(); ++k) {
            x.data()[k] = double(float(T(float(x.data()[k]) + float(inputs[4]->data()[k]))));
        }
        if (adds) all[1].value = x;
        const double chain = norm_chain(static_cast<NormPath>(path), row[0]);
        for_each_row(shape, last, [&](const Index& at) {
            expect_norm<T>(all[0], norm != Norm::rms_norm, x, inputs[1], inputs[2],
                           static_cast<double>(eps), chain, at);
        });
        return all;
    };
    op.in_place = {{"in", "out"}};

    const auto has_vectors = [=](const Call& c) {
        bool all = row[0] <= 16384;
        for (const int i : adds ? std::vector{0, 3, 4} : std::vector{0, 3}) {
            all = all && has_rows_of_vectors<T>(c.arguments[static_cast<std::size_t>(i)], last);
        }
        return all;
    };
    const bool empty = size(shape) == 0;
    op.takes(NormPath::thread_per_row,
             norm == Norm::rms_norm ? "rms_norm_kernel" : "layer_norm_kernel");
    op.takes(NormPath::warp_per_row, "norm_warp_kernel");
    op.takes(NormPath::registers, "norm_registers_kernel",
             [=](const Call& c) { return empty || has_vectors(c); });
    op.takes(NormPath::tile, "norm_tile", [=](const Call& c) {
        return empty || (!adds && gpu::has_tile() && row[0] <= 8192 &&
                         has_evenly_spaced_rows(c.arguments[0], last) &&
                         has_evenly_spaced_rows(c.arguments[3], last));
    });
    op.best = [=](const Call& c) {
        return static_cast<int>(has_vectors(c) ? NormPath::registers
                                : has_rows_along_memory(c.arguments[0], last)
                                    ? NormPath::warp_per_row
                                    : NormPath::thread_per_row);
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
