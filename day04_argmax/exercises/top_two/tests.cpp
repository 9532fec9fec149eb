// The cases that `common/learn check` runs for top_two. Stub and solution run them too.
#include "common/testing/testing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "common/gpu/device.hpp"
#include "day04_argmax/exercises/top_two/top_two.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

// An independent reference: sort all indices and take the first two.
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

// The CPU reference with a planted bug.
enum class Wrong { no_else, no_push, both_at_0, greater, later, other_value };
using Two = std::pair<std::int64_t, std::int64_t>;
Two with_mistake(const Tensor<float>& x, std::int64_t m, Wrong wrong) {
    const auto better = [&](std::int64_t n, std::int64_t best) {
        if (wrong == Wrong::greater) return x(m, n) > x(m, best);
        if (wrong == Wrong::later) return x(m, n) >= x(m, best);
        return beats(x(m, n), x(m, best));
    };
    std::int64_t first = better(1, 0) ? 1 : 0;
    std::int64_t second = wrong == Wrong::both_at_0 ? 0 : 1 - first;
    for (std::int64_t n = 2; n < x.shape()[1]; ++n) {
        const bool is_first = better(n, first);
        if (is_first && wrong != Wrong::no_push) second = first;
        if (is_first) first = n;
        if ((!is_first || wrong == Wrong::no_else) && better(n, second)) second = n;
    }
    if (wrong == Wrong::other_value) {
        second = -1;
        for (std::int64_t n = 0; n < x.shape()[1]; ++n) {
            if (x(m, n) != x(m, first) && (second < 0 || better(n, second))) second = n;
        }
    }
    return {first, second};
}

// The only planted bug that explains all of `got`, as a sentence.
std::string likely(const Tensor<std::int64_t>& got, const Tensor<float>& x) {
    std::string found;
    for (const auto& [wrong, sentence] :
         {std::pair{Wrong::no_else,
                    "The new first was also compared with the second, and stored twice: use "
                    "`else if`."},
          {Wrong::no_push,
           "When there is a new first, the old first becomes the second: `second = first` comes "
           "before `first = n`."},
          {Wrong::both_at_0,
           "Both began at index 0: first and second must start with the two indices 0 and 1."},
          {Wrong::greater,
           "`>` never chooses a NaN and never replaces one: use beats(x, best), which orders "
           "NaNs too."},
          {Wrong::other_value,
           "The second may be as large as the first: exclude the first's index, not its value."},
          {Wrong::later,
           "`>=` takes the later of two equal elements: beats(x, best) keeps the earlier."}}) {
        bool all = true;
        for (std::int64_t m = 0; m < got.shape()[0]; ++m) {
            all = all && with_mistake(x, m, wrong) == Two(got(m, 0), got(m, 1));
        }
        if (all && !found.empty()) return "";
        if (all) found = std::string(" ") + sentence;
    }
    return found;
}

// Judges one row alone, where the other rows match no planted bug or a different one. In a short
// row too many bugs have the same effect.
std::string likely_in_row(const Tensor<std::int64_t>& got, const Tensor<float>& x, std::int64_t m) {
    const std::int64_t N = x.shape()[1];
    Tensor<float> row({1, N});
    Tensor<std::int64_t> two({1, 2}, {got(m, 0), got(m, 1)});
    for (std::int64_t n = 0; n < N; ++n) row(0, n) = x(m, n);
    return N < 4 ? "" : likely(two, row);
}

// Reports the first wrong row, unless some element was never written (-1): matches() reports that.
void check_rows(const Tensor<std::int64_t>& got, const Tensor<std::int64_t>& want,
                const Tensor<float>& x) {
    if (std::count(got.data(), got.data() + got.size(), -1) > 0) return;
    for (std::int64_t m = 0; m < got.shape()[0]; ++m) {
        if (got(m, 0) == want(m, 0) && got(m, 1) == want(m, 1)) continue;
        std::ostringstream row;
        for (std::int64_t n = 0; n < x.shape()[1]; ++n) row << ' ' << x(m, n);
        std::string cause = likely(got, x);
        if (got(m, 0) == want(m, 1) && got(m, 1) == want(m, 0)) {
            cause =
                " These are the right two indices in the wrong order: the larger element comes "
                "first.";
        }
        if (cause.empty()) cause = likely_in_row(got, x, m);
        FAIL("Row " << m << " is" << row.str() << ": expected " << want(m, 0) << " and "
                    << want(m, 1) << ", got " << got(m, 0) << " and " << got(m, 1) << '.' << cause);
    }
}

void check_port(const Tensor<float>& x, const Layout& in_layout, const Layout& out_layout) {
    HostOut<std::int64_t> want({x.shape()[0], 2});
    top_two_cpu(x.view(), want.view());
    REQUIRE(want.matches(sorted_two(x)));
    DeviceIn<float> in(x, in_layout);
    DeviceOut<std::int64_t> got(out_layout);
    top_two_cuda(in.view(), got.view());
    REQUIRE_NOTHROW(gpu::synchronize());
    REQUIRE_NOTHROW(gpu::check_pending());
    check_rows(got.values(), sorted_two(x), x);
    REQUIRE(got.matches(want));
    REQUIRE(in.unchanged());
}

void check_port(const Tensor<float>& x) {
    check_port(x, x.view().layout, row_major({x.shape()[0], 2}));
}

TEST_CASE("top_two: the example of the statement", "[day04][top_two][small]") {
    const Tensor<float> x({3, 4}, {5, 1, 9, 2, 7, 7, 0, 3, 4, 8, 6, 8});
    const Tensor<std::int64_t> answer({3, 2}, {2, 0, 0, 1, 1, 3});
    HostOut<std::int64_t> loop({3, 2});
    top_two_cpu(x.view(), loop.view());
    REQUIRE(loop.matches(answer));
    check_port(x);
}

TEST_CASE("top_two: -INFINITY", "[day04][top_two][small]") {
    INFO(
        "In this row nothing beats a start of -INFINITY: start with the row's elements 0 and 1. "
        "Of equal elements the lower index comes first.");
    const float inf = INFINITY;
    check_port(Tensor<float>({2, 3}, {-inf, -inf, -inf, -inf, -inf, -inf}));
    check_port(Tensor<float>({1, 2}, {5, -inf}));
    check_port(Tensor<float>({3, 3}, {5, -inf, -inf, -inf, 5, -inf, -inf, -inf, 5}));
}

TEST_CASE("top_two: one row more and one row less than a block", "[day04][top_two][small]") {
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
    INFO("in(m, n) and out(m, k) follow the strides, which are not row-major here.");
    check_port(x, column_major({5, 6}), column_major({5, 2}));
    check_port(x, Layout({5, 6}, {-14, 2}), Layout({5, 2}, {3, 1}));
}

TEST_CASE("top_two: rejects what the CPU reference rejects", "[day04][top_two][small]") {
    const Tensor<float> x({4, 1}), y({4, 3});
    Tensor<std::int64_t> two({4, 2}), three({4, 3});
    REQUIRE(both_reject([&] { top_two_cpu(x.view(), two.view()); },
                        [&] { top_two_cuda(x.view(), two.view()); },
                        "a row needs at least two elements"));
    REQUIRE(both_reject([&] { top_two_cpu(y.view(), three.view()); },
                        [&] { top_two_cuda(y.view(), three.view()); },
                        "so out must have shape (4, 2), not (4, 3)"));
}

}  // namespace
