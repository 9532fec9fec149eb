/// @file
/// What softmax' tests share: the reference in float64, and how far from it a path may be.
#pragma once

#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

namespace sixdays::day06_transformer_ops {

struct GoldenRow {
    std::vector<double> x, softmax, log_softmax;
};
struct GoldenLongRow {
    std::int64_t length;
    double largest, log_sum;
};
struct GoldenCausal {
    std::int64_t T, S;
    std::vector<double> out;
};
#include "day06_transformer_ops/softmax/tests/golden_softmax.inc"

inline constexpr SoftmaxPath kPaths[] = {
    SoftmaxPath::thread_a_row, SoftmaxPath::warp_a_row, SoftmaxPath::online, SoftmaxPath::registers,
    SoftmaxPath::shared,       SoftmaxPath::split,      SoftmaxPath::tile};

enum class Sibling { softmax, log_softmax };

template <class T>
bool takes(SoftmaxPath path, const View<const T>& in, int dim, const View<T>& out,
           Sibling kind = Sibling::softmax) {
    if (path == SoftmaxPath::tile && !gpu::has_tile()) return false;  // an older nvcc
    const auto asked = [&] {
        if (kind == Sibling::log_softmax) return check_log_softmax<T>(in, dim, out, path);
        check_softmax<T>(in, dim, out, path);
    };
    return testing::refusal(asked).empty();
}

// What additions cost in a row of N: so many are made one behind the other, and none where one side
// is 0, so N at most. Where the maximum is found on the way, a sum is corrected before each: exp is
// off by 4, and the product by 1.
inline double chain(SoftmaxPath path, std::int64_t N) {
    const auto n = static_cast<double>(N);
    switch (path) {
        case SoftmaxPath::thread_a_row:
            return n;
        case SoftmaxPath::warp_a_row:  // then 5 shuffles
            return std::min(n, n / 32 + 6);
        case SoftmaxPath::online:
            return 6 * std::min(n, n / 256 + 9);
        case SoftmaxPath::registers:  // 32 of a thread, 10 levels of threads
            return std::min(n, 43.0);
        case SoftmaxPath::shared:
            return 6 * std::min(n, n / 64 + 25);
        case SoftmaxPath::split:
            return 6 * std::min(n, n / 8192 + 19);
        case SoftmaxPath::tile:  // how a tile is added up, nobody says: one by one at worst
            return N <= 1024 ? n : 6 * n;
    }
    return 0;
}

// softmax.hpp's bounds, in units of kU: rounding x - m moves e by |x - m|, and the terms of the
// sum, where it weighs log N at most; exp is off by 4 in e and in the sum; 2 for the last steps,
// and 2 for what is left out here. A logarithm turns relative errors into absolute ones, and is off
// by 2 of itself.
inline double allowed(Sibling kind, double y, double x_minus_m, double N, double terms) {
    const double d = std::fabs(x_minus_m);
    if (kind == Sibling::softmax) return y * (d + std::log(N) + terms + 12) * kU;
    return (d + std::fabs(y) + 3 * std::log(N) + terms + 6) * kU;
}

// What is the same for all elements of a row of which the first n count.
struct RowSums {
    double m = -INFINITY, sum = 0;
    bool nan = false;
};
inline RowSums sums_of(const std::vector<double>& row, std::int64_t n) {
    RowSums of;
    for (std::int64_t j = 0; j < n; ++j) {
        const double x = row[static_cast<std::size_t>(j)];
        of.nan |= std::isnan(x);
        of.m = std::max(of.m, x);
    }
    for (std::int64_t j = 0; j < n; ++j)
        of.sum += std::exp(row[static_cast<std::size_t>(j)] - of.m);
    return of;
}

// softmax or log_softmax of x, element i of such a row.
inline void put(Expected& want, Sibling kind, const RowSums& row, double x, std::int64_t n,
                std::int64_t i, double terms, const Index& at, double storing_bf16) {
    const double d = x - row.m;
    double y = kind == Sibling::softmax ? std::exp(d) / row.sum : d - std::log(row.sum);
    if (row.nan) y = NAN;
    if (i >= n) y = 0;
    want.value.view()(at) = y;
    const bool exact = std::isnan(y) || std::isinf(d) || i >= n;
    want.error.view()(at) = exact
                                ? 0
                                : allowed(kind, y, d, static_cast<double>(n), terms) + 1e-44 +
                                      std::fabs(y) * storing_bf16 + (storing_bf16 > 0 ? 1e-40 : 0);
}

template <class T>
Expected wanted(Sibling kind, const Tensor<T>& x, int dim, SoftmaxPath path) {
    Expected want(x.shape());
    const std::int64_t N = x.shape()[dim];
    for (std::int64_t k = 0; k < x.size(); ++k) {
        Index at = unravel(k, x.shape());
        if (at[dim] != 0) continue;  // a row is begun where it begins
        const std::vector<double> row = row_at(x, dim, at);
        const RowSums sums = sums_of(row, N);
        for (at[dim] = 0; at[dim] < N; ++at[dim]) {
            put(want, kind, sums, row[static_cast<std::size_t>(at[dim])], N, at[dim],
                chain(path, N), at, std::is_same_v<T, float> ? 0 : 0x1.02p-8);
        }
    }
    return want;
}

/// check(one, x, in, out): where one of in and out alone stands as `one`, and the other in rows of
/// quads. in holds x.
template <class T, class Check>
void for_each_standing_alone(const Check& check) {
    const std::vector<Standing<T>> all = standings<T>();
    const Tensor<T> x = noise<T>(all[0].layout.shape);
    for (const Standing<T>& one : all) {
        for (const bool of_in : {true, false}) {
            CAPTURE(one.what, of_in, sizeof(T));
            const auto &in = of_in ? one : all[0], &out = of_in ? all[0] : one;
            const DeviceIn<T> d(x, in.layout, in.lead);
            DeviceOut<T> got(out.layout, out.lead);
            check(one, x, d, got);
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
