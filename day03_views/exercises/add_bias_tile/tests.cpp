// The cases that `common/learn check` runs for add_bias_tile. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <cmath>

#include "common/gpu/device.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/practice.hpp"
#include "day03_views/exercises/add_bias_tile/add_bias_tile.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// in(m, n) + bias(of(m, n)); NaN, never written, where that index is out of range.
template <class Of>
Tensor<double> sum_of(const Tensor<float>& in, const Tensor<float>& bias, const Of& of) {
    Tensor<double> y(in.shape());
    for (std::int64_t m = 0; m < in.shape()[0]; ++m) {
        for (std::int64_t n = 0; n < in.shape()[1]; ++n) {
            const std::int64_t k = of(m, n);
            y(m, n) = k < 0 || k >= bias.size() ? NAN : double(in(m, n)) + bias(k);
        }
    }
    return y;
}

/// @param pitch  from one row of `in` to the next
void check_port(std::int64_t M, std::int64_t N, std::int64_t pitch) {
    CAPTURE(M, N, pitch);
    const Tensor<float> in = distinct<float>({M, N});
    Tensor<float> bias({N});  // all distinct, and none occurs in a row
    for (std::int64_t n = 0; n < N; ++n) bias(n) = static_cast<float>(100'000 + 7 * n);
    HostOut<float> want({M, N});
    add_bias_tile_cpu(in.view(), bias.view(), want.view());
    DeviceIn<float> from(in, Layout({M, N}, {pitch, 1}), Lead{1});
    DeviceIn<float> row(bias, Lead{2});
    DeviceOut<float> got({M, N}, Lead{3});
    const Advice of_the_bias = {
        {"in a span of extents (1, "},
        "The bias has only one row of tiles, so its tile is (0, j) for every row of tiles of "
        "`in`.",
        [M](const std::string& error) { return M > 1 && contains(error, ": along dimension 0 "); },
        {{{"all of them outside"},
          "An index counts tiles, not elements. Are x and y swapped, in the kernel or in the grid? "
          "x indexes tiles of kRows rows, and y tiles of kColumns columns."}}};
    finish([&] { add_bias_tile_cuda(from.view(), row.view(), got.view()); }, of_the_bias);
    using I = std::int64_t;
    Tensor<double> in_alone(in.shape());
    for (I k = 0; k < in.size(); ++k) in_alone.data()[k] = double(in.data()[k]);
    Tensor<double> product(in.shape());
    for (I m = 0; m < M; ++m) {
        for (I n = 0; n < N; ++n) product(m, n) = double(in(m, n)) * bias(n);
    }
    const std::string cause =
        likely_mistake(got.values(), sum_of(in, bias, [](I, I n) { return n; }),
                       {{"Only the first tile was computed: the grid needs one block per tile.",
                         sum_of(in, bias, [](I m, I n) { return m < 8 && n < 32 ? n : -1; })},
                        {"The bias was not added.", in_alone},
                        {"The bias was multiplied, not added: use `+`.", product},
                        {"The tile of the bias is (0, j): it must cover the same columns as the "
                         "block's tile.",
                         sum_of(in, bias, [](I m, I n) { return m / 8 * 32 + n % 32; })}})
            .cause;
    require(got.matches(want), cause);
    REQUIRE(from.unchanged());
    REQUIRE(row.unchanged());
}

TEST_CASE("add_bias_tile: the example of the statement", "[day03][add_bias_tile][small]") {
    const Tensor<float> in({2, 3}, {10, 20, 30, 40, 50, 60}), bias({3}, {1, 2, 3});
    const Tensor<float> answer({2, 3}, {11, 22, 33, 41, 52, 63});
    HostOut<float> loop({2, 3});
    add_bias_tile_cpu(in.view(), bias.view(), loop.view());
    REQUIRE(loop.matches(answer));
    check_port(2, 3, 3);
    DeviceIn<float> from(in), row(bias);
    DeviceOut<float> got({2, 3});
    add_bias_tile_cuda(from.view(), row.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    REQUIRE(got.matches(answer));
}

TEST_CASE("add_bias_tile: whole tiles", "[day03][add_bias_tile][small]") {
    check_port(8, 32, 32);
    check_port(8, 96, 96);
    check_port(24, 32, 32);
    check_port(40, 64, 64);
}

TEST_CASE("add_bias_tile: partial tiles at the edges", "[day03][add_bias_tile][small]") {
    INFO("Tiles at the edges are partial: load_masked and store_masked skip what is out of range.");
    for (const std::int64_t M : {1, 7, 9, 17}) {
        for (const std::int64_t N : {1, 31, 33, 70}) check_port(M, N, N);
    }
}

TEST_CASE("add_bias_tile: rows with a pitch, and a broadcast row",
          "[day03][add_bias_tile][small]") {
    check_port(9, 33, 40);
    check_port(16, 32, 35);
    check_port(3, 5, 1000);
    const Tensor<float> one = distinct<float>({33});
    DeviceIn<float> from(one);
    DeviceOut<float> got({9, 33});
    const View<const float> again(from.view().data, Layout({9, 33}, {0, 1}));
    add_bias_tile_cuda(again, from.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    Tensor<float> want({9, 33});
    for (std::int64_t m = 0; m < 9; ++m) {
        for (std::int64_t n = 0; n < 33; ++n) want(m, n) = 2 * one(n);
    }
    REQUIRE(got.matches(want));
}

TEST_CASE("add_bias_tile: more rows of tiles than a grid's y can count",
          "[day03][add_bias_tile][small]") {
    INFO("A grid's y is limited to 65,535 and x is not, so rows belong to x.");
    check_port(8 * 65'535 + 1, 1, 1);
}

TEST_CASE("add_bias_tile: nothing to do", "[day03][add_bias_tile][small]") {
    check_port(0, 5, 5);
    check_port(5, 0, 0);
}

TEST_CASE("add_bias_tile: rejects what the CPU reference rejects",
          "[day03][add_bias_tile][small]") {
    Tensor<float> in({4, 6}), bias({6}), out({4, 6}), wide({4}), other({6, 4});
    const auto both = [](View<const float> a, View<const float> b, View<float> c,
                         const char* words) {
        return both_reject([&] { add_bias_tile_cpu(a, b, c); },
                           [&] { add_bias_tile_cuda(a, b, c); }, words);
    };
    REQUIRE(both(in.view(), bias.view(), other.view(), "they must be equal"));
    REQUIRE(both(in.view(), wide.view(), out.view(), "bias has shape (4), out has (4, 6)"));
    const View<const float> whole(in.view());
    REQUIRE(both(flip(whole, 0), bias.view(), out.view(), "no stride may be negative"));
    REQUIRE(both(in.view(), bias.view(), in.view(), "in and out overlap"));
    const View<float> row(out.data(), Shape{1, kMostColumns + 1});  // its elements are not accessed
    REQUIRE(both(row, {bias.data(), Shape{kMostColumns + 1}}, row, "2097121 columns, 2097120 are"));
}

}  // namespace
