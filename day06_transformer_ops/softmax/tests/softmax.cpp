// The proof of the set softmax: loops and every path against float64, over every element.
#include "day06_transformer_ops/softmax/softmax.hpp"

#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

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

constexpr SoftmaxPath kPaths[] = {SoftmaxPath::thread_a_row, SoftmaxPath::warp_a_row,
                                  SoftmaxPath::online,       SoftmaxPath::registers,
                                  SoftmaxPath::shared,       SoftmaxPath::split};

enum class Kind { softmax, log_softmax };

template <class T>
bool takes(SoftmaxPath path, const View<const T>& in, int dim, const View<T>& out,
           Kind kind = Kind::softmax) {
    const auto asked = [&] {
        if (kind == Kind::log_softmax) return check_log_softmax<T>(path, in, dim, out);
        check_softmax<T>(path, in, dim, out);
    };
    return refusal(asked).empty();
}

// So many numbers are added one behind the other in a row of N, before or after partial sums are.
// An online sum is also multiplied whenever a larger element comes.
double chain(SoftmaxPath path, std::int64_t N) {
    const auto n = static_cast<double>(N);
    if (path == SoftmaxPath::thread_a_row) return n;
    if (path == SoftmaxPath::warp_a_row) return n / 32 + 6;
    if (path == SoftmaxPath::online) return 3 * (n / 256 + 9);
    if (path == SoftmaxPath::shared) return 3 * (n / 128 + 25);
    if (path == SoftmaxPath::split) return 3 * (n / 8192 + 19);
    return 32 + 11;
}

// In units of kU, relative to a share y = e / sum: rounding x - m moves e by |x - m|; the same for
// the terms of the sum, where it weighs log N at most; exp is off by 4 in e and in the sum; one each
// for the last steps. A logarithm turns relative errors into absolute ones.
double allowed(Kind kind, double y, double x_minus_m, double N, double terms) {
    const double sum = std::log(N) + terms + 4, d = std::fabs(x_minus_m);
    if (kind == Kind::softmax) return y * (d + sum + 8) * kU;
    return (2 * d + 2 * std::fabs(y) + sum + 4 * std::log(N) + 4) * kU;
}

// What is the same for all elements of a row of which the first n count.
struct RowSums {
    double m = -INFINITY, sum = 0;
    bool nan = false;
};
RowSums sums_of(const std::vector<double>& row, std::int64_t n) {
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
void put(Wanted& want, Kind kind, const RowSums& row, double x, std::int64_t n, std::int64_t i,
         double terms, const Index& at, double storing_bf16) {
    const double d = x - row.m;
    double y = kind == Kind::softmax ? std::exp(d) / row.sum : d - std::log(row.sum);
    if (row.nan) y = NAN;
    if (i >= n) y = 0;
    want.value.view()(at) = y;
    const bool exact = std::isnan(y) || std::isinf(d) || i >= n;
    want.bound.view()(at) = exact
                                ? 0
                                : allowed(kind, y, d, static_cast<double>(n), terms) + 1e-44 +
                                      std::fabs(y) * storing_bf16 + (storing_bf16 > 0 ? 1e-40 : 0);
}

template <class T>
Wanted wanted(Kind kind, const Tensor<T>& x, int dim, SoftmaxPath path) {
    Wanted want(x.shape());
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

template <class T>
void run_loop(Kind kind, View<const T> in, int dim, View<T> out) {
    if (kind == Kind::softmax) return softmax_cpu(in, dim, out);
    log_softmax_cpu(in, dim, out);
}
template <class T>
void run_softmax(SoftmaxPath path, View<const T> in, int dim, View<T> out) {
    gpu::Buffer<std::byte> memory(softmax_workspace_bytes(in, dim));
    softmax_cuda(path, in, dim, out, memory);
}
template <class T>
void run_port(Kind kind, SoftmaxPath path, View<const T> in, int dim, View<T> out) {
    if (kind == Kind::softmax) return run_softmax(path, in, dim, out);
    log_softmax_cuda(path, in, dim, out);
}

// Loop and every path that takes it, from `in` to `out`.
template <class T>
void check_layouts(const Tensor<T>& x, const Layout& in, int dim, const Layout& out,
                   Lead lead = {}) {
    for (const Kind kind : {Kind::softmax, Kind::log_softmax}) {
        CAPTURE(to_string(in), to_string(out), dim, kind == Kind::softmax, lead.elements);
        HostIn<T> h(x, in);
        HostOut<T> loop(out);
        run_loop<T>(kind, h.view(), dim, loop.view());
        CHECK(agrees(loop, wanted(kind, x, dim, SoftmaxPath::thread_a_row)));
        DeviceIn<T> d(x, in, lead);
        for (const SoftmaxPath path : kPaths) {
            CAPTURE(name(path));
            DeviceOut<T> got(out, lead);
            if (!takes<T>(path, d.view(), dim, got.view(), kind)) continue;
            run_port<T>(kind, path, d.view(), dim, got.view());
            CHECK(agrees(got, wanted(kind, x, dim, path)));
        }
        CHECK(d.unchanged());
    }
}
template <class T>
void check_rows_of(const Tensor<T>& x) {
    const Layout layout = row_major(x.shape());
    check_layouts(x, layout, x.shape().rank - 1, layout);
}

// --- answers from outside the code ---------------------------------------------------------------

TEST_CASE("softmax and log_softmax of rows of all kinds, NaN and infinities too: what NumPy says",
          "[day06][softmax][small]") {
    for (const GoldenRow& row : golden_softmax) {
        const Tensor<float> x = tensor_of<float>(row.x);
        const auto n = static_cast<std::int64_t>(row.x.size());
        for (const SoftmaxPath path : kPaths) {
            for (const Kind kind : {Kind::softmax, Kind::log_softmax}) {
                CAPTURE(row.x, name(path), kind == Kind::softmax);
                Wanted want = wanted(kind, x, 0, path);
                const auto& known = kind == Kind::softmax ? row.softmax : row.log_softmax;
                for (std::int64_t i = 0; i < n; ++i) {
                    want.value(i) = known[static_cast<std::size_t>(i)];
                }
                HostOut<float> loop(x.shape());
                run_loop<float>(kind, x.view(), 0, loop.view());
                CHECK(agrees(loop, want));
                DeviceIn<float> d(x);
                DeviceOut<float> got(x.shape());
                if (!takes<float>(path, d.view(), 0, got.view(), kind)) continue;
                run_port<float>(kind, path, d.view(), 0, got.view());
                CHECK(agrees(got, want));
            }
        }
    }
}

TEST_CASE("rows of all lengths that a transformer has add up to what NumPy says",
          "[day06][softmax][small]") {
    for (const GoldenLongRow& row : golden_long_rows) {
        const std::int64_t n = row.length;
        const Tensor<float> x = noise<float>({n});
        DeviceIn<float> d(x);
        for (const SoftmaxPath path : kPaths) {
            CAPTURE(n, name(path));
            Wanted want({n});
            for (std::int64_t i = 0; i < n; ++i) {
                const double x_minus_m = static_cast<double>(x(i)) - row.largest;
                want.value(i) = std::exp(x_minus_m - row.log_sum);
                want.bound(i) = allowed(Kind::softmax, want.value(i), x_minus_m,
                                        static_cast<double>(n), chain(path, n));
            }
            HostOut<float> loop({n});
            softmax_cpu(x.view(), 0, loop.view());
            if (path == SoftmaxPath::thread_a_row) CHECK(agrees(loop, want));
            DeviceOut<float> got({n});
            if (!takes<float>(path, d.view(), 0, got.view())) continue;
            run_softmax<float>(path, d.view(), 0, got.view());
            CHECK(agrees(got, want));
        }
    }
}

// --- layouts -------------------------------------------------------------------------------------

TEST_CASE("softmax takes rows along any dim of any layout", "[day06][softmax][small]") {
    const Tensor<float> x = noise<float>({2, 3, 4});
    for (int dim = 0; dim < 3; ++dim) {
        for_each_layout({2, 3, 4}, [&](const Layout& layout) {
            check_layouts(x, layout, dim, row_major({2, 3, 4}));
            check_layouts(x, row_major({2, 3, 4}), dim, layout, Lead{1});
        });
    }
    check_layouts(noise<float>({2, 1, 2, 1, 2, 2, 1, 3}), row_major({2, 1, 2, 1, 2, 2, 1, 3}), 4,
                  column_major({2, 1, 2, 1, 2, 2, 1, 3}));
}

TEST_CASE("softmax takes the lengths around its quads, warps and blocks",
          "[day06][softmax][small]") {
    for (const std::int64_t n :
         {1, 3, 4, 5, 8, 31, 32, 33, 60, 64, 127, 128, 256, 260, 508, 512, 516, 1028}) {
        check_rows_of(noise<float>({5, n}));
        check_rows_of(noise<bf16>({5, n}));
    }
    check_rows_of(noise<float>({2, 2052}));
    check_rows_of(noise<bf16>({1, 4104}));
    check_rows_of(noise<float>({0, 4}));
    check_rows_of(noise<float>({4, 0}));
}

TEST_CASE("2^40 rows of no element are no work", "[day06][softmax][small]") {
    const View<float> none(nullptr, Shape{1 << 20, 0, 1 << 20});
    const View<float> wide(nullptr, Shape{1 << 20, 1 << 20, 0});
    softmax_cpu<float>(none, 1, none);
    log_softmax_cpu<float>(none, 1, none);
    masked_softmax_cpu<float>(none, {nullptr, none.shape()}, 1, none);
    CHECK(refusal([&] { causal_softmax_cpu<float>(wide, wide); }).find("T <= S") !=
          std::string::npos);  // so its rows cannot be many and empty
}

TEST_CASE("scores of thousands, the largest anywhere in a long row", "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({4, 300});
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] *= 1600;
    x(1, 0) = x(2, 150) = x(3, 299) = 30000;
    check_rows_of(x);
}

TEST_CASE("softmax takes long rows", "[day06][softmax][full]") {
    check_rows_of(noise<float>({2, 16384}));
    check_rows_of(noise<float>({1, 16388}));
    check_rows_of(noise<bf16>({1, 32773}));
}

TEST_CASE("rows longer than registers and shared memory together", "[day06][softmax][full]") {
    Tensor<float> x = noise<float>({3, 100003});
    x(0, 3) = x(1, 40000) = x(2, 100002) = 30;
    DeviceOut<float> got(x.shape()), there = DeviceOut<float>::holding(x);
    const Wanted want = wanted(Kind::softmax, x, 1, SoftmaxPath::shared);
    softmax_cuda(SoftmaxPath::shared, DeviceIn<float>(x).view(), 1, got.view());
    CHECK(agrees(got, want));
    softmax_cuda(SoftmaxPath::shared, there.view(), 1, there.view());
    CHECK(agrees(there, want));
}

TEST_CASE("softmax takes more rows than a grid has blocks in y", "[day06][softmax][huge]") {
    check_rows_of(noise<float>({65537, 4}));
}

TEST_CASE("softmax takes pitched rows that begin at quads, and rows that do not",
          "[day06][softmax][small]") {
    const Tensor<float> x = noise<float>({3, 2, 12});
    check_layouts(x, Layout({3, 2, 12}, {40, 20, 1}), 2, Layout({3, 2, 12}, {-24, 12, 1}));
    check_layouts(x, Layout({3, 2, 12}, {41, 20, 1}), 2, row_major({3, 2, 12}));
    check_layouts(x, column_major({3, 2, 12}), 2, column_major({3, 2, 12}));
}

TEST_CASE("the shares of a row add up to 1, and a shift of the row changes no bit",
          "[day06][softmax][small]") {
    const Tensor<float> x = noise<float>({3, 768});
    Tensor<float> shifted(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) shifted.data()[i] = x.data()[i] + 1024;  // exact
    DeviceIn<float> d(x), ds(shifted);
    for (const SoftmaxPath path : kPaths) {
        CAPTURE(name(path));
        DeviceOut<float> got({3, 768}), again({3, 768});
        run_softmax<float>(path, d.view(), 1, got.view());
        run_softmax<float>(path, ds.view(), 1, again.view());
        CHECK(again.matches(got.values()));
        const Tensor<float> y = got.values();
        for (std::int64_t r = 0; r < 3; ++r) {
            double sum = 0;
            for (std::int64_t i = 0; i < 768; ++i) sum += static_cast<double>(y(r, i));
            CHECK(std::fabs(sum - 1) <= (chain(path, 768) + 24) * kU);
        }
    }
}

TEST_CASE("a shared row of more parts than a block has threads, the largest element in any of them",
          "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({2, 150 * kSplitPart});  // 128 threads join 150 parts
    x(0, 3) = x(1, 149 * kSplitPart) = 30;
    DeviceIn<float> d(x);
    DeviceOut<float> got(x.shape());
    run_softmax<float>(SoftmaxPath::split, d.view(), 1, got.view());
    CHECK(agrees(got, wanted(Kind::softmax, x, 1, SoftmaxPath::split)));
}

TEST_CASE("a NaN poisons its own row and no other", "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({6, 64});
    x(2, 63) = NAN;
    x(4, 0) = -NAN;
    check_rows_of(x);
}

TEST_CASE("softmax works in place", "[day06][softmax][small]") {
    for (const std::int64_t n : {7, 64, 300}) {
        const Tensor<float> x = noise<float>({5, n});
        HostOut<float> here = HostOut<float>::holding(x);
        softmax_cpu(here.view(), 1, here.view());
        CHECK(agrees(here, wanted(Kind::softmax, x, 1, SoftmaxPath::thread_a_row)));
        for (const SoftmaxPath path : kPaths) {
            CAPTURE(n, name(path));
            DeviceOut<float> there = DeviceOut<float>::holding(x);
            if (!takes<float>(path, there.view(), 1, there.view())) continue;
            run_softmax<float>(path, there.view(), 1, there.view());
            CHECK(agrees(there, wanted(Kind::softmax, x, 1, path)));
        }
    }
}

TEST_CASE("a padded vocabulary: what lies behind the last logit is not looked at",
          "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({3, 96});
    for (std::int64_t r = 0; r < 3; ++r) {
        for (std::int64_t i = 70; i < 96; ++i) x(r, i) = NAN;
    }
    Tensor<float> logits({3, 70});
    for (std::int64_t k = 0; k < 210; ++k) logits.data()[k] = x(k / 70, k % 70);
    DeviceIn<float> d(x);
    for (const SoftmaxPath path : {SoftmaxPath::thread_a_row, SoftmaxPath::warp_a_row,
                                   SoftmaxPath::online, SoftmaxPath::split}) {
        DeviceOut<float> got({3, 70});
        run_softmax<float>(path, slice(d.view(), 1, 0, 70), 1, got.view());
        CHECK(agrees(got, wanted(Kind::softmax, logits, 1, path)));
    }
}

// --- masked --------------------------------------------------------------------------------------

// The mask has x's rank; where its extent is 1 it repeats.
template <class T>
void check_masked(const Tensor<T>& x, const Tensor<std::uint8_t>& mask, int dim,
                  const Layout& layout) {
    CAPTURE(to_string(layout), to_string(mask.shape()), dim);
    Wanted want(x.shape());
    const View<const std::uint8_t> seen = broadcast_to(mask.view(), x.shape());
    for (std::int64_t k = 0; k < x.size(); ++k) {
        const Index at = unravel(k, x.shape());
        std::vector<double> row;
        Index i = at;
        std::int64_t mine = -1;
        for (i[dim] = 0; i[dim] < x.shape()[dim]; ++i[dim]) {
            if (seen(i) == 0) continue;
            if (i[dim] == at[dim]) mine = static_cast<std::int64_t>(row.size());
            row.push_back(static_cast<double>(static_cast<float>(x.view()(i))));
        }
        const auto n = static_cast<std::int64_t>(row.size());
        if (mine >= 0) {
            put(want, Kind::softmax, sums_of(row, n),
                static_cast<double>(static_cast<float>(x.view()(at))), n, mine,
                static_cast<double>(n), at, std::is_same_v<T, float> ? 0 : 0x1.02p-8);
        } else {
            want.value.view()(at) = n > 0 ? 0.0 : NAN;
            for (const double other : row) {
                if (std::isnan(other)) want.value.view()(at) = NAN;
            }
        }
    }
    HostIn<T> h(x, layout);
    HostOut<T> loop(layout);
    masked_softmax_cpu(h.view(), mask.view(), dim, loop.view());
    CHECK(agrees(loop, want));
    DeviceIn<T> d(x, layout);
    DeviceIn<std::uint8_t> dm(mask);
    DeviceOut<T> got(layout);
    masked_softmax_cuda(d.view(), dm.view(), dim, got.view());
    CHECK(agrees(got, want));
    CHECK(dm.unchanged());
}

TEST_CASE(
    "masked_softmax shares among what the mask lets through, and never computes with the rest",
    "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({2, 3, 5});
    Tensor<std::uint8_t> mask({2, 3, 5});
    for (std::int64_t k = 0; k < 30; ++k) mask.data()[k] = (k * 7 % 5 < 3 || k == 11) ? 200 : 0;
    for (std::int64_t i = 0; i < 5; ++i) mask(1, 1, i) = 0;  // nothing is let through
    for (std::int64_t k = 0; k < 30; k += 2) {
        if (mask.data()[k] == 0) x.data()[k] = k % 3 == 0 ? NAN : INFINITY;
    }
    for (int dim = 0; dim < 3; ++dim) {
        check_masked(x, mask, dim, row_major({2, 3, 5}));
        check_masked(x, mask, dim, column_major({2, 3, 5}));
    }
    check_masked(noise<float>({2, 3, 5}), Tensor<std::uint8_t>({1, 1, 5}, {1, 0, 1, 1, 0}), 2,
                 row_major({2, 3, 5}));
    check_masked(noise<float>({2, 3, 8}), Tensor<std::uint8_t>({1, 3, 1}, {1, 0, 1}), 2,
                 row_major({2, 3, 8}));
    for (const std::int64_t n : {4, 37, 260, 300, 600, 1028, 2052}) {
        Tensor<std::uint8_t> some = seeded_integers<std::uint8_t>({6, n}, 3, 0, 1);
        some(5, n - 1) = 200;
        check_masked(noise<float>({6, n}), some, 1, row_major({6, n}));
        check_masked(noise<bf16>({6, n}), some, 1, row_major({6, n}));
    }
    check_masked(noise<float>({2, 2, 2, 3, 4}),
                 seeded_integers<std::uint8_t>({2, 2, 2, 3, 4}, 7, 0, 1), 4,
                 Layout({2, 2, 2, 3, 4}, {288, 136, 64, 20, 1}));
    check_masked(noise<float>({2, 3, 5, 8}), seeded_integers<std::uint8_t>({5, 8}, 3, 0, 1), 3,
                 row_major({2, 3, 5, 8}));
}

// --- causal --------------------------------------------------------------------------------------

template <class T>
void check_causal(const Tensor<T>& x, const Layout& layout, Lead lead = {}) {
    CAPTURE(to_string(layout));
    const int last = layout.rank() - 1;
    const std::int64_t tokens = layout.extent(last - 1), S = layout.extent(last);
    for (const SoftmaxPath path : kPaths) {
        CAPTURE(name(path));
        Wanted want(x.shape());
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const Index at = unravel(k, x.shape());
            const std::vector<double> row = row_at(x, last, at);
            const std::int64_t n = at[last - 1] + 1 + S - tokens;
            put(want, Kind::softmax, sums_of(row, n), row[static_cast<std::size_t>(at[last])], n,
                at[last], chain(path, S), at, std::is_same_v<T, float> ? 0 : 0x1.02p-8);
        }
        HostIn<T> h(x, layout);
        HostOut<T> loop(layout);
        causal_softmax_cpu(h.view(), loop.view());
        if (path == SoftmaxPath::thread_a_row) CHECK(agrees(loop, want));
        DeviceIn<T> d(x, layout, lead);
        DeviceOut<T> got(layout, lead);
        if (!refusal([&] { check_causal_softmax<T>(path, d.view(), got.view()); }).empty())
            continue;
        causal_softmax_cuda(path, d.view(), got.view());
        CHECK(agrees(got, want));
    }
}

TEST_CASE("what a token does not see gets 0, even if what it sees holds a NaN",
          "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({6, 8});
    x(2, 1) = NAN;
    check_causal(x, row_major(x.shape()));
}

TEST_CASE("a token looks at itself and back, never ahead: what NumPy says",
          "[day06][softmax][small]") {
    for (const GoldenCausal& c : golden_causal) {
        const Tensor<float> x = noise<float>({c.T, c.S});
        DeviceIn<float> d(x);
        HostOut<float> loop({c.T, c.S});
        DeviceOut<float> got({c.T, c.S});
        causal_softmax_cpu(x.view(), loop.view());
        causal_softmax_cuda(d.view(), got.view());
        const auto known = [&](const Index& i) {
            return c.out[static_cast<std::size_t>(ravel(i, {c.T, c.S}))];
        };
        Wanted want({c.T, c.S});
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const Index at = unravel(k, x.shape());
            want.value.view()(at) = known(at);
            want.bound.view()(at) = 40 * kU * known(at);
        }
        CHECK(agrees(loop, want));
        CHECK(agrees(got, want));
    }
}

TEST_CASE("causal_softmax takes stacks of scores of any layout, and never reads ahead",
          "[day06][softmax][small]") {
    check_causal(noise<float>({2, 3, 4, 6}), row_major({2, 3, 4, 6}));
    check_causal(noise<float>({2, 3, 4, 6}), column_major({2, 3, 4, 6}));
    check_causal(noise<float>({2, 3, 5, 8}), Layout({2, 3, 5, 8}, {8, 96, -16, 1}), Lead{8});
    // Four dims of rows that nothing merges, and tokens lie farthest apart.
    check_causal(noise<float>({2, 2, 2, 3, 4}), Layout({2, 2, 2, 3, 4}, {5, 11, 23, 47, 1}));
    check_causal(noise<float>({3, 40, 40}), row_major({3, 40, 40}));
    check_causal(noise<bf16>({3, 40, 40}), row_major({3, 40, 40}));
    check_causal(noise<float>({2, 3, 300}), row_major({2, 3, 300}));
    Tensor<float> x = noise<float>({8, 8});
    for (std::int64_t t = 0; t < 8; ++t) {
        for (std::int64_t s = t + 1; s < 8; ++s) x(t, s) = (t + s) % 2 == 0 ? NAN : INFINITY;
    }
    check_causal(x, row_major({8, 8}));
}

// --- cross entropy -------------------------------------------------------------------------------

TEST_CASE("cross_entropy is what log_softmax says about the target, with its sign changed",
          "[day06][softmax][small]") {
    for (const GoldenRow& row : golden_softmax) {
        const auto n = static_cast<std::int64_t>(row.x.size());
        Tensor<float> logits({n, n});  // the row again and again, each time with another target
        Tensor<std::int64_t> targets({n});
        Wanted want({n});
        for (std::int64_t k = 0; k < n * n; ++k) {
            logits.data()[k] = static_cast<float>(row.x[static_cast<std::size_t>(k % n)]);
        }
        for (std::int64_t i = 0; i < n; ++i) {
            targets(i) = n - 1 - i;
            want.value(i) = -row.log_softmax[static_cast<std::size_t>(n - 1 - i)];
            want.bound(i) = std::isfinite(want.value(i))
                                ? (6 * std::fabs(want.value(i)) + static_cast<double>(n) + 30) * kU
                                : 0;
        }
        CAPTURE(row.x);
        HostOut<float> loop({n});
        cross_entropy_cpu(logits.view(), targets.view(), loop.view());
        CHECK(agrees(loop, want));
        DeviceIn<float> d(logits);
        DeviceIn<std::int64_t> dt(targets);
        DeviceOut<float> got({n});
        cross_entropy_cuda(d.view(), dt.view(), got.view());
        CHECK(agrees(got, want));
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
    Wanted want(rows.shape);
    for (std::int64_t k = 0; k < targets.size(); ++k) {
        const Index at = unravel(k, rows.shape);
        Index i = unravel(k * n, layout.shape);
        i[last] = targets.view()(at) = (k * 7 + n - 1) % n;
        const RowSums row = sums_of(row_at(x, last, i), n);
        const double d = static_cast<double>(static_cast<float>(x.view()(i))) - row.m;
        const double y = want.value.view()(at) = std::log(row.sum) - d;
        want.bound.view()(at) = allowed(Kind::log_softmax, y, d, double(n), double(n) + 30);
    }
    HostIn<T> h(x, layout);
    HostOut<float> loop(rows);
    cross_entropy_cpu(h.view(), targets.view(), loop.view());
    CHECK(agrees(loop, want));
    DeviceIn<T> d(x, layout, lead);
    DeviceIn<std::int64_t> dt(targets, rows);
    DeviceOut<float> got(column_major(rows.shape));
    cross_entropy_cuda(d.view(), dt.view(), got.view());
    CHECK(agrees(got, want));
}

TEST_CASE("cross_entropy takes logits, targets and results of any layout, and rows of any length",
          "[day06][softmax][small]") {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 9, 37, 256, 1023, 5000}) {
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

TEST_CASE("a target that names no logit: the loop says so, the port answers NaN",
          "[day06][softmax][small]") {
    const Tensor<float> logits = noise<float>({2, 3, 4});
    const Tensor<std::int64_t> targets({2, 3}, {0, 4, 3, -1, 1, 2});
    HostOut<float> h({2, 3});
    CHECK(refusal([&] { cross_entropy_cpu(logits.view(), targets.view(), h.view()); }) ==
          "cross_entropy: the target at (0, 1) is 4, but there are 4 logits");
    CHECK(h.untouched());
    DeviceIn<float> d(logits);
    DeviceIn<std::int64_t> dt(targets);
    DeviceOut<float> got({2, 3});
    cross_entropy_cuda(d.view(), dt.view(), got.view());
    const Tensor<float> y = got.values();
    const Tensor<std::int64_t> some({2, 3}, {0, 0, 3, 0, 1, 2});
    HostOut<float> want({2, 3});
    cross_entropy_cpu(logits.view(), some.view(), want.view());
    for (std::int64_t k = 0; k < 6; ++k) {
        const bool known = k != 1 && k != 3;
        CHECK(std::isnan(y.data()[k]) == !known);
        if (known) CHECK(std::fabs(y.data()[k] - want.values().data()[k]) < 1e-5f);
    }
}

}  // namespace
