// The cases that `common/learn check` runs for norm_rows_tile. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <cmath>

#include "common/gpu/device.hpp"
#include "common/testing/practice.hpp"
#include "day06_transformer_ops/exercises/norm_rows_tile/norm_rows_tile.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

struct Row {
    double mean = 0, squares = 0, size = 0;  // size: the mean of |x|
};
Row row_of(const Tensor<float>& x, std::int64_t m) {
    const std::int64_t N = x.shape()[1];
    Row row;
    for (std::int64_t n = 0; n < N; ++n) {
        row.mean += double(x(m, n)) / double(N);
        row.size += std::abs(double(x(m, n))) / double(N);
    }
    for (std::int64_t n = 0; n < N; ++n) row.squares += std::pow(x(m, n) - row.mean, 2);
    return row;
}

// In double. `root_of(row)`: what x - mean is divided by.
template <class Root>
Tensor<double> normed(const Tensor<float>& x, const Root& root_of) {
    Tensor<double> y(x.shape());
    for (std::int64_t m = 0; m < x.shape()[0]; ++m) {
        const Row row = row_of(x, m);
        for (std::int64_t n = 0; n < x.shape()[1]; ++n)
            y(m, n) = (x(m, n) - row.mean) / root_of(row);
    }
    return y;
}

Told cause_of(const Tensor<float>& got, const Tensor<double>& want, const Tensor<float>& x) {
    const auto N = static_cast<double>(x.shape()[1]);
    const auto by = [&](double squares, double count) { return std::sqrt(squares / count + 1e-5); };
    // each(m, n)
    const auto made_of = [&](const auto& each) {
        Tensor<double> y(x.shape());
        for (std::int64_t m = 0; m < x.shape()[0]; ++m) {
            for (std::int64_t n = 0; n < x.shape()[1]; ++n) y(m, n) = each(m, n);
        }
        return y;
    };
    return likely_mistake(
        got, want,
        {{"Padding lanes hold 0 - mean after the subtraction, and their squares are in the sum. "
          "Set them to 0 again before you square.",
          normed(x, [&](const Row& r) { return by(r.squares + (128 - N) * r.mean * r.mean, N); })},
         {"The sum of squares is divided by 128, the width of a tile. Divide by N.",
          normed(x, [&](const Row& r) { return by(r.squares, 128); })},
         {"The sum of squares is divided by N - 1. This variance divides by N.",
          normed(x, [&](const Row& r) { return by(r.squares, N - 1); })},
         {"The root is missing: divide x - mean by sqrt(variance + 1e-5).",
          normed(x, [&](const Row& r) { return r.squares / double(N) + 1e-5; })},
         {"The mean was not subtracted in the numerator: (x - mean) / root.",
          made_of([&](std::int64_t m, std::int64_t n) {
              return x(m, n) / by(row_of(x, m).squares, N);
          })},
         {"This is x - mean: the division by the root is missing.",
          normed(x, [](const Row&) { return 1.0; })},
         {"The mask includes one lane too many: lane N is the first padding lane (use `iota < "
          "N`).",
          normed(x, [&](const Row& r) { return by(r.squares + (N < 128) * r.mean * r.mean, N); })},
         {"Both sums are divided by 128, the width of a tile. Divide by N.",
          made_of([&](std::int64_t m, std::int64_t n) {
              const Row r = row_of(x, m);
              const double mean = r.mean * N / 128;
              // N numbers around a point that is not their mean
              return (x(m, n) - mean) / by(r.squares + N * std::pow(r.mean - mean, 2), 128);
          })},
         {"Both sums are divided by 128, the width of a tile, instead of N. And the second sum "
          "contains the squares of padding lanes, which hold 0 - mean after the subtraction.",
          made_of([&](std::int64_t m, std::int64_t n) {
              const Row r = row_of(x, m);
              const double mean = r.mean * N / 128;
              const double squares = r.squares + N * std::pow(r.mean - mean, 2);
              return (x(m, n) - mean) / by(squares + (128 - N) * mean * mean, 128);
          })},
         {"These are sums over dimension 0, which has extent 1: use 1_ic to sum over dimension "
          "1, the row.",
          made_of([&](std::int64_t m, std::int64_t n) {
              const double left = x(m, n) - x(m, n) / N;
              return left / by(left * left, N);
          })},
         {"An element of the row that is 0 was taken for padding: test the position (`iota < "
          "N`), not the value.",
          made_of([&](std::int64_t m, std::int64_t n) {
              const Row r = row_of(x, m);
              double squares = 0;
              for (std::int64_t k = 0; k < x.shape()[1]; ++k) {
                  squares += x(m, k) == 0 ? 0 : std::pow(x(m, k) - r.mean, 2);
              }
              return (x(m, n) == 0 ? 0 : x(m, n) - r.mean) / by(squares, N);
          })}});
}

Tensor<double> right(const Tensor<float>& x) {
    const auto N = static_cast<double>(x.shape()[1]);
    return normed(x, [=](const Row& r) { return std::sqrt(r.squares / N + 1e-5); });
}

// `known`, or else which elements the launcher reads.
std::string confirmed_cause(const Told& known) {
    const std::int64_t M = 3, N = 40;
    const std::string text = confirmed(known, [&] {
        const Tensor<float> x = seeded<float>({M, N}, 6, -4, 6);
        DeviceIn<float> in(x);
        DeviceOut<float> got({M, N});
        norm_rows_tile_cuda(in.view(), got.view());
        gpu::check_pending();
        return cause_of(got.values(), right(x), x);
    });
    if (known.right || !text.empty()) return text;
    return read_wrongly({"out", "mn", {M, N}, {{"in", {M, N}, same_row}}},
                        [=](const auto& in, float* out) {
                            norm_rows_tile_cuda({in[0], Shape{M, N}}, {out, Shape{M, N}});
                        });
}

// The mean is off by N + 1 half units of the mean of |x| at most, and so are all differences. That
// changes their squares' sum by the square of it only, for they add up to 0; N additions there, and
// eight more roundings on the way.
void check_port(const Tensor<float>& x) {
    const std::int64_t M = x.shape()[0], N = x.shape()[1];
    CAPTURE(M, N);
    const auto root_of = [&](const Row& r) { return std::sqrt(r.squares / double(N) + 1e-5); };
    const Tensor<double> want = right(x);
    const auto bound = [&](const Index& at) {
        const Row row = row_of(x, at[0]);
        const double u = 0x1p-24, off = double(N + 1) * u * row.size / root_of(row);
        return off + std::abs(want(at[0], at[1])) * ((double(N) / 2 + 8) * u + off * off) + 1e-30;
    };
    HostOut<float> loop({M, N});
    norm_rows_tile_cpu(x.view(), loop.view());
    REQUIRE(loop.close_to(want, bound));
    DeviceIn<float> in(x, Lead{1});
    DeviceOut<float> got({M, N}, Lead{3});
    norm_rows_tile_cuda(in.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    const Comparison same = got.close_to(want, bound);
    const Told known = cause_of(got.values(), want, x);
    require(same, same ? ""
                  : known.right
                      ? "These are right to three digits. Is 1e-5 missing inside the root?"
                      : confirmed_cause(known));
    REQUIRE(in.unchanged());
}

TEST_CASE("norm_rows_tile: the example of the statement", "[day06][norm_rows_tile][small]") {
    check_port(Tensor<float>({1, 4}, {1, 2, 3, 6}));
}

TEST_CASE("norm_rows_tile: a 0 within a row is an element", "[day06][norm_rows_tile][small]") {
    check_port(Tensor<float>({2, 4}, {0, 2, 4, 6, 3, -1, 0, 6}));
}

TEST_CASE("norm_rows_tile: rows of 128 elements", "[day06][norm_rows_tile][small]") {
    check_port(seeded<float>({1, 128}, 1, -4, 4));
    check_port(seeded<float>({9, 128}, 2, 10, 20));
}

TEST_CASE("norm_rows_tile: shorter rows, mean near 0 and far from 0",
          "[day06][norm_rows_tile][small]") {
    for (const std::int64_t N : {2, 3, 31, 64, 100, 127}) {
        check_port(seeded<float>({5, N}, 3, -1, 1));
        check_port(seeded<float>({5, N}, 4, 999, 1001));
        check_port(seeded<float>({5, N}, 5, -30, -20));
    }
}

TEST_CASE("norm_rows_tile: one element, equal elements, none", "[day06][norm_rows_tile][small]") {
    check_port(Tensor<float>({2, 1}, {7, -3}));
    check_port(Tensor<float>({1, 3}, {0, 0, 0}));
    for (const std::int64_t M : {0, 1, 17}) check_port(seeded<float>({M, 40}, 6, -4, 4));
    check_port(Tensor<float>({3, 0}));
}

TEST_CASE("norm_rows_tile: a NaN affects its own row only", "[day06][norm_rows_tile][small]") {
    Tensor<float> x = seeded<float>({3, 70}, 7, -4, 4);
    x(1, 69) = NAN;
    DeviceIn<float> in(x);
    DeviceOut<float> got({3, 70});
    norm_rows_tile_cuda(in.view(), got.view());
    const Tensor<float> y = got.values();
    REQUIRE(std::isnan(y(1, 0)));
    REQUIRE(std::isfinite(y(0, 69)));
    REQUIRE(std::isfinite(y(2, 0)));
}

TEST_CASE("norm_rows_tile: rejects what the CPU reference rejects",
          "[day06][norm_rows_tile][small]") {
    Tensor<float> a({4, 4}), wide({2, 8}), long_one({1, 129}), other({1, 129});
    const auto both = [](Tensor<float>& in, Tensor<float>& out, const char* words) {
        return both_reject([&] { norm_rows_tile_cpu(in.view(), out.view()); },
                           [&] { norm_rows_tile_cuda(in.view(), out.view()); }, words);
    };
    REQUIRE(both(a, wide, "they must be equal"));
    REQUIRE(both(long_one, other, "rows have 129 elements; a tile here holds 128"));
    REQUIRE(both(a, a, "in and out overlap"));
}

}  // namespace
