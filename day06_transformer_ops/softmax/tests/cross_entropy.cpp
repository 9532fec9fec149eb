// The proof of the set cross_entropy: loop and every path against float64, over every element.
#include "day06_transformer_ops/softmax/cross_entropy.hpp"

#include "day06_transformer_ops/softmax/tests/bound.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// Tiles only where this nvcc compiles them, as the emulator does.
std::vector<CrossEntropyPath> ways() {
    std::vector<CrossEntropyPath> all = {CrossEntropyPath::thread_a_row,
                                         CrossEntropyPath::block_a_row};
    if (gpu::has_tile()) all.push_back(CrossEntropyPath::tile);
    return all;
}

// What additions cost: softmax' rules, for one thread, for a block of 256, or in tiles of 4096.
double terms_of(CrossEntropyPath path, std::int64_t n) {
    if (path == CrossEntropyPath::thread_a_row) return chain(SoftmaxPath::thread_a_row, n);
    if (path == CrossEntropyPath::tile) return chain(SoftmaxPath::tile, n);
    return chain(SoftmaxPath::shared, n);
}

// Of three dims of rows at most: which of more merge is asked below.
bool is_taken(CrossEntropyPath path, const Layout& logits) {
    const int last = logits.rank() - 1;
    if (path == CrossEntropyPath::tile) return gpu::goes_forwards(logits);
    return path == CrossEntropyPath::thread_a_row || logits.stride(last) == 1 ||
           logits.extent(last) == 1;
}

// --- cross entropy -------------------------------------------------------------------------------

TEST_CASE("cross_entropy is what log_softmax says about the target, with its sign changed",
          "[day06][cross_entropy][small]") {
    for (const GoldenRow& row : golden_softmax) {
        const auto n = static_cast<std::int64_t>(row.x.size());
        Tensor<float> logits({n, n});  // the row again and again, each time with another target
        Tensor<std::int64_t> targets({n});
        Expected want({n});
        const double m = *std::max_element(row.x.begin(), row.x.end());
        for (std::int64_t k = 0; k < n * n; ++k) {
            logits.data()[k] = static_cast<float>(row.x[static_cast<std::size_t>(k % n)]);
        }
        for (std::int64_t i = 0; i < n; ++i) {
            targets(i) = n - 1 - i;
            want.value(i) = -row.log_softmax[static_cast<std::size_t>(n - 1 - i)];
            const double d = row.x[static_cast<std::size_t>(n - 1 - i)] - m;
            want.error(i) = std::isfinite(want.value(i))
                                ? allowed(Sibling::log_softmax, want.value(i), d, double(n),
                                          terms_of(CrossEntropyPath::block_a_row, n))
                                : 0;
        }
        CAPTURE(row.x);
        HostOut<float> loop({n});
        cross_entropy_cpu<float>(logits.view(), targets.view(), loop.view());
        CHECK(agrees(loop, want));
        DeviceIn<float> d(logits);
        DeviceIn<std::int64_t> dt(targets);
        for (const CrossEntropyPath path : ways()) {
            DeviceOut<float> got({n});
            cross_entropy_cuda<float>(d.view(), dt.view(), got.view(), {.path = path});
            CHECK(agrees(got, want));
        }
    }
}

// Logits and targets of any layout; logits have one dim more.
template <class T>
void check_surprise(const Layout& layout, const Layout& rows, Lead lead = {}) {
    CAPTURE(to_string(layout), to_string(rows), lead.elements);
    const int last = layout.rank() - 1;
    const std::int64_t n = layout.extent(last);
    const Tensor<T> x = noise<T>(layout.shape);
    Tensor<std::int64_t> targets(rows.shape);
    Expected want(rows.shape);
    Tensor<double> off(rows.shape);  // x(target) - m
    for (std::int64_t k = 0; k < targets.size(); ++k) {
        const Index at = unravel(k, rows.shape);
        Index i = unravel(k * n, layout.shape);
        i[last] = targets.view()(at) = (k * 7 + n - 1) % n;
        const RowSums row = sums_of(row_at(x, last, i), n);
        const double d = static_cast<double>(static_cast<float>(x.view()(i))) - row.m;
        const double y = want.value.view()(at) = std::log(row.sum) - d;
        off.view()(at) = d;
        want.error.view()(at) = allowed(Sibling::log_softmax, y, d, double(n), double(n));
    }
    HostIn<T> h(x, layout);
    HostOut<float> loop(rows);
    cross_entropy_cpu<T>(h.view(), targets.view(), loop.view());
    CHECK(agrees(loop, want));
    DeviceIn<T> d(x, layout, lead);
    DeviceIn<std::int64_t> dt(targets, rows);
    for (const CrossEntropyPath path : ways()) {
        CAPTURE(name(path));
        DeviceOut<float> got(column_major(rows.shape));
        const auto asked = [&] { check_cross_entropy<T>(d.view(), dt.view(), got.view(), path); };
        const bool four = path == CrossEntropyPath::tile && last == 4;
        CHECK(refusal(asked).empty() == (is_taken(path, layout) && !four));
        if (!refusal(asked).empty()) continue;
        for (std::int64_t k = 0; k < targets.size(); ++k) {
            const Index at = unravel(k, rows.shape);
            want.error.view()(at) = allowed(Sibling::log_softmax, want.value.view()(at),
                                            off.view()(at), double(n), terms_of(path, n));
        }
        cross_entropy_cuda<T>(d.view(), dt.view(), got.view(), {.path = path});
        CHECK(agrees(got, want));
        if (path == CrossEntropyPath::tile) CHECK(last_kernel() == "cross_entropy_tile");
    }
    CHECK(d.unchanged());
    CHECK(dt.unchanged());
}

TEST_CASE("cross_entropy takes logits, targets and results of any layout, and rows of any length",
          "[day06][cross_entropy][small]") {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 9, 37, 256, 1023, 4096, 5000, 8192, 8200}) {
        check_surprise<float>(row_major({5, n}), row_major({5}));
        check_surprise<bf16>(row_major({5, n}), row_major({5}), Lead{3});
    }
    check_surprise<float>(row_major({2, 3, 40}), Layout({2, 3}, {1, 2}), Lead{1});
    check_surprise<float>(Layout({2, 3, 40}, {160, 50, 1}), Layout({2, 3}, {-4, 1}));
    check_surprise<float>(column_major({2, 3, 40}), Layout({2, 3}, {1, 2}));
    check_surprise<bf16>(Layout({4, 30}, {1, 5}), Layout({4}, {-2}));
    check_surprise<float>(Layout({2, 2, 2, 3, 5}, {90, 37, 17, 5, 1}),
                          Layout({2, 2, 2, 3}, {1, 2, 4, 9}));
}

TEST_CASE("a long row that begins with a whole tile of -infinity, and rows that have no answer",
          "[day06][cross_entropy][small]") {
    constexpr std::int64_t n = 8200;  // three of the longest tile
    Tensor<float> x({5, n});
    for (std::int64_t k = 0; k < x.size(); ++k) {
        x.data()[k] = static_cast<float>(k % 7) - (k / n == 0 ? 300.0f : 3.0f);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        if (i < 4096) x(0, i) = -INFINITY;
        x(2, i) = -INFINITY;
    }
    x(1, 8199) = INFINITY;
    x(3, 4099) = NAN;
    const Tensor<std::int64_t> targets({5}, {8199, 3, 5, 7, 4096});
    HostOut<float> loop({5});
    cross_entropy_cpu<float>(x.view(), targets.view(), loop.view());
    DeviceIn<float> d(x);
    DeviceIn<std::int64_t> dt(targets);
    for (const CrossEntropyPath path : ways()) {
        CAPTURE(name(path));
        DeviceOut<float> got({5});
        cross_entropy_cuda<float>(d.view(), dt.view(), got.view(), {.path = path});
        const Tensor<float> y = got.values(), want = loop.values();
        for (std::int64_t r = 0; r < 5; ++r) {
            CHECK(std::isnan(y(r)) == (r == 1 || r == 2 || r == 3));
            CHECK(std::isnan(want(r)) == (r == 1 || r == 2 || r == 3));
            if (r % 4 == 0) CHECK(std::fabs(y(r) - want(r)) < 1e-3f);
        }
    }
}

TEST_CASE("cross_entropy in tiles: each condition is false alone",
          "[day06][cross_entropy][small]") {
    alignas(16) static float memory[2][4096];
    static std::int64_t numbers[1024];
    const auto refused = [&](const Layout& logits, const Layout& targets, const Layout& out) {
        return refusal([&] {
            check_cross_entropy<float>({memory[0] + 2048, logits}, {numbers + 512, targets},
                                       {memory[1] + 2048, out}, CrossEntropyPath::tile);
        });
    };
    const Layout rows = row_major({2, 3, 4}), plain = row_major({2, 3, 4, 8});
    CHECK(refused(plain, rows, rows) == "");
    CHECK(refused(Layout({2, 3, 4, 8}, {0, 50, 9, 2}), rows, column_major({2, 3, 4})) == "");
    // Targets and results may lie in any order; a stride that is never used may be negative.
    CHECK(refused(plain, Layout({2, 3, 4}, {12, -4, -1}), Layout({2, 3, 4}, {-12, 4, -1})) == "");
    CHECK(refused(Layout({2, 3, 1}, {3, 1, -5}), row_major({2, 3}), row_major({2, 3})) == "");
    const Layout four = row_major({2, 2, 3, 2}), five({2, 2, 3, 2, 8}, {96, 48, 16, 8, 1});
    CHECK(refused(five, four, four) == "");
    const std::string words =
        "cross_entropy: the path 'tile' needs, after simplifying, three dims of rows at most, and "
        "logits with no negative stride, for CUDA Tile C++ takes strides for sizes; logits have ";
    const Layout other({2, 2, 3, 2}, {1, 20, 3, 40});
    CHECK(contains(refused(five, other, four), words));
    CHECK(contains(refused(five, four, other), words));
    CHECK(contains(refused(Layout({2, 2, 3, 2, 8}, {300, 130, 40, 9, 1}), other, four), words));
    CHECK(contains(refused(Layout({2, 3, 4, 8}, {96, 32, -8, 1}), rows, rows), words));
    CHECK(refused(Layout({2, 3, 4, 8}, {96, 32, 8, -1}), rows, rows) ==
          words +
              "shape (2, 3, 4, 8), strides (96, 32, 8, -1), targets shape (2, 3, 4), strides "
              "(12, 4, 1), out shape (2, 3, 4), strides (12, 4, 1)");
    CHECK(refused(Layout({2, 0, 4, 8}, {96, 32, -8, 1}), row_major({2, 0, 4}),
                  row_major({2, 0, 4})) == "");
}

TEST_CASE("cross_entropy in tiles, where logits alone are no rows of quads",
          "[day06][cross_entropy][small]") {
    if (!gpu::has_tile()) {
        SUCCEED("this nvcc compiles no tiles");
        return;
    }
    // The emulator finds a promise that does not hold.
    const auto check = []<class T>(const Standing<T>& one) {
        check_surprise<T>(one.layout, row_major({2}), one.lead);
    };
    for (const auto& one : standings<float>()) check(one);
    for (const auto& one : standings<bf16>()) check(one);
}

TEST_CASE("a target that names no logit: the loop says so, the port answers NaN",
          "[day06][cross_entropy][small]") {
    const Tensor<float> logits = noise<float>({2, 3, 4});
    const Tensor<std::int64_t> targets({2, 3}, {0, 4, 3, -1, 1, 2});
    HostOut<float> h({2, 3});
    CHECK(refusal([&] { cross_entropy_cpu<float>(logits.view(), targets.view(), h.view()); }) ==
          "cross_entropy: the target at (0, 1) is 4, but there are 4 logits");
    CHECK(h.untouched());
    DeviceIn<float> d(logits);
    DeviceIn<std::int64_t> dt(targets);
    const Tensor<std::int64_t> some({2, 3}, {0, 0, 3, 0, 1, 2});
    HostOut<float> want({2, 3});
    cross_entropy_cpu<float>(logits.view(), some.view(), want.view());
    for (const CrossEntropyPath path : ways()) {
        DeviceOut<float> got({2, 3});
        cross_entropy_cuda<float>(d.view(), dt.view(), got.view(), {.path = path});
        const Tensor<float> y = got.values();
        for (std::int64_t k = 0; k < 6; ++k) {
            const bool known = k != 1 && k != 3;
            CHECK(std::isnan(y.data()[k]) == !known);
            if (known) CHECK(std::fabs(y.data()[k] - want.values().data()[k]) < 64 * 0x1p-24f);
        }
    }
}

TEST_CASE("cross_entropy takes blocks exactly where logits lie along memory",
          "[day06][cross_entropy][small]") {
    const auto path = [](const Layout& logits) {
        return choose_cross_entropy<float>({nullptr, logits});
    };
    const auto block = CrossEntropyPath::block_a_row, twin = CrossEntropyPath::thread_a_row;
    CHECK(path(row_major({4, 8})) == block);
    CHECK(path(Layout({4, 7}, {-9, 1})) == block);
    CHECK(path(column_major({4, 8})) == twin);
    CHECK(path(column_major({4, 1})) == block);  // one logit lies along any dim
    CHECK(path(Layout({4, 8}, {8, -1})) == twin);
    CHECK(path(Layout({4, 8}, {1, 0})) == twin);
    CHECK(path(row_major({2, (std::int64_t{1} << 31) - 1})) == block);
    CHECK(path(row_major({2, std::int64_t{1} << 31})) == twin);
    const Tensor<float> x = noise<float>({4, 8});
    const Tensor<std::int64_t> targets({4}, {1, 0, 3, 2});
    DeviceIn<float> d(x), down(x, column_major({4, 8}));
    DeviceIn<std::int64_t> dt(targets);
    DeviceOut<float> got({4}), untouched({4});
    cross_entropy_cuda<float>(d.view(), dt.view(), got.view());
    CHECK(last_kernel() == "cross_entropy_block_kernel");
    cross_entropy_cuda<float>(down.view(), dt.view(), got.view());
    CHECK(last_kernel() == "cross_entropy_kernel");
    cross_entropy_cuda<float>(d.view(), dt.view(), got.view(), {.path = twin});
    CHECK(last_kernel() == "cross_entropy_kernel");
    CHECK(
        refusal([&] {
            cross_entropy_cuda<float>(down.view(), dt.view(), untouched.view(), {.path = block});
        }) ==
        "cross_entropy: the path 'block a row' needs rows of logits along memory; they have shape "
        "(4, 8), strides (1, 4)");
    CHECK(untouched.untouched());
}

TEST_CASE("loop and port of cross_entropy refuse the same, in the same words",
          "[day06][cross_entropy][small]") {
    const Tensor<float> x = noise<float>({4, 8});
    const Tensor<std::int64_t> targets({4}), five({5});
    DeviceIn<float> d(x);
    DeviceIn<std::int64_t> dt(targets), d5(five);
    HostOut<float> h({4, 8});
    DeviceOut<float> g({4, 8});
    const auto refused = [&](View<const float> hx, View<const float> gx,
                             View<const std::int64_t> ht, View<const std::int64_t> gt,
                             View<float> ho, View<float> go, const char* words) {
        CHECK(both_refuse([&] { cross_entropy_cpu<float>(hx, ht, ho); },
                          [&] { cross_entropy_cuda<float>(gx, gt, go); }, words));
    };
    const auto four = [](View<float> out) { return slice(row(out, 0), 0, 0, 4); };
    const View<float> ho = four(h.view()), go = four(g.view());
    refused(x.view(), d.view(), targets.view(), dt.view(), row(h.view(), 0), row(g.view(), 0),
            "logits have shape (4, 8), so targets and out must have (4), not (4) and (8)");
    refused(x.view(), d.view(), five.view(), d5.view(), ho, go,
            "so targets and out must have (4), not (5) and (4)");
    refused(slice(x.view(), 1, 0, 0), slice(d.view(), 1, 0, 0), targets.view(), dt.view(), ho, go,
            "need a last dim with at least one logit");
    refused({x.data(), Shape{}}, {d.view().data, Shape{}}, targets.view(), dt.view(), ho, go,
            "cross_entropy: logits have shape ()");
    refused(h.view(), g.view(), targets.view(), dt.view(), ho, go, "logits overlaps out");
    const auto numbers = [](View<float> out) {
        return View<const std::int64_t>(reinterpret_cast<const std::int64_t*>(out.data), Shape{4});
    };
    refused(x.view(), d.view(), numbers(h.view()), numbers(g.view()), ho, go,
            "targets overlaps out");
    refused({nullptr, Shape{4, 8}}, {nullptr, Shape{4, 8}}, targets.view(), dt.view(), ho, go,
            "logits is a null pointer");
    refused(x.view(), d.view(), {nullptr, Shape{4}}, {nullptr, Shape{4}}, ho, go,
            "targets is a null pointer");
    refused(x.view(), d.view(), targets.view(), dt.view(), {nullptr, Shape{4}}, {nullptr, Shape{4}},
            "out is a null pointer");
    refused(x.view(), d.view(), targets.view(), dt.view(), broadcast_to(slice(ho, 0, 0, 1), {4}),
            broadcast_to(slice(go, 0, 0, 1), {4}), "writers of it would race");
    CHECK(h.untouched());
    CHECK(g.untouched());
}

}  // namespace
