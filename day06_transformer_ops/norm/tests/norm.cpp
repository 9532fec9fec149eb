// The proof of the set norm: loops and every path against float64, over every element.
#include "day06_transformer_ops/norm/norm.hpp"

#include "common/gpu/tile.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

struct GoldenNorm {
    double eps;
    std::vector<double> x, weight, bias, layer_norm, rms_norm;
};
#include "day06_transformer_ops/norm/tests/golden_norm.inc"

const std::vector<NormPath> kPaths = [] {
    std::vector<NormPath> paths = {NormPath::thread_a_row, NormPath::warp_a_row,
                                   NormPath::registers};
    if (gpu::has_tile()) paths.push_back(NormPath::tile);
    return paths;
}();

enum class Kind { layer_norm, rms_norm };
constexpr Kind kKinds[] = {Kind::layer_norm, Kind::rms_norm};

template <class T>
bool takes(NormPath path, const View<const T>& in, const View<T>& out) {
    return refusal([&] { check_norm<T>("layer_norm", in, {}, out, path); }).empty();
}

// So many numbers are added one behind the other in a row of N, before or after partial sums are; N
// at most, as norm.hpp says, for adding nothing costs nothing.
double chain(NormPath path, std::int64_t N) {
    const auto n = static_cast<double>(N);
    if (path == NormPath::thread_a_row || path == NormPath::tile) return n;  // in any order
    return std::min(n, path == NormPath::warp_a_row ? n / 32 + 6 : 32.0 + 11);
}

// The norm of `row`, and how far from it a float computation may be:
//   mean      sums of x - x(0) are off by terms + 2 half units of the mean of |x - x(0)|
//   z         that, scaled, is d; the root is off by half of what the sum of squares is, terms + 8,
//             and by 1 / sqrt(1 + d^2): around a wrong mean the squares are larger by its square
//   z w + b   one rounding
template <class T>
void put(Wanted& want, Kind kind, const std::vector<double>& row, const Tensor<float>& weight,
         const Tensor<float>& bias, double eps, double terms, Index at) {
    const auto N = static_cast<double>(row.size());
    double mean = 0, from_first = 0, squares = 0;
    if (kind == Kind::layer_norm) {
        for (const double x : row) {
            mean += x / N;
            from_first += std::fabs(x - row[0]) / N;
        }
    }
    for (const double x : row) squares += (x - mean) * (x - mean) / N;
    const double scale = 1 / std::sqrt(squares + eps);
    const double mean_off =
        kind == Kind::rms_norm ? 0 : ((terms + 2) * from_first + std::fabs(mean)) * kU;
    std::int64_t& i = at[at.rank - 1];
    for (i = 0; i < weight.size(); ++i) {
        const auto w = static_cast<double>(weight(i)), b = static_cast<double>(bias(i));
        const double z = (row[static_cast<std::size_t>(i)] - mean) * scale, y = z * w + b;
        const double d = scale * mean_off;
        const double z_off =
            d + std::fabs(z) * ((terms / 2 + 8) * kU + 1 - 1 / std::sqrt(1 + d * d));
        want.value.view()(at) = y;
        want.bound.view()(at) =
            std::isnan(y) ? 0 : std::fabs(w) * z_off + std::fabs(y) * 2 * kU + storing<T>(y);
    }
}

template <class T>
Wanted wanted(Kind kind, const Tensor<T>& x, const Tensor<float>& w, const Tensor<float>& b,
              double eps, NormPath path) {
    Wanted want(x.shape());
    const int last = x.shape().rank - 1;
    for (std::int64_t k = 0; k < x.size(); k += w.size()) {
        const Index at = unravel(k, x.shape());
        put<T>(want, kind, row_at(x, last, at), w, b, eps, chain(path, w.size()), at);
    }
    return want;
}

template <class T>
void run_loop(Kind kind, View<const T> in, const NormParameters& p, View<T> out) {
    if (kind == Kind::layer_norm) return layer_norm_cpu(in, p, out);
    rms_norm_cpu(in, p, out);
}
template <class T>
void run_port(Kind kind, NormPath path, View<const T> in, const NormParameters& p, View<T> out) {
    if (kind == Kind::layer_norm) return layer_norm_cuda(in, p, out, {.path = path});
    rms_norm_cuda(in, p, out, {.path = path});
}

// A weight and a bias whose neighbours differ, and none of which is 1 or 0.
Tensor<float> some_weight(std::int64_t C) {
    return few_values(C, 7, 0.5f);
}
Tensor<float> some_bias(std::int64_t C) {
    return few_values(C, 11, -2.25f);
}

// Both norms, loop and every path that takes it, from `in` to `out`.
template <class T>
void check_layouts(const Tensor<T>& x, const Layout& in, const Layout& out, Lead lead,
                   Lead lead_out) {
    const std::int64_t C = x.shape()[x.shape().rank - 1];
    const Tensor<float> w = some_weight(C), b = some_bias(C);
    DeviceIn<float> dw(w, Layout({C}, {2})), db(b, Layout({C}, {-3}));
    for (const Kind kind : kKinds) {
        CAPTURE(to_string(in), to_string(out), kind == Kind::layer_norm, lead.elements);
        HostIn<T> h(x, in);
        HostOut<T> loop(out);
        run_loop<T>(kind, h.view(), {w.view(), b.view(), 0.25f}, loop.view());
        CHECK(agrees(loop, wanted(kind, x, w, b, 0.25, NormPath::thread_a_row)));
        DeviceIn<T> d(x, in, lead);
        for (const NormPath path : kPaths) {
            CAPTURE(name(path));
            DeviceOut<T> got(out, lead_out);
            if (!takes<T>(path, d.view(), got.view())) continue;
            run_port<T>(kind, path, d.view(), {dw.view(), db.view(), 0.25f}, got.view());
            CHECK(agrees(got, wanted(kind, x, w, b, 0.25, path)));
            if (path == NormPath::tile && x.size() > 0) CHECK(last_kernel() == "norm_tile");
        }
        CHECK(d.unchanged());
    }
    CHECK(dw.unchanged());
    CHECK(db.unchanged());
}
template <class T>
void check_layouts(const Tensor<T>& x, const Layout& in, const Layout& out, Lead lead = {}) {
    check_layouts(x, in, out, lead, lead);
}
template <class T>
void check_rows_of(const Tensor<T>& x) {
    check_layouts(x, row_major(x.shape()), row_major(x.shape()));
}

TEST_CASE("norms in tiles, where one operand alone is no rows of quads", "[day06][norm][small]") {
    if (!gpu::has_tile()) {
        SUCCEED("this nvcc compiles no tiles");
        return;
    }
    // The emulator finds a promise that does not hold.
    struct Parameter {
        const char* what;
        std::int64_t stride;
        Lead lead;
    };
    const Parameter fit{"fit", 1, Lead{0}}, others[] = {fit,
                                                        {"an element past a quad", 1, Lead{1}},
                                                        {"half a quad past one", 1, Lead{2}},
                                                        {"every second element", 2, Lead{0}},
                                                        {"backwards", -1, Lead{0}},
                                                        {"one for all", 0, Lead{0}}};
    const auto check = [&](const auto& all, auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const Tensor<T> x = noise<T>(all[0].layout.shape);
        const std::int64_t C = x.shape()[1];
        const auto run = [&](const auto& in, const auto& out, const Parameter& of_w,
                             const Parameter& of_b) {
            CAPTURE(in.what, out.what, of_w.what, of_b.what, sizeof(T));
            Tensor<float> w = some_weight(C), b = some_bias(C);
            if (of_w.stride == 0) std::fill_n(w.data(), C, 1.5f);
            if (of_b.stride == 0) std::fill_n(b.data(), C, -2.5f);
            const DeviceIn<float> dw(w, Layout({C}, {of_w.stride}), of_w.lead),
                db(b, Layout({C}, {of_b.stride}), of_b.lead);
            const DeviceIn<T> d(x, in.layout, in.lead);
            for (const Kind kind : kKinds) {
                DeviceOut<T> got(out.layout, out.lead);
                run_port<T>(kind, NormPath::tile, d.view(), {dw.view(), db.view(), 0.25f},
                            got.view());
                CHECK(agrees(got, wanted(kind, x, w, b, 0.25, NormPath::tile)));
                CHECK(last_kernel() == "norm_tile");
            }
        };
        for (const auto& one : all) {
            if (one.layout.stride(0) < 0 || one.layout.stride(1) < 0) continue;
            run(one, all[0], fit, fit);
            run(all[0], one, fit, fit);
        }
        for (const Parameter& one : others) {
            run(all[0], all[0], one, fit);
            run(all[0], all[0], fit, one);
        }
    };
    check(standings<float>(), static_cast<float*>(nullptr));
    check(standings<bf16>(), static_cast<bf16*>(nullptr));
}

TEST_CASE("layer norm and RMS norm of rows of all kinds: what NumPy says", "[day06][norm][small]") {
    for (const GoldenNorm& g : golden_norm) {
        const Tensor<float> x = tensor_of<float>(g.x), w = tensor_of<float>(g.weight),
                            b = tensor_of<float>(g.bias);
        DeviceIn<float> dx(x), dw(w), db(b);
        const auto eps = static_cast<float>(g.eps);
        for (const Kind kind : kKinds) {
            for (const NormPath path : kPaths) {
                CAPTURE(g.x, g.eps, kind == Kind::layer_norm, name(path));
                Wanted want = wanted(kind, x, w, b, g.eps, path);
                for (std::int64_t i = 0; i < x.size(); ++i) {
                    const auto& known = kind == Kind::layer_norm ? g.layer_norm : g.rms_norm;
                    want.value(i) = known[static_cast<std::size_t>(i)];
                }
                HostOut<float> loop(x.shape());
                run_loop<float>(kind, x.view(), {w.view(), b.view(), eps}, loop.view());
                if (path == NormPath::thread_a_row) CHECK(agrees(loop, want));
                DeviceOut<float> got(x.shape());
                if (!takes<float>(path, dx.view(), got.view())) continue;
                run_port<float>(kind, path, dx.view(), {dw.view(), db.view(), eps}, got.view());
                CHECK(agrees(got, want));
            }
        }
    }
}

TEST_CASE("a row near 10240 keeps its variance, where E[x^2] - E[x]^2 would not",
          "[day06][norm][small]") {
    // 10240 plus small whole numbers: all sums of differences are exact.
    const Tensor<float> x = few_values(768, 5, 10240);
    const Tensor<float> ones = Tensor<float>({768}, std::vector<float>(768, 1.0f));
    const Tensor<float> zeros = Tensor<float>({768}, std::vector<float>(768, 0.0f));
    double mean = 0, squares = 0;
    float sum = 0, sum_of_squares = 0;
    for (std::int64_t i = 0; i < 768; ++i) {
        mean += static_cast<double>(x(i)) / 768;
        sum += x(i);
        sum_of_squares += x(i) * x(i);
    }
    for (std::int64_t i = 0; i < 768; ++i)
        squares += std::pow(static_cast<double>(x(i)) - mean, 2) / 768;
    const double one_pass = static_cast<double>(sum_of_squares / 768 - (sum / 768) * (sum / 768));
    CHECK(std::fabs(one_pass - squares) > 0.05 * squares);  // what the tests refuse
    DeviceIn<float> d(x);
    for (const NormPath path : kPaths) {
        CAPTURE(name(path));
        const Wanted want = wanted(Kind::layer_norm, x, ones, zeros, 1e-5f, path);
        DeviceOut<float> got({768});
        layer_norm_cuda(d.view(), {}, got.view(), {.path = path});
        CHECK(agrees(got, want));
        CHECK(got.close_to(want.value, 2e-3));
    }
}

TEST_CASE("the layer norm of a constant row is the bias, to the last bit", "[day06][norm][small]") {
    for (const std::int64_t C : {1, 3, 64, 300, 768}) {
        Tensor<float> x({2, C});
        for (std::int64_t k = 0; k < 2 * C; ++k) x.data()[k] = k < C ? 0.1f : -10240.3f;
        const Tensor<float> w = some_weight(C), b = some_bias(C);
        Tensor<float> want({2, C});
        for (std::int64_t k = 0; k < 2 * C; ++k) want.data()[k] = b(k % C);
        HostOut<float> loop({2, C});
        layer_norm_cpu(x.view(), {w.view(), b.view(), 1e-5f}, loop.view());
        CHECK(loop.matches(want));
        DeviceIn<float> d(x), dw(w), db(b);
        for (const NormPath path : kPaths) {
            CAPTURE(C, name(path));
            DeviceOut<float> got({2, C});
            if (!takes<float>(path, d.view(), got.view())) continue;
            layer_norm_cuda(d.view(), {dw.view(), db.view(), 1e-5f}, got.view(), {.path = path});
            CHECK(got.matches(want));
        }
    }
}

TEST_CASE("without weight and bias z is left as it is", "[day06][norm][small]") {
    const Tensor<float> x = noise<float>({2, 12}), w = some_weight(12), b = some_bias(12);
    const Tensor<float> ones = Tensor<float>({12}, std::vector<float>(12, 1.0f));
    const Tensor<float> zeros = Tensor<float>({12}, std::vector<float>(12, 0.0f));
    DeviceIn<float> d(x), dw(w), db(b);
    for (const Kind kind : kKinds) {
        for (const NormPath path : kPaths) {
            const double eps = static_cast<double>(1e-5f);
            DeviceOut<float> plain({2, 12}), scaled({2, 12}), moved({2, 12});
            run_port<float>(kind, path, d.view(), {}, plain.view());
            run_port<float>(kind, path, d.view(), {dw.view(), {}}, scaled.view());
            run_port<float>(kind, path, d.view(), {{}, db.view()}, moved.view());
            CHECK(agrees(plain, wanted(kind, x, ones, zeros, eps, path)));
            CHECK(agrees(scaled, wanted(kind, x, w, zeros, eps, path)));
            CHECK(agrees(moved, wanted(kind, x, ones, b, eps, path)));
        }
    }
}

TEST_CASE("norms take every order and direction of dims, pitched too", "[day06][norm][small]") {
    const Tensor<float> x = noise<float>({2, 3, 5}), q = noise<float>({3, 2, 8});
    for_each_layout({2, 3, 5}, [&](const Layout& layout) {
        check_layouts(x, layout, row_major({2, 3, 5}));
        check_layouts(x, row_major({2, 3, 5}), layout, Lead{1});
    });
    check_layouts(q, Layout({3, 2, 8}, {40, 20, 1}), Layout({3, 2, 8}, {-16, 8, 1}));
    check_layouts(noise<float>({2, 1, 2, 2, 1, 2, 1, 3}), row_major({2, 1, 2, 2, 1, 2, 1, 3}),
                  column_major({2, 1, 2, 2, 1, 2, 1, 3}));
}

template <class T>
void check_standings() {
    const std::vector<Standing<T>> all = standings<T>();
    const Tensor<T> x = noise<T>(all[0].layout.shape);
    for (const Standing<T>& one : all) {
        CAPTURE(one.what);
        check_layouts(x, one.layout, all[0].layout, one.lead, {});
        check_layouts(x, all[0].layout, one.layout, {}, one.lead);
        DeviceIn<T> d(x, one.layout, one.lead), fit(x);
        DeviceOut<T> got(one.layout, one.lead), out(all[0].layout);
        const bool along = one.layout.stride(1) == 1;
        const NormPath other = one.quads ? NormPath::registers
                               : along   ? NormPath::warp_a_row
                                         : NormPath::thread_a_row;
        CHECK(choose_norm<T>(d.view(), out.view(), out.view()) == other);
        const NormPath of_out = one.quads ? NormPath::registers : NormPath::warp_a_row;
        CHECK(choose_norm<T>(fit.view(), got.view(), out.view()) == of_out);
        CHECK(choose_norm<T>(fit.view(), out.view(), got.view()) == of_out);
    }
}

TEST_CASE("in, out or residual alone may be no rows of quads", "[day06][norm][small]") {
    check_standings<float>();
    check_standings<bf16>();
}

TEST_CASE("weight or bias alone may be strided, off a quad, or not there", "[day06][norm][small]") {
    const std::int64_t C = 16;
    const Tensor<float> x = noise<float>({3, C}), w = some_weight(C), b = some_bias(C);
    const Tensor<float> ones = Tensor<float>({C}, std::vector<float>(C, 1.0f)), zeros({C});
    struct How {
        Layout layout;
        Lead lead;
    };
    const How plain{Layout({C}, {1}), Lead{0}};
    const How others[] = {plain,
                          {Layout({C}, {2}), Lead{0}},
                          {Layout({C}, {-1}), Lead{0}},
                          {Layout({C}, {1}), Lead{1}},
                          {Layout({C}, {1}), Lead{2}}};
    DeviceIn<float> d(x);
    const auto check = [&](const Tensor<float>& weight, const NormParameters& p,
                           const Tensor<float>& bias) {
        for (const Kind kind : kKinds) {
            for (const NormPath path : kPaths) {
                CAPTURE(name(path), kind == Kind::layer_norm);
                DeviceOut<float> got({3, C});
                run_port<float>(kind, path, d.view(), p, got.view());
                CHECK(agrees(got, wanted(kind, x, weight, bias, static_cast<double>(p.eps), path)));
            }
        }
    };
    for (const How& how : others) {
        CAPTURE(to_string(how.layout), how.lead.elements);
        DeviceIn<float> odd_w(w, how.layout, how.lead), odd_b(b, how.layout, how.lead), dw(w),
            db(b);
        check(w, {odd_w.view(), db.view(), 0.25f}, b);
        check(w, {dw.view(), odd_b.view(), 0.25f}, b);
        check(w, {odd_w.view(), {}, 0.25f}, zeros);
        check(ones, {{}, odd_b.view(), 0.25f}, b);
    }
}

TEST_CASE("eps may be 0: a row that is not constant needs none, and one of zeros becomes NaN",
          "[day06][norm][small]") {
    Tensor<float> x = noise<float>({2, 8});
    for (std::int64_t i = 0; i < 8; ++i) x(1, i) = 0;
    const Tensor<float> ones = Tensor<float>({8}, std::vector<float>(8, 1.0f)), zeros({8});
    DeviceIn<float> d(x);
    HostOut<float> loop({2, 8});
    layer_norm_cpu(x.view(), {{}, {}, 0}, loop.view());
    CHECK(agrees(loop, wanted(Kind::layer_norm, x, ones, zeros, 0, NormPath::thread_a_row)));
    for (const NormPath path : kPaths) {
        CAPTURE(name(path));
        DeviceOut<float> got({2, 8}), rms({2, 8});
        layer_norm_cuda(d.view(), {{}, {}, 0}, got.view(), {.path = path});
        CHECK(agrees(got, wanted(Kind::layer_norm, x, ones, zeros, 0, path)));
        CHECK(std::isnan(got.values()(1, 0)));
        rms_norm_cuda(d.view(), {{}, {}, 0}, rms.view(), {.path = path});
        CHECK(agrees(rms, wanted(Kind::rms_norm, x, ones, zeros, 0, path)));
    }
}

TEST_CASE("what is almost a norm is refused", "[day06][norm][small]") {
    const std::int64_t C = 96;
    const Tensor<float> x = seeded<float>({1, C}, 5, -0.1, 0.1), w = some_weight(C),
                        b = some_bias(C);
    const Wanted want = wanted(Kind::layer_norm, x, w, b, 1e-5, NormPath::thread_a_row);
    const std::vector<double> row = row_at(x, 1, {0, 0});
    double mean = 0, squares = 0;
    for (const double v : row) mean += v / double(C);
    for (const double v : row) squares += (v - mean) * (v - mean);
    const auto accepted = [&](const auto& z) {
        Tensor<float> y({1, C});
        for (std::int64_t i = 0; i < C; ++i) {
            y(0, i) = static_cast<float>(z(row[static_cast<std::size_t>(i)]) * double(w(i)) +
                                         double(b(i)));
        }
        return bool(agrees(HostOut<float>::holding(y), want));
    };
    const double variance = squares / double(C);
    CHECK(accepted([&](double v) { return (v - mean) / std::sqrt(variance + 1e-5); }));
    CHECK_FALSE(accepted([&](double v) {  // as a sample's variance
        return (v - mean) / std::sqrt(squares / double(C - 1) + 1e-5);
    }));
    CHECK_FALSE(accepted([&](double v) {  // eps outside the root
        return (v - mean) / (std::sqrt(variance) + 1e-5);
    }));
    CHECK_FALSE(accepted([&](double v) { return (v - mean) / std::sqrt(variance); }));
    CHECK_FALSE(accepted([&](double v) {  // in bf16
        return double(float(bf16(float((v - mean) / std::sqrt(variance + 1e-5)))));
    }));
}

TEST_CASE("norms take the lengths around their quads, warps and blocks", "[day06][norm][small]") {
    for (const std::int64_t n :
         {1, 2, 4, 31, 33, 60, 64, 127, 128, 508, 512, 516, 768, 769, 1600}) {
        check_rows_of(noise<float>({5, n}));
        check_rows_of(noise<bf16>({3, n}));
    }
    // A quad more than so many lanes and quads a lane hold.
    for (const std::int64_t held : {32, 64, 96, 128, 160, 192, 224}) {
        check_rows_of(noise<float>({2, 4 * held + 4}));
    }
    for (const std::int64_t n : {1024, 2048, 4096}) check_rows_of(noise<float>({1, n}));
    check_rows_of(noise<float>({2, 2052}));
    check_rows_of(noise<float>({0, 4}));
    check_rows_of(noise<float>({4, 0}));
}

TEST_CASE("norms take long rows", "[day06][norm][full]") {
    check_rows_of(noise<float>({1, 4100}));
    check_rows_of(noise<float>({1, 16384}));
    check_rows_of(noise<bf16>({1, 16384}));
    check_rows_of(noise<float>({1, 50257}));
}

TEST_CASE("norms take more rows than a grid has blocks in y", "[day06][norm][huge]") {
    check_rows_of(noise<float>({65537, 4}));
}

TEST_CASE("a NaN or an infinity poisons its own row and no other", "[day06][norm][small]") {
    Tensor<float> x = noise<float>({6, 64});
    x(2, 63) = NAN;
    x(4, 0) = -NAN;
    x(1, 5) = INFINITY;
    x(5, 0) = -INFINITY;
    check_rows_of(x);
}

TEST_CASE("norms work in place", "[day06][norm][small]") {
    for (const std::int64_t n : {7, 64, 300}) {
        const Tensor<float> x = noise<float>({5, n}), w = some_weight(n), b = some_bias(n);
        DeviceIn<float> dw(w), db(b);
        for (const Kind kind : kKinds) {
            HostOut<float> here = HostOut<float>::holding(x);
            run_loop<float>(kind, here.view(), {w.view(), b.view(), 0.5f}, here.view());
            CHECK(agrees(here, wanted(kind, x, w, b, 0.5, NormPath::thread_a_row)));
            for (const NormPath path : kPaths) {
                CAPTURE(n, name(path), kind == Kind::layer_norm);
                DeviceOut<float> there = DeviceOut<float>::holding(x);
                if (!takes<float>(path, there.view(), there.view())) continue;
                run_port<float>(kind, path, there.view(), {dw.view(), db.view(), 0.5f},
                                there.view());
                CHECK(agrees(there, wanted(kind, x, w, b, 0.5, path)));
            }
        }
    }
}

// --- residual ------------------------------------------------------------------------------------

template <class T>
void check_add(const Tensor<T>& x, const Tensor<T>& stream, const Layout& layout, Lead lead = {}) {
    CAPTURE(to_string(layout), lead.elements);
    const std::int64_t C = x.shape()[x.shape().rank - 1];
    const Tensor<float> w = some_weight(C), b = some_bias(C);
    Tensor<T> sum(x.shape());
    for (std::int64_t k = 0; k < x.size(); ++k) {
        sum.data()[k] = T(static_cast<float>(x.data()[k]) + static_cast<float>(stream.data()[k]));
    }
    HostIn<T> h(x, layout);
    HostOut<T> here = HostOut<T>::holding(stream, layout), loop(layout);
    add_layer_norm_cpu(h.view(), {w.view(), b.view(), 0.25f}, here.view(), loop.view());
    CHECK(here.matches(sum));
    CHECK(agrees(loop, wanted(Kind::layer_norm, sum, w, b, 0.25, NormPath::thread_a_row)));
    DeviceIn<T> d(x, layout, lead);
    DeviceIn<float> dw(w), db(b);
    for (const NormPath path : kPaths) {
        CAPTURE(name(path));
        DeviceOut<T> there = DeviceOut<T>::holding(stream, layout, lead), got(layout, lead);
        const NormParameters p = {dw.view(), db.view(), 0.25f};
        if (!refusal([&] {
                 check_add_layer_norm<T>(d.view(), p, there.view(), got.view(), path);
             }).empty()) {
            continue;
        }
        add_layer_norm_cuda(d.view(), p, there.view(), got.view(), {.path = path});
        CHECK(there.matches(sum));
        CHECK(agrees(got, wanted(Kind::layer_norm, sum, w, b, 0.25, path)));
    }
    CHECK(d.unchanged());
}

TEST_CASE("add_layer_norm adds to the residual stream and norms the sum", "[day06][norm][small]") {
    for (const std::int64_t n : {1, 5, 64, 260, 768}) {
        check_add(noise<float>({3, n}), seeded_integers<float>({3, n}, 9, -40, 40),
                  row_major({3, n}));
        check_add(noise<bf16>({3, n}), seeded_integers<bf16>({3, n}, 9, -40, 40),
                  row_major({3, n}));
    }
    const Tensor<float> x = noise<float>({2, 3, 8}),
                        s = seeded_integers<float>({2, 3, 8}, 9, -40, 40);
    check_add(x, s, column_major({2, 3, 8}));
    check_add(x, s, Layout({2, 3, 8}, {60, -20, 1}), Lead{4});
    check_add(x, s, Layout({2, 3, 8}, {61, -20, 1}), Lead{1});
}

// --- paths and refusals --------------------------------------------------------------------------

TEST_CASE("a norm takes the path that its rows ask for", "[day06][norm][small]") {
    alignas(16) static float memory[2][8];
    const auto path = [&](const Layout& in, int lead = 0) {
        const View<float> out(memory[1] + lead, in);
        return choose_norm<float>({memory[0] + lead, in}, out, out);
    };
    CHECK(path(row_major({4, 8})) == NormPath::registers);
    CHECK(path(row_major({4, 8}), 1) == NormPath::warp_a_row);
    CHECK(path(row_major({4, 7})) == NormPath::warp_a_row);
    CHECK(path(column_major({4, 8})) == NormPath::thread_a_row);
    CHECK(path(column_major({4, 1})) == NormPath::warp_a_row);  // one number lies along any dim
    CHECK(path(row_major({4, 16384})) == NormPath::registers);
    CHECK(path(row_major({4, 16388})) == NormPath::warp_a_row);

    const Tensor<float> x = noise<float>({4, 8});
    DeviceIn<float> d(x), d1(x, Lead{1});
    DeviceOut<float> got({4, 8}), residual = DeviceOut<float>::holding(x);
    layer_norm_cuda(d.view(), {}, got.view());
    CHECK(last_kernel() == "norm_registers_kernel");
    rms_norm_cuda(d1.view(), {}, got.view());
    CHECK(last_kernel() == "norm_warp_kernel");
    add_layer_norm_cuda(d.view(), {}, residual.view(), got.view());
    CHECK(last_kernel() == "norm_registers_kernel");
    rms_norm_cuda(d1.view(), {}, got.view(), {.path = NormPath::thread_a_row});
    CHECK(last_kernel() == "rms_norm_kernel");
    layer_norm_cuda(transpose(reshape(d.view(), {8, 4})), {}, got.view());
    CHECK(last_kernel() == "layer_norm_kernel");
    DeviceOut<float> untouched({4, 8});
    const char* words =
        ": the path 'registers' needs rows of whole quads along memory that begin at multiples "
        "of 16 bytes, of 16,384 elements at most; in has shape (4, 8), strides (8, 1), out shape "
        "(4, 8), strides (8, 1)";
    CHECK(refusal([&] {
              layer_norm_cuda(d1.view(), {}, untouched.view(), {.path = NormPath::registers});
          }) == std::string("layer_norm") + words);
    DeviceOut<float> odd = DeviceOut<float>::holding(x, Lead{1});
    DeviceOut<float> also_odd = DeviceOut<float>::holding(x, Lead{1});
    add_layer_norm_cuda(d.view(), {}, also_odd.view(), got.view());
    CHECK(last_kernel() == "norm_warp_kernel");
    CHECK(refusal([&] {
              add_layer_norm_cuda(d.view(), {}, odd.view(), untouched.view(),
                                  {.path = NormPath::registers});
          }) == std::string("add_layer_norm") + words);
    CHECK(untouched.untouched());
}

TEST_CASE("the norms reject an eps that is negative, infinite or NaN", "[day06][norm][small]") {
    const Tensor<float> x = noise<float>({4, 8});
    DeviceIn<float> d(x);
    HostOut<float> h({4, 8}), hr({4, 8});
    DeviceOut<float> g({4, 8}), gr({4, 8});
    const auto rejected = [&](float eps, const std::string& words) {
        const NormParameters p{{}, {}, eps};
        CHECK(both_refuse([&] { layer_norm_cpu(x.view(), p, h.view()); },
                          [&] { layer_norm_cuda(d.view(), p, g.view()); }, "layer_norm" + words));
        CHECK(both_refuse([&] { rms_norm_cpu(x.view(), p, h.view()); },
                          [&] { rms_norm_cuda(d.view(), p, g.view()); }, "rms_norm" + words));
        CHECK(both_refuse([&] { add_layer_norm_cpu(x.view(), p, hr.view(), h.view()); },
                          [&] { add_layer_norm_cuda(d.view(), p, gr.view(), g.view()); },
                          "add_layer_norm" + words));
    };
    rejected(-1e-5f, ": eps is -0.000010, but must be 0 or more, and finite");
    rejected(NAN, ": eps is nan, but must be 0 or more, and finite");
    rejected(INFINITY, ": eps is inf, but must be 0 or more, and finite");
    for (const auto* out : {&h, &hr}) CHECK(out->untouched());
    for (const auto* out : {&g, &gr}) CHECK(out->untouched());
}

TEST_CASE("layer_norm's bound holds where a row's spread is near the rounding of its mean",
          "[day06][norm][small]") {
    // The mean, 1 + 1.5 2^-23, is no float: it is off by a third of the spread, and the variance
    // around the wrong one is a ninth too large. So z is off by 0.3675 instead of by 1/3.
    const float step = 0x1p-23f;
    const Tensor<float> x = tensor_of<float>({1, 1 + 3 * double{step}}),
                        w = tensor_of<float>({1, 1}), b = tensor_of<float>({0, 0});
    Tensor<float> rows({3, 2});
    for (std::int64_t k = 0; k < 6; ++k) rows.data()[k] = x(k % 2);
    const Wanted want = wanted(Kind::layer_norm, rows, w, b, 0, NormPath::thread_a_row);
    HostOut<float> loop({3, 2});
    layer_norm_cpu(rows.view(), {w.view(), b.view(), 0}, loop.view());
    CHECK(agrees(loop, want));
    const double off =
        std::fabs(static_cast<double>(loop.values().data()[1]) - want.value.data()[1]);
    CHECK(off > 0.367);
    CHECK(off > 0.95 * want.bound.data()[1]);
    DeviceIn<float> d(rows);
    for (const NormPath path : kPaths) {
        DeviceOut<float> got({3, 2});
        if (!takes<float>(path, d.view(), got.view())) continue;
        CAPTURE(name(path));
        layer_norm_cuda(d.view(), {{}, {}, 0}, got.view(), {.path = path});
        CHECK(agrees(got, want));
    }
    // A mean of 0.4 units of its last place more is beyond the bound.
    const double mean = 1 + 2.4 * double{step},
                 z = (1 + 3 * double{step} - mean) / std::sqrt(2.25 + 0.81) / step;
    CHECK(std::fabs(z - want.value.data()[1]) > want.bound.data()[1]);
}

TEST_CASE("tiles: each condition is false alone", "[day06][norm][small]") {
    const char* words =
        "layer_norm: the path 'tile' needs rows of at most 8192 elements, at one step from each "
        "other, "
        "and no negative stride, for CUDA Tile C++ takes strides for sizes; in has ";
    const Tensor<float> room({4 * 8193});
    Tensor<float> into({4 * 8193});
    const auto refused = [&](const Layout& in, const Layout& out) {
        return refusal([&] {
            check_norm<float>("layer_norm", View<const float>(room.data() + 100, in), {},
                              View<float>(into.data() + 100, out), NormPath::tile);
        });
    };
    const Layout plain = row_major({2, 3, 8});
    CHECK(refused(plain, plain) == "");
    CHECK(refused(Layout({1, 3, 8}, {-9, 8, 1}), row_major({1, 3, 8})) == "");
    CHECK(refused(plain, Layout({2, 3, 8}, {90, 30, 2})) == "");
    CHECK(refused(row_major({2, 8192}), row_major({2, 8192})) == "");
    CHECK(contains(refused(row_major({2, 8193}), row_major({2, 8193})), words));
    const Layout two_steps({2, 3, 8}, {60, 10, 1}), back({2, 3, 8}, {-24, -8, 1}),
        flipped({2, 3, 8}, {24, 8, -1});
    for (const Layout& odd : {two_steps, back, flipped}) {
        CHECK(contains(refused(odd, plain), words));
        CHECK(contains(refused(plain, odd), words));
    }
    Tensor<float> stream({2, 3, 8}), out({2, 3, 8});
    const Tensor<float> in({2, 3, 8});
    CHECK(refusal([&] {
              check_add_layer_norm<float>(in.view(), {}, stream.view(), out.view(), NormPath::tile);
          }) == "add_layer_norm: only layer_norm and rms_norm have the path 'tile'");
}

}  // namespace
