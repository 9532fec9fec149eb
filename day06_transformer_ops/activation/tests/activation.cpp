// The proof of the set activation: loops and every path against float64, over every element.
#include "day06_transformer_ops/activation/activation.hpp"

#include "common/gpu/tile.hpp"

#include "day06_transformer_ops/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/activation/tests/golden_activation.inc"

constexpr Activation kAll[] = {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh,
                               Activation::silu};
const std::vector<ActivationPath> kPaths = [] {
    std::vector<ActivationPath> all = {ActivationPath::one_element, ActivationPath::quads};
    if (gpu::has_tile()) all.push_back(ActivationPath::tile);
    return all;
}();

// Can tiles take these three? Which they must take has a case of its own.
template <class T>
bool takes_tiles(const View<const T>& in, const View<const T>& more, const View<T>& out) {
    return refusal([&] { check_activate_biased<T>(in, more, out, ActivationPath::tile); }).empty();
}

// In double, and written as the definitions say it.
double reference(Activation what, double x) {
    const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    switch (what) {
        case Activation::relu:
            return x <= 0 ? 0 : x;
        case Activation::gelu_erf:
            return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
        case Activation::gelu_tanh:
            return x / (1 + std::exp(-2 * u));
        case Activation::silu:
            return x / (1 + std::exp(-x));
    }
    return NAN;
}

// activation.hpp's bound: 4 of exp or 8 of erfc, an addition, a division and a product or two make
// 16. An argument v of exp that is off by n units moves the result by n |v|. Of silu v = x, and
// three roundings (the constant, the product, - 2); of gelu_tanh v = 2 u, and seven; erfc at
// x / sqrt(2) moves by x^2 for each of two. Above 0 exp is small beside 1, and so is what it is
// off.
double allowed(Activation what, double x, double y) {
    if (what == Activation::relu) return 0;
    double more = 0;
    if (x < 0 && what == Activation::silu) more = 3 * -x;
    if (x < 0 && what == Activation::gelu_erf) more = 2 * x * x;
    if (x < 0 && what == Activation::gelu_tanh) {
        more = 14 * std::sqrt(2 / M_PI) * (-x - 0.044715 * x * x * x);
    }
    return std::fabs(y) * std::min(16 + more, 1e9) * kU + 3e-37;
}

enum class Kind { plain, biased, gated };
constexpr Kind kKinds[] = {Kind::plain, Kind::biased, Kind::gated};

// For plain, `more` is not looked at.
template <class T>
Expected wanted(Kind kind, Activation what, const Tensor<T>& x, const Tensor<T>& more) {
    Expected want(x.shape());
    const View<const T> other = broadcast_to(more.view(), x.shape());
    for (std::int64_t k = 0; k < x.size(); ++k) {
        const Index at = unravel(k, x.shape());
        const float a = static_cast<float>(x.view()(at)), b = static_cast<float>(other(at));
        const auto in = static_cast<double>(kind == Kind::biased ? a + b : a);
        const double f = reference(what, in);
        const double factor = kind == Kind::gated ? static_cast<double>(b) : 1;
        want.value.view()(at) = f * factor;
        want.error.view()(at) = std::isfinite(f * factor)
                                    ? allowed(what, in, f) * std::fabs(factor) +
                                          std::fabs(f * factor) * kU + storing<T>(f * factor)
                                    : 0;
    }
    return want;
}

template <class T>
void run_loop(Kind kind, Activation what, View<const T> x, View<const T> more, View<T> out) {
    if (kind == Kind::plain) return activate_cpu(what, x, out);
    if (kind == Kind::biased) return activate_biased_cpu(what, x, more, out);
    activate_gated_cpu(what, x, more, out);
}
template <class T>
void run_port(ActivationPath path, Kind kind, Activation what, View<const T> x, View<const T> more,
              View<T> out) {
    if (kind == Kind::plain) return activate_cuda(what, x, out, {.path = path});
    if (kind == Kind::biased) return activate_biased_cuda(what, x, more, out, {.path = path});
    activate_gated_cuda(what, x, more, out, {.path = path});
}

// Loop and every path that takes it. The bias has shape `bias`, the gate's other half x's shape.
template <class T>
void check_layouts(Activation what, const Shape& shape, const Shape& bias, const Layout& in,
                   const Layout& out, Lead lead = {}) {
    const Tensor<T> x = noise<T>(shape);
    for (const Kind kind : kKinds) {
        CAPTURE(name(what), static_cast<int>(kind), to_string(in), to_string(out), lead.elements);
        Tensor<T> more(kind == Kind::biased ? bias : shape);
        for (std::int64_t k = 0; k < more.size(); ++k) {
            more.data()[k] = T(static_cast<float>(k * 5 % 13) / 4 - 1.125f);
        }
        const Expected want = wanted(kind, what, x, more);
        HostIn<T> h(x, in);
        HostOut<T> loop(out);
        run_loop<T>(kind, what, h.view(), more.view(), loop.view());
        CHECK(agrees(loop, want));
        DeviceIn<T> d(x, in, lead);
        DeviceIn<T> dm(more, kind == Kind::gated ? in : row_major(more.shape()), lead);
        for (const ActivationPath path : kPaths) {
            CAPTURE(name(path));
            DeviceOut<T> got(out, lead);
            const View<const T> other = kind == Kind::plain ? d.view() : dm.view();
            if (path == ActivationPath::quads &&
                choose_activation<T>(d.view(), other, got.view()) != path) {
                continue;
            }
            if (path == ActivationPath::tile && !takes_tiles<T>(d.view(), other, got.view())) {
                continue;
            }
            run_port<T>(path, kind, what, d.view(), dm.view(), got.view());
            CHECK(agrees(got, want));
            if (path == ActivationPath::tile && x.size() > 0) {
                CHECK(last_kernel() == "activation_tile");
            }
        }
        CHECK(d.unchanged());
        CHECK(dm.unchanged());
    }
}

TEST_CASE("activations are what float64 says", "[day06][activation][small]") {
    const Tensor<float> x = tensor_of<float>(golden_x);
    DeviceIn<float> d(x);
    for (const Activation what : kAll) {
        CAPTURE(name(what));
        Expected want(x.shape());
        for (std::int64_t i = 0; i < x.size(); ++i) {
            const auto k = static_cast<std::size_t>(i);
            want.value(i) = golden_activated[static_cast<std::size_t>(what)][k];
            want.error(i) =
                allowed(what, golden_x[k], want.value(i)) + 1e-11 * std::fabs(want.value(i));
            CHECK(std::fabs(reference(what, golden_x[k]) - want.value(i)) <=
                  1e-11 * std::fabs(want.value(i)) + 1e-99);
        }
        HostOut<float> loop(x.shape());
        activate_cpu(what, x.view(), loop.view());
        CHECK(agrees(loop, want));
        DeviceOut<float> got(x.shape());
        activate_cuda(what, d.view(), got.view(), {.path = ActivationPath::one_element});
        CHECK(agrees(got, want));
    }
}

// Row 0: -14 to 14, where the GELUs' formulas bend. Row 1: -100 to 100, past the smallest results.
// Row 2: both signs of all sizes. Row 3: neighbours of two places where loop and quads are off by
// most.
template <class T>
Tensor<T> all_sizes() {
    Tensor<T> x({4, 2048});
    for (std::int64_t i = 0; i < 2048; ++i) {
        const double part = static_cast<double>(i) / 2047;
        x(0, i) = T(static_cast<float>(28 * part - 14));
        x(1, i) = T(static_cast<float>(200 * part - 100));
        x(2, i) = T(static_cast<float>(std::pow(10, 70 * part - 35) * (i % 2 == 0 ? 1 : -1)));
        const double near = i < 1024 ? -9.57296848 + static_cast<double>(i - 512) * 0x1p-20
                                     : -34.1 + static_cast<double>(i - 1536) * 0x1p-9;
        x(3, i) = T(static_cast<float>(near));
    }
    return x;
}

template <class T>
void check_all_sizes() {
    const Tensor<T> x = all_sizes<T>();
    DeviceIn<T> d(x);
    for (const Activation what : kAll) {
        const Expected want = wanted(Kind::plain, what, x, x);
        HostOut<T> loop(x.shape());
        activate_cpu<T>(what, x.view(), loop.view());
        CHECK(agrees(loop, want));
        for (const ActivationPath path : kPaths) {
            CAPTURE(name(what), name(path));
            DeviceOut<T> got(x.shape());
            activate_cuda<T>(what, d.view(), got.view(), {.path = path});
            CHECK(agrees(got, want));
        }
    }
}

TEST_CASE("activations keep their bound for numbers of all sizes", "[day06][activation][small]") {
    check_all_sizes<float>();
    check_all_sizes<bf16>();
}

TEST_CASE("the two GELUs are told apart: at 2 they differ by 9.8e-5",
          "[day06][activation][small]") {
    const Tensor<float> x({4}, {1, 2, -2, 3});
    DeviceIn<float> d(x);
    DeviceOut<float> erf({4}), tanh({4});
    activate_cuda(Activation::gelu_erf, d.view(), erf.view());
    activate_cuda(Activation::gelu_tanh, d.view(), tanh.view());
    // From the background's tables: 0.841345 and 0.841192 at 1.
    CHECK(erf.close_to(Tensor<double>({4}, {0.8413447461, 1.954499736, -0.0455002639, 2.995950306}),
                       1e-6));
    CHECK(tanh.close_to(
        Tensor<double>({4}, {0.8411919906, 1.954597694, -0.0454023059, 2.996362607}), 1e-6));
    const double apart =
        static_cast<double>(tanh.values()(1)) - static_cast<double>(erf.values()(1));
    CHECK(std::fabs(apart - 9.7958e-5) < 1e-6);
}

template <class T>
void check_specials() {
    // The last two stand for the smallest numbers, of which half may be left.
    const Tensor<T> x = tensor_of<T>({NAN, INFINITY, -INFINITY, 0, 3.3e38, -3.3e38, 1e-45, -1e-38});
    DeviceIn<T> d(x);
    for (const Activation what : kAll) {
        CAPTURE(name(what));
        const double lowest = what == Activation::relu ? 0.0 : static_cast<double>(NAN);
        const auto large = static_cast<double>(static_cast<float>(x(4)));
        const Tensor<double> want({8}, {NAN, INFINITY, lowest, 0, large, 0, 0, 0});
        HostOut<T> loop({8});
        activate_cpu<T>(what, x.view(), loop.view());
        CHECK(loop.close_to(want, 1e-38, Nans::where_expected));
        for (const ActivationPath path : kPaths) {
            CAPTURE(name(path));
            DeviceOut<T> got({8});
            activate_cuda<T>(what, d.view(), got.view(), {.path = path});
            CHECK(got.close_to(want, 1e-38, Nans::where_expected));
        }
    }
}

TEST_CASE("NaN stays NaN, infinity stays, -infinity has no product with 0; far away f is x or 0",
          "[day06][activation][small]") {
    check_specials<float>();
    check_specials<bf16>();
}

TEST_CASE("activations take every order and direction of dims, pitched too",
          "[day06][activation][small]") {
    for_each_layout({2, 3, 5}, [&](const Layout& layout) {
        check_layouts<float>(Activation::gelu_tanh, {2, 3, 5}, {5}, layout, row_major({2, 3, 5}));
        check_layouts<float>(Activation::silu, {2, 3, 5}, {3, 1}, row_major({2, 3, 5}), layout,
                             Lead{1});
    });
    for_each_layout({2, 3, 8}, [&](const Layout& layout) {
        check_layouts<float>(Activation::gelu_erf, {2, 3, 8}, {8}, layout, layout);
    });
}

TEST_CASE("activations take the sizes around their blocks, in float and in bf16",
          "[day06][activation][small]") {
    for (const Activation what : kAll) {
        for (const std::int64_t n : {1, 4, 7, 8, 1000, 1024}) {
            check_layouts<float>(what, {3, n}, {n}, row_major({3, n}), row_major({3, n}));
            check_layouts<bf16>(what, {3, n}, {n}, row_major({3, n}), row_major({3, n}));
        }
    }
    check_layouts<float>(Activation::silu, {5, 1028}, {1, 1028}, row_major({5, 1028}),
                         row_major({5, 1028}));
    check_layouts<float>(Activation::silu, {0, 4}, {4}, row_major({0, 4}), row_major({0, 4}));
    check_layouts<float>(Activation::silu, {2, 3, 8}, {3, 1}, row_major({2, 3, 8}),
                         row_major({2, 3, 8}));
    check_layouts<bf16>(Activation::silu, {2, 2, 2, 2, 2, 8}, {2, 1, 2, 1, 8},
                        row_major({2, 2, 2, 2, 2, 8}), row_major({2, 2, 2, 2, 2, 8}));
}

// One operand stands as `one` says, the others as rows of quads.
template <class T>
void check_standing(Kind kind, const Standing<T>& one, int operand) {
    const Shape shape = one.layout.shape;
    const Layout fit = row_major(shape);
    const auto layout = [&](int k) { return k == operand ? one.layout : fit; };
    const auto lead = [&](int k) { return k == operand ? one.lead : Lead{}; };
    Tensor<T> x = noise<T>(shape), more(shape);
    for (std::int64_t k = 0; k < more.size(); ++k) {
        more.data()[k] = T(static_cast<float>(k * 5 % 13) / 4 - 1.125f);
    }
    DeviceIn<T> d(x, layout(0), lead(0)), dm(more, layout(1), lead(1));
    const View<const T> other = kind == Kind::plain ? d.view() : dm.view();
    const bool quads = one.quads || (kind == Kind::plain && operand == 1);
    const Expected want = wanted(kind, Activation::silu, x, more);
    for (const ActivationPath path : kPaths) {
        CAPTURE(one.what, operand, static_cast<int>(kind), name(path));
        DeviceOut<T> got(layout(2), lead(2));
        CHECK(choose_activation<T>(d.view(), other, got.view()) ==
              (quads ? ActivationPath::quads : ActivationPath::one_element));
        const auto run = [&] {
            run_port<T>(path, kind, Activation::silu, d.view(), dm.view(), got.view());
        };
        if (path == ActivationPath::quads && !quads) {
            CHECK(contains(refusal(run), "the path 'quads' needs rows of whole quads"));
            CHECK(got.untouched());
            continue;
        }
        if (path == ActivationPath::tile && !takes_tiles<T>(d.view(), other, got.view())) {
            CHECK(contains(refusal(run), "the path 'tile' needs, after simplifying, 4 dims"));
            CHECK(got.untouched());
            continue;
        }
        run();
        CHECK(agrees(got, want));
    }
}

TEST_CASE("one operand alone may be no rows of quads", "[day06][activation][small]") {
    for (const Kind kind : kKinds) {
        for (int operand = 0; operand < 3; ++operand) {
            for (const auto& one : standings<float>()) check_standing(kind, one, operand);
            for (const auto& one : standings<bf16>()) check_standing(kind, one, operand);
        }
    }
}

TEST_CASE("no elements are no work, by any path", "[day06][activation][small]") {
    for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 5}}) {
        const View<float> none(nullptr, shape);
        for (const ActivationPath path : kPaths) {
            for (const Kind kind : kKinds) {
                CAPTURE(to_string(shape), name(path), static_cast<int>(kind));
                CHECK(refusal([&] {
                          run_port<float>(path, kind, Activation::silu, none, none, none);
                      }).empty());
            }
        }
    }
}

TEST_CASE("where gate and input are halves of rows, an out in either is refused as an overlap",
          "[day06][activation][small]") {
    HostOut<float> h({3, 16});
    DeviceOut<float> g({3, 16});
    const auto half = [](View<float> x, int k) { return columns(x, 8 * k, 8 * k + 8); };
    for (const int k : {0, 1}) {
        CHECK(both_refuse(
            [&] {
                activate_gated_cpu(Activation::silu, half(h.view(), 0), half(h.view(), 1),
                                   half(h.view(), k));
            },
            [&] {
                activate_gated_cuda(Activation::silu, half(g.view(), 0), half(g.view(), 1),
                                    half(g.view(), k));
            },
            "out overlap without being the same tensor"));
    }
    CHECK(h.untouched());
    CHECK(g.untouched());
}

TEST_CASE("a million elements, and a bias for each column", "[day06][activation][full]") {
    check_layouts<float>(Activation::gelu_erf, {257, 3072}, {3072}, row_major({257, 3072}),
                         row_major({257, 3072}));
    check_layouts<bf16>(Activation::gelu_tanh, {257, 3072}, {3072}, row_major({257, 3072}),
                        row_major({257, 3072}));
}

TEST_CASE("gate and input may be the halves of one tensor", "[day06][activation][small]") {
    const Tensor<float> both = noise<float>({3, 16});
    Tensor<float> gate({3, 8}), in({3, 8});
    for (std::int64_t k = 0; k < 24; ++k) {
        gate.data()[k] = both(k / 8, k % 8);
        in.data()[k] = both(k / 8, k % 8 + 8);
    }
    DeviceIn<float> d(both);
    DeviceOut<float> got({3, 8});
    activate_gated_cuda(Activation::silu, columns(d.view(), 0, 8), columns(d.view(), 8, 16),
                        got.view());
    CHECK(last_kernel() == "activation_quads_kernel");
    CHECK(agrees(got, wanted(Kind::gated, Activation::silu, gate, in)));
}

TEST_CASE("activations work in place", "[day06][activation][small]") {
    const Tensor<float> x = noise<float>({5, 8}), bias = noise<float>({8});
    DeviceIn<float> db(bias);
    for (const ActivationPath path : kPaths) {
        DeviceOut<float> there = DeviceOut<float>::holding(x),
                         biased = DeviceOut<float>::holding(x);
        activate_cuda(Activation::silu, there.view(), there.view(), {.path = path});
        CHECK(agrees(there, wanted(Kind::plain, Activation::silu, x, x)));
        activate_biased_cuda(Activation::gelu_erf, biased.view(), db.view(), biased.view(),
                             {.path = path});
        CHECK(agrees(biased, wanted(Kind::biased, Activation::gelu_erf, x, bias)));
    }
}

TEST_CASE("an activation takes quads exactly where every row allows it",
          "[day06][activation][small]") {
    alignas(16) static float memory[3][8];
    const auto path = [&](const Layout& in, const Layout& more, const Layout& out, int lead = 0) {
        return choose_activation<float>({memory[0] + lead, in}, {memory[1], more},
                                        {memory[2], out});
    };
    const auto quads = ActivationPath::quads, one = ActivationPath::one_element;
    const Layout m = row_major({4, 8});
    CHECK(path(m, m, m) == quads);
    CHECK(path(m, row_major({8}), m) == quads);
    CHECK(path(m, row_major({4, 1}), m) == one);
    CHECK(path(m, m, m, 1) == one);
    CHECK(path(m, m, Layout({4, 8}, {12, 1})) == quads);
    CHECK(path(m, m, Layout({4, 8}, {10, 1})) == one);
    CHECK(path(row_major({4, 7}), row_major({4, 7}), row_major({4, 7})) == quads);  // one run
    CHECK(path(row_major({4, 7}), row_major({7}), row_major({4, 7})) == one);
    const Layout six = row_major({4, 6});
    CHECK(choose_activation<bf16>({nullptr, six}, {nullptr, six}, {nullptr, six}) == quads);
    CHECK(choose_activation<bf16>({nullptr, row_major({4, 4})}, {nullptr, row_major({4})},
                                  {nullptr, row_major({4, 4})}) == one);
    const Tensor<float> x = noise<float>({4, 8});
    DeviceIn<float> d(x), d1(x, Lead{1});
    DeviceOut<float> got({4, 8}), untouched({4, 8});
    activate_cuda(Activation::relu, d1.view(), got.view());
    CHECK(last_kernel() == "activate_kernel");
    CHECK(refusal([&] {
              activate_cuda(Activation::relu, d1.view(), untouched.view(),
                            {.path = ActivationPath::quads});
          }) ==
          "activate: the path 'quads' needs rows of whole quads that begin at multiples of 16 "
          "bytes; in has shape (4, 8), strides (8, 1), the other input shape (4, 8), strides (8, "
          "1), out shape (4, 8), strides (8, 1)");
    CHECK(untouched.untouched());
}

TEST_CASE("activations in tiles: each condition is false alone", "[day06][activation][small]") {
    alignas(16) static float memory[3][1024];
    const Layout fit({4, 8}, {16, 1}), back({4, 8}, {-16, 1}),
        five({2, 2, 2, 2, 2}, {101, 50, 21, 9, 2});
    const auto taken = [&](const Layout& in, const Layout& more, const Layout& out) {
        return takes_tiles<float>({memory[0] + 512, in}, {memory[1] + 512, more},
                                  {memory[2] + 512, out});
    };
    CHECK(taken(fit, fit, fit));
    CHECK(taken(fit, row_major({8}), fit));
    CHECK_FALSE(taken(back, fit, fit));
    CHECK_FALSE(taken(fit, back, fit));
    CHECK_FALSE(taken(fit, fit, back));
    CHECK_FALSE(taken(five, five, five));
    CHECK(taken({{2, 2, 2, 2, 2}, {16, 8, 4, 2, 1}}, {{2, 2, 2, 2, 2}, {16, 8, 4, 2, 1}},
                row_major({2, 2, 2, 2, 2})));  // one run
    CHECK(
        refusal([&] {
            check_activate<float>({memory[0] + 512, back}, {memory[2], fit}, ActivationPath::tile);
        }) ==
        "activate: the path 'tile' needs, after simplifying, 4 dims at most with no negative "
        "stride, for CUDA Tile C++ takes strides for sizes; here one has shape (4, 8), strides "
        "(-16, 1)");
    if (!gpu::has_tile()) return;
    const Tensor<float> x = noise<float>({4, 8});
    for (const std::int64_t lead : {0, 1}) {  // with the promise, and without
        DeviceIn<float> d(x, Lead{lead});
        DeviceOut<float> got({4, 8});
        activate_cuda(Activation::gelu_erf, d.view(), got.view(), {.path = ActivationPath::tile});
        CHECK(last_kernel() == "activation_tile");
        CHECK(agrees(got, wanted(Kind::plain, Activation::gelu_erf, x, x)));
    }
}

TEST_CASE("an activation that does not exist is rejected", "[day06][activation][small]") {
    const Tensor<float> x = noise<float>({4, 8});
    DeviceIn<float> d(x);
    HostOut<float> h({4, 8});
    DeviceOut<float> g({4, 8});
    const Activation none{4};
    const char* words =
        ": activation 4 does not exist; it must be one of: relu, gelu_erf, gelu_tanh, silu";
    CHECK(both_refuse([&] { activate_cpu(none, x.view(), h.view()); },
                      [&] { activate_cuda(none, d.view(), g.view()); }, words));
    CHECK(both_refuse([&] { activate_biased_cpu(none, x.view(), x.view(), h.view()); },
                      [&] { activate_biased_cuda(none, d.view(), d.view(), g.view()); }, words));
    CHECK(both_refuse([&] { activate_gated_cpu(none, x.view(), x.view(), h.view()); },
                      [&] { activate_gated_cuda(none, d.view(), d.view(), g.view()); }, words));
    CHECK(h.untouched());
    CHECK(g.untouched());
}

}  // namespace
