// What `common/learn check` asks of a top_two port. Run against stub and solution, too.
#include "common/testing/testing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/gpu/device.hpp"
#include "day04_argmax/exercises/top_two/top_two.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

// Said in another way: all indices sorted, and the first two of them.
Tensor<std::int64_t> sorted_two(const Tensor<float>& x) {
    const std::int64_t M = x.shape()[0], N = x.shape()[1];
    Tensor<std::int64_t> two({M, 2});
    for (std::int64_t m = 0; m < M; ++m) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(N));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            const bool nan_a = std::isnan(x(m, a)), nan_b = std::isnan(x(m, b));
            return nan_a != nan_b ? nan_a : x(m, a) > x(m, b);
        });
        two(m, 0) = order[0];
        two(m, 1) = order[1];
    }
    return two;
}

void check_port(const Tensor<float>& x, const Layout& in_layout, const Layout& out_layout) {
    INFO("in has " << to_string(in_layout) << ", out " << to_string(out_layout)
                   << ": in(m, n) and out(m, k) follow the strides.");
    HostOut<std::int64_t> want({x.shape()[0], 2});
    top_two_cpu(x.view(), want.view());
    REQUIRE(want.matches(sorted_two(x)));
    DeviceIn<float> in(x, in_layout);
    DeviceOut<std::int64_t> got(out_layout);
    top_two_cuda(in.view(), got.view());
    REQUIRE_NOTHROW(gpu::check_pending());
    REQUIRE(got.matches(want));
    REQUIRE(in.unchanged());
}

void check_port(const Tensor<float>& x) {
    check_port(x, x.view().layout, row_major({x.shape()[0], 2}));
}

TEST_CASE("top_two: the example of the statement", "[day04][top_two][small]") {
    const Tensor<float> x({3, 4}, {5, 1, 9, 2, 7, 7, 0, 3, 4, 8, 6, 8});
    const Tensor<std::int64_t> answer({3, 2}, {2, 0, 0, 1, 1, 3});
    DeviceIn<float> in(x);
    DeviceOut<std::int64_t> got({3, 2});
    top_two_cuda(in.view(), got.view());
    REQUIRE(got.matches(answer));
    check_port(x);
}

TEST_CASE("top_two: nothing but -INFINITY", "[day04][top_two][small]") {
    INFO(
        "Of equal ones the lower index comes first: 0, then 1. Nothing beats a start of -INFINITY: "
        "begin with the row's own elements 0 and 1.");
    DeviceIn<float> in(
        Tensor<float>({2, 3}, {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY}));
    DeviceOut<std::int64_t> got({2, 2});
    top_two_cuda(in.view(), got.view());
    REQUIRE_NOTHROW(gpu::synchronize());
    const auto where = got.values();
    for (std::int64_t m = 0; m < 2; ++m) {
        REQUIRE(where(m, 0) == 0);
        REQUIRE(where(m, 1) == 1);
    }
}

TEST_CASE("top_two: one row more and one less than a block", "[day04][top_two][small]") {
    for (const std::int64_t M : {0, 1, 2, 255, 256, 257, 300}) {
        for (const std::int64_t N : {2, 3, 7}) check_port(seeded_integers<float>({M, N}, 3, 0, 5));
    }
}

TEST_CASE("top_two: NaN first, infinities, zeros", "[day04][top_two][small]") {
    const float nan = std::nanf(""), inf = INFINITY;
    check_port(Tensor<float>(
        {7, 4}, {1,    nan,  3,    2,     nan,  nan, 1, 2, inf, 1, nan, inf, -inf, -inf,
                 -inf, -inf, 0.0f, -0.0f, 0.0f, -1,  2, 1, 2,   3, nan, 1,   2,    nan}));
}

TEST_CASE("top_two: any strides", "[day04][top_two][small]") {
    const Tensor<float> x = seeded_integers<float>({5, 6}, 4, 0, 9);
    check_port(x, column_major({5, 6}), column_major({5, 2}));
    check_port(x, Layout({5, 6}, {-14, 2}), Layout({5, 2}, {3, 1}));
}

TEST_CASE("top_two: refuses what the loop refuses", "[day04][top_two][small]") {
    const Tensor<float> x({4, 1}), y({4, 3});
    Tensor<std::int64_t> two({4, 2}), three({4, 3});
    REQUIRE(both_refuse([&] { top_two_cpu(x.view(), two.view()); },
                        [&] { top_two_cuda(x.view(), two.view()); },
                        "a row needs two elements at least"));
    REQUIRE(both_refuse([&] { top_two_cpu(y.view(), three.view()); },
                        [&] { top_two_cuda(y.view(), three.view()); },
                        "so out has shape (4, 2), not (4, 3)"));
}

}  // namespace
