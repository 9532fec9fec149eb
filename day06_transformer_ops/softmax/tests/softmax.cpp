// The proof of softmax and log_softmax: loops and every path against float64, over every element.
#include "common/testing/shared_workspace.hpp"
#include "day06_transformer_ops/softmax/softmax_plan.hpp"
#include "day06_transformer_ops/softmax/tests/bound.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

template <class T>
void run_loop(Sibling kind, View<const T> in, int dim, View<T> out) {
    if (kind == Sibling::softmax) return softmax_cpu(in, dim, out);
    log_softmax_cpu(in, dim, out);
}
template <class T>
void run_softmax(SoftmaxPath path, View<const T> in, int dim, View<T> out) {
    SharedWorkspace memory(softmax_workspace_bytes(in, dim, path));
    softmax_cuda(in, dim, out,
                 {.path = path, .workspace = memory.next(softmax_workspace_bytes(in, dim, path))});
    CHECK(memory.kept());
}
template <class T>
void run_port(Sibling kind, SoftmaxPath path, View<const T> in, int dim, View<T> out) {
    if (kind == Sibling::softmax) return run_softmax(path, in, dim, out);
    log_softmax_cuda(in, dim, out, {.path = path});
}

// Loop and every path that takes it, from `in` to `out`.
template <class T>
void check_layouts(const Tensor<T>& x, const Layout& in, int dim, const Layout& out, Lead lead,
                   Lead lead_out) {
    for (const Sibling kind : {Sibling::softmax, Sibling::log_softmax}) {
        CAPTURE(to_string(in), to_string(out), dim, kind == Sibling::softmax, lead.elements,
                lead_out.elements);
        HostIn<T> h(x, in);
        HostOut<T> loop(out);
        run_loop<T>(kind, h.view(), dim, loop.view());
        CHECK(agrees(loop, wanted(kind, x, dim, SoftmaxPath::thread_a_row)));
        DeviceIn<T> d(x, in, lead);
        for (const SoftmaxPath path : kPaths) {
            CAPTURE(name(path));
            DeviceOut<T> got(out, lead_out);
            if (!takes<T>(path, d.view(), dim, got.view(), kind)) continue;
            run_port<T>(kind, path, d.view(), dim, got.view());
            CHECK(agrees(got, wanted(kind, x, dim, path)));
            if (path == SoftmaxPath::tile && x.size() > 0) CHECK(last_kernel() == "softmax_tile");
        }
        CHECK(d.unchanged());
    }
}
template <class T>
void check_layouts(const Tensor<T>& x, const Layout& in, int dim, const Layout& out,
                   Lead lead = {}) {
    check_layouts(x, in, dim, out, lead, lead);
}
template <class T>
void check_rows_of(const Tensor<T>& x) {
    const Layout layout = row_major(x.shape());
    check_layouts(x, layout, x.shape().rank - 1, layout);
}

TEST_CASE("softmax in tiles, where one of in and out alone is no rows of quads",
          "[day06][softmax][small]") {
    if (!gpu::has_tile()) {
        SUCCEED("this nvcc compiles no tiles");
        return;
    }
    // The emulator finds a promise that does not hold.
    const auto check = []<class T>(const Standing<T>& one, const Tensor<T>& x, const DeviceIn<T>& d,
                                   DeviceOut<T>& got) {
        const bool forwards = one.layout.stride(0) > 0 && one.layout.stride(1) > 0;
        REQUIRE(takes<T>(SoftmaxPath::tile, d.view(), 1, got.view()) == forwards);
        if (!forwards) return;
        softmax_cuda<T>(d.view(), 1, got.view(), {.path = SoftmaxPath::tile});
        CHECK(agrees(got, wanted(Sibling::softmax, x, 1, SoftmaxPath::tile)));
        CHECK(last_kernel() == "softmax_tile");
    };
    for_each_standing_alone<float>(check);
    for_each_standing_alone<bf16>(check);
}

// --- answers from outside the code ---------------------------------------------------------------

TEST_CASE("softmax and log_softmax of rows of all kinds, NaN and infinities too: what NumPy says",
          "[day06][softmax][small]") {
    for (const GoldenRow& row : golden_softmax) {
        const Tensor<float> x = tensor_of<float>(row.x);
        const auto n = static_cast<std::int64_t>(row.x.size());
        for (const SoftmaxPath path : kPaths) {
            for (const Sibling kind : {Sibling::softmax, Sibling::log_softmax}) {
                CAPTURE(row.x, name(path), kind == Sibling::softmax);
                Expected want = wanted(kind, x, 0, path);
                const auto& known = kind == Sibling::softmax ? row.softmax : row.log_softmax;
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
            Expected want({n});
            for (std::int64_t i = 0; i < n; ++i) {
                const double x_minus_m = static_cast<double>(x(i)) - row.largest;
                want.value(i) = std::exp(x_minus_m - row.log_sum);
                want.error(i) = allowed(Sibling::softmax, want.value(i), x_minus_m,
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

// --- near misses ---------------------------------------------------------------------------------

// A row of numbers with all their digits, and what is almost its softmax. Each must be refused.
TEST_CASE("what is almost a softmax is refused", "[day06][softmax][small]") {
    const Tensor<float> x = seeded<float>({1, 512}, 5, -3, 3);
    const Expected want = wanted(Sibling::softmax, x, 1, SoftmaxPath::shared);  // the widest bound
    const std::vector<double> row = row_at(x, 1, {0, 0});
    const RowSums sums = sums_of(row, 512);
    const auto accepted = [&](const auto& share) {
        Tensor<float> y({1, 512});
        for (std::int64_t i = 0; i < 512; ++i) {
            y(0, i) = static_cast<float>(share(row[static_cast<std::size_t>(i)] - sums.m));
        }
        return bool(agrees(HostOut<float>::holding(y), want));
    };
    CHECK(accepted([&](double d) { return std::exp(d) / sums.sum; }));
    CHECK_FALSE(accepted([&](double d) {  // differences in bf16
        return std::exp(static_cast<double>(float(bf16(static_cast<float>(d))))) / sums.sum;
    }));
    CHECK_FALSE(accepted([&](double d) {  // as TF32: 10 bits behind the point
        const int scale = std::ilogb(d == 0 ? 1.0 : d);
        return std::exp(std::ldexp(std::nearbyint(std::ldexp(d, 10 - scale)), scale - 10)) /
               sums.sum;
    }));
    CHECK_FALSE(accepted([&](double d) {  // the last element is forgotten in the sum
        return std::exp(d) / (sums.sum - std::exp(row.back() - sums.m));
    }));
    CHECK_FALSE(accepted([&](double d) {  // log2(e) with four digits
        return std::exp2(d * 1.4427) / sums.sum;
    }));
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

template <class T>
void check_standings() {
    const std::vector<Standing<T>> all = standings<T>();
    const Tensor<T> x = noise<T>(all[0].layout.shape);
    for (const Standing<T>& one : all) {
        CAPTURE(one.what);
        check_layouts(x, one.layout, 1, all[0].layout, one.lead, {});
        check_layouts(x, all[0].layout, 1, one.layout, {}, one.lead);
    }
}

TEST_CASE("in or out alone may be no rows of quads", "[day06][softmax][small]") {
    check_standings<float>();
    check_standings<bf16>();
}

TEST_CASE("softmax takes the lengths around its quads, warps and blocks",
          "[day06][softmax][small]") {
    for (const std::int64_t n :
         {1, 3, 4, 5, 8, 31, 32, 33, 60, 64, 127, 128, 256, 260, 508, 512, 516, 1028}) {
        check_rows_of(noise<float>({5, n}));
        check_rows_of(noise<bf16>({5, n}));
    }
    for (const std::int64_t n : {7, 256}) check_rows_of(noise<float>({9, n}));  // eight rows a tile
    check_rows_of(noise<float>({1, 1024}));
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

TEST_CASE("a row that is walked in pieces, the largest in the first, a middle and the last one",
          "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({3, 8200});  // three of the longest tile
    x(0, 3) = x(1, 4100) = x(2, 8199) = 30;
    check_rows_of(x);
}

TEST_CASE("a long row may begin with pieces that hold -infinity alone", "[day06][softmax][small]") {
    Tensor<float> x = noise<float>({4, 8200});
    std::fill_n(&x(0, 0), 4096, -INFINITY);
    std::fill_n(&x(1, 0), 8192, -INFINITY);
    std::fill_n(&x(2, 0), 8200, -INFINITY);  // nothing else: NaN
    std::fill_n(&x(3, 4096), 4096, -INFINITY);
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
    const Expected want = wanted(Sibling::softmax, x, 1, SoftmaxPath::shared);
    softmax_cuda(DeviceIn<float>(x).view(), 1, got.view(), {.path = SoftmaxPath::shared});
    CHECK(agrees(got, want));
    softmax_cuda(there.view(), 1, there.view(), {.path = SoftmaxPath::shared});
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
        if (!takes<float>(path, d.view(), 1, got.view())) continue;
        run_softmax<float>(path, d.view(), 1, got.view());
        run_softmax<float>(path, ds.view(), 1, again.view());
        CHECK(again.matches(got.values()));
        const Tensor<float> y = got.values();
        for (std::int64_t r = 0; r < 3; ++r) {
            double sum = 0;
            for (std::int64_t i = 0; i < 768; ++i) sum += static_cast<double>(y(r, i));
            CHECK(std::fabs(sum - 1) <= (chain(path, 768) + 2 * std::log(768) + 24) * kU);
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
    CHECK(agrees(got, wanted(Sibling::softmax, x, 1, SoftmaxPath::split)));
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
        CHECK(agrees(here, wanted(Sibling::softmax, x, 1, SoftmaxPath::thread_a_row)));
        for (const SoftmaxPath path : kPaths) {
            CAPTURE(n, name(path));
            DeviceOut<float> there = DeviceOut<float>::holding(x);
            if (!takes<float>(path, there.view(), 1, there.view())) continue;
            run_softmax<float>(path, there.view(), 1, there.view());
            CHECK(agrees(there, wanted(Sibling::softmax, x, 1, path)));
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
        CHECK(agrees(got, wanted(Sibling::softmax, logits, 1, path)));
    }
}

}  // namespace
