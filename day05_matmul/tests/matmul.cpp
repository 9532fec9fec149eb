// The proof of the set matmul: the loop against answers from outside the code, every step against
// the loop, over every element.
#include <cmath>
#include <cstring>
#include <limits>

#include "common/gpu/trace.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/tests/golden.hpp"
#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

// --- the loop ------------------------------------------------------------------------------------

TEST_CASE("a product worked by hand", "[day05][small]") {
    const Tensor<float> a({2, 3}, {1, 2, 3, 4, 5, 6}), b({3, 2}, {7, 8, 9, 10, 11, 12});
    HostOut<float> out({2, 2});
    matmul_cpu(a.view(), b.view(), out.view());
    CHECK(out.matches(Tensor<float>({2, 2}, {58, 64, 139, 154})));
}

TEST_CASE("alpha, beta, bias and ReLU, worked by hand", "[day05][small]") {
    const Tensor<float> a({2, 3}, {1, 2, 3, 4, 5, 6}), b({3, 2}, {7, 8, 9, 10, 11, 12});
    const Tensor<float> before({2, 2}, {1, 2, 3, 4}), bias({2}, {1000, -4000});
    auto out = HostOut<float>::holding(before);
    matmul_cpu(a.view(), b.view(), {.alpha = 2, .beta = -10}, out.view());
    CHECK(out.matches(Tensor<float>({2, 2}, {106, 108, 248, 268})));
    HostOut<float> biased({2, 2}), cut({2, 2});
    matmul_cpu(a.view(), b.view(), {.bias = bias.view()}, biased.view());
    CHECK(biased.matches(Tensor<float>({2, 2}, {1058, -3936, 1139, -3846})));
    matmul_cpu(a.view(), b.view(), {.bias = bias.view(), .activation = Activation::relu},
               cut.view());
    CHECK(cut.matches(Tensor<float>({2, 2}, {1058, 0, 1139, 0})));
}

TEST_CASE("what NumPy says of stacks, broadcast stacks and transposed operands", "[day05][small]") {
    for (const GoldenProduct& g : golden_products) {
        CAPTURE(to_string(g.a), to_string(g.b), g.a_transposed, g.b_transposed);
        const Tensor<float> a = distinct<float>(g.a, 1), b = distinct<float>(g.b, 3);
        const View<const float> va = g.a_transposed ? transpose(a.view()) : a.view();
        const View<const float> vb = g.b_transposed ? transpose(b.view()) : b.view();
        HostOut<float> out(g.out);
        matmul_cpu(va, vb, out.view());
        CHECK(out.matches(Tensor<float>(g.out, g.values)));
    }
}

// --- every path against the loop -----------------------------------------------------------------

struct Setup {
    Lies a = Lies::row_major, b = Lies::row_major, out = Lies::row_major;
    float alpha = 1, beta = 0;
    bool bias = false, relu = false;
    Shape stack_a = {}, stack_b = {};
    Lead lead = {};
};

Shape with(const Shape& stack, std::int64_t rows, std::int64_t columns) {
    Shape shape = stack;
    shape[shape.rank++] = rows;
    shape[shape.rank++] = columns;
    return shape;
}

// Each path gives the loop's bits: numbers are whole, so their sums are exact in any order.
void check_paths(const std::vector<P>& paths, std::int64_t M, std::int64_t N, std::int64_t K,
                 const Setup& s = {}) {
    const Tensor<float> a = whole(with(s.stack_a, M, K), 1), b = whole(with(s.stack_b, K, N), 2);
    const Shape shape = with(broadcast_shapes(s.stack_a, s.stack_b), M, N);
    Tensor<float> before = whole(shape, 3);
    if (s.beta == 0) std::fill_n(before.data(), before.size(), std::nanf(""));
    const Tensor<float> bias = whole({N}, 4);
    const auto epilogue = [&](View<const float> of) {
        return Epilogue{s.alpha, s.beta, s.bias ? of : View<const float>{},
                        s.relu ? Activation::relu : Activation::none};
    };
    auto want = HostOut<float>::holding(before);
    matmul_cpu(a.view(), b.view(), epilogue(bias.view()), want.view());
    DeviceIn<float> da(a, layout_of(a.shape(), s.a), s.lead);
    DeviceIn<float> db(b, layout_of(b.shape(), s.b), s.lead), dbias(bias);
    for (const P path : paths) {
        CAPTURE(name(path), M, N, K, int(s.a), int(s.b), int(s.out), s.alpha, s.beta, s.bias);
        auto got = DeviceOut<float>::holding(before, layout_of(shape, s.out), s.lead);
        matmul_cuda(path, da.view(), db.view(), epilogue(dbias.view()), got.view());
        CHECK(got.matches(want));
    }
    CHECK(da.unchanged());
    CHECK(db.unchanged());
    CHECK(dbias.unchanged());
}

const Setup kPitched{.a = Lies::gaps, .b = Lies::gaps, .out = Lies::gaps};

struct Size {
    std::int64_t M, N, K;
};

TEST_CASE("every step of the ladder equals the loop, at every edge of its tiles",
          "[day05][small]") {
    for (const Size& s : std::vector<Size>{{1, 1, 1},
                                           {2, 3, 5},
                                           {33, 31, 17},
                                           {31, 65, 33},
                                           {65, 66, 9},
                                           {130, 258, 25},
                                           {5, 257, 16}}) {
        check_paths(all_paths(), s.M, s.N, s.K, kPitched);
    }
    check_paths(all_paths(), 128, 256, 32);
}

TEST_CASE("tiles at their edges: two guards and two barriers", "[day05][small]") {
    check_paths(kAnyLayout, 33, 31, 65);
    check_paths(kAnyLayout, 17, 17, 17);  // narrower than a tile
    check_paths(kAnyLayout, 32, 64, 40);  // exact M and N, ragged K
    check_paths(kAnyLayout, 40, 41, 32);  // and the reverse
}

TEST_CASE("the ring: what was copied is there before it is read", "[day05][small]") {
    check_paths({P::ring}, 5, 8, 70);
    check_paths({P::fragments, P::serpentine, P::spread_copies}, 5, 8, 70);
}

TEST_CASE("a sum of nothing is zero, and no outputs are no launch", "[day05][small]") {
    check_paths(all_paths(), 5, 12, 0);
    check_paths(all_paths(), 5, 12, 0, {.alpha = INFINITY, .beta = 2, .bias = true});
    check_paths(all_paths(), 0, 12, 5);
    check_paths(all_paths(), 5, 0, 4);
    check_paths(all_paths(), 2, 4, 4, {.stack_a = {0}, .stack_b = {0}});
}

TEST_CASE("alpha, beta, bias and ReLU in every step", "[day05][small]") {
    for (const Lies lies : {Lies::row_major, Lies::gaps}) {
        Setup s{.a = lies, .b = lies, .out = lies};
        s.alpha = -2;
        check_paths(all_paths(), 9, 20, 12, s);
        s.beta = 3;
        check_paths(all_paths(), 9, 20, 12, s);
        s.bias = true;
        check_paths(all_paths(), 9, 20, 12, s);
        s.relu = true;
        check_paths(all_paths(), 9, 20, 12, s);
        check_paths(all_paths(), 9, 20, 12, {.a = lies, .b = lies, .out = lies, .relu = true});
        check_paths(all_paths(), 9, 20, 12, {.a = lies, .b = lies, .out = lies, .bias = true});
    }
}

TEST_CASE("beta = 0 does not read out, alpha = 0 neither a nor b", "[day05][small]") {
    Tensor<float> nan({4, 8});
    std::fill_n(nan.data(), nan.size(), std::nanf(""));
    const Tensor<float> a = whole({4, 12}, 1), b = whole({12, 8}, 2), before = whole({4, 8}, 3);
    Tensor<float> bad_a({4, 12}), bad_b({12, 8}), twice({4, 8});
    std::fill_n(bad_a.data(), bad_a.size(), std::nanf(""));
    std::fill_n(bad_b.data(), bad_b.size(), INFINITY);
    for (std::int64_t i = 0; i < 32; ++i) twice.data()[i] = 2 * before.data()[i];
    auto host = HostOut<float>::holding(before);
    matmul_cpu(bad_a.view(), bad_b.view(), {.alpha = 0, .beta = 2}, host.view());
    CHECK(host.matches(twice));
    DeviceIn<float> da(bad_a), db(bad_b), good_a(a), good_b(b);
    HostOut<float> want({4, 8});
    matmul_cpu(a.view(), b.view(), want.view());
    for (const P path : all_paths()) {
        CAPTURE(name(path));
        auto got = DeviceOut<float>::holding(before);
        matmul_cuda(path, da.view(), db.view(), {.alpha = 0, .beta = 2}, got.view());
        CHECK(got.matches(twice));
        auto over = DeviceOut<float>::holding(nan);
        matmul_cuda(path, good_a.view(), good_b.view(), {}, over.view());
        CHECK(over.matches(want));
    }
}

TEST_CASE("ReLU lets a NaN through, as PyTorch does", "[day05][small]") {
    Tensor<float> a = whole({2, 4}, 1);
    a(1, 2) = std::nanf("");
    const Tensor<float> b = whole({4, 8}, 2);
    HostOut<float> want({2, 8});
    const Epilogue relu{.activation = Activation::relu};
    matmul_cpu(a.view(), b.view(), relu, want.view());
    CHECK(std::isnan(want.view()(1, 3)));
    DeviceIn<float> da(a), db(b);
    for (const P path : all_paths()) {
        CAPTURE(name(path));
        DeviceOut<float> got({2, 8}, {}, Poison{0x7d});
        matmul_cuda(path, da.view(), db.view(), relu, got.view());
        CHECK(got.close_to(want, 0, Nans::where_expected));
    }
}

TEST_CASE("operands and outputs in every layout", "[day05][small]") {
    const std::vector<Lies> all = {Lies::row_major, Lies::column_major, Lies::gaps,
                                   Lies::odd_gaps,  Lies::every_other,  Lies::flipped};
    for (const Lies lies : all) {
        check_paths(kAnyLayout, 35, 37, 34, {.a = lies, .lead = {1}});
        check_paths(kAnyLayout, 35, 37, 34, {.b = lies, .lead = {1}});
        check_paths(kAnyLayout, 35, 37, 34, {.out = lies, .lead = {1}});
        check_paths(kQuadsOfB, 35, 36, 34, {.a = lies});
    }
    check_paths(kAnyLayout, 35, 37, 34, {.a = Lies::column_major, .b = Lies::column_major});
}

TEST_CASE("stacks of matrices, broadcast stacks among them", "[day05][small]") {
    for (const Lies lies : {Lies::row_major, Lies::column_major}) {
        const std::vector<P> paths = lies == Lies::column_major ? kAnyLayout : all_paths();
        Setup s{.a = lies, .b = lies, .out = lies};
        s.stack_a = {3}, s.stack_b = {3};
        check_paths(paths, 4, 8, 12, s);
        s.stack_a = {2, 1}, s.stack_b = {3};
        check_paths(paths, 4, 8, 12, s);
        s.stack_a = {2}, s.stack_b = {};
        check_paths(paths, 4, 8, 12, s);
    }
    Setup deep{.stack_b = {1, 2, 1, 1, 2, 1}};
    check_paths(all_paths(), 4, 8, 12, deep);
    deep = {.a = Lies::gaps, .b = Lies::gaps, .out = Lies::gaps, .stack_a = {2}, .stack_b = {2}};
    check_paths(all_paths(), 3, 7, 5, deep);
}

TEST_CASE("a value read again and again, strides of 0", "[day05][small]") {
    const Tensor<float> a = whole({1, 20}, 1), b = whole({1, 12}, 2);
    const View<const float> rows = broadcast_to(a.view(), {6, 20});
    const View<const float> deep = broadcast_to(b.view(), {20, 12});
    HostOut<float> want({6, 12});
    matmul_cpu(rows, deep, want.view());
    DeviceIn<float> da(a), db(b);
    for (const P path : all_paths()) {
        CAPTURE(name(path));
        DeviceOut<float> got({6, 12});
        matmul_cuda(path, broadcast_to(da.view(), {6, 20}), broadcast_to(db.view(), {20, 12}), {},
                    got.view());
        CHECK(got.matches(want));
    }
}

// --- step 13, which wants 64 rows, 64 columns and a K of 16 --------------------------------------

// One cut of it, for an a of (M, K) and a b of (K, N).
void check_cut(WholeTile cut, std::int64_t M, std::int64_t N, std::int64_t K, const Setup& s) {
    CAPTURE(int(cut), M, N, K, int(s.a), int(s.b), int(s.out), s.beta, s.lead.elements);
    const Tensor<float> a = whole(with(s.stack_a, M, K), 1), b = whole(with(s.stack_b, K, N), 2);
    const Tensor<float> before = whole(with(s.stack_a, M, N), 3), bias = whole({N}, 4);
    auto want = HostOut<float>::holding(before);
    matmul_cpu(a.view(), b.view(), {.beta = s.beta, .bias = bias.view()}, want.view());
    DeviceIn<float> da(a, layout_of(a.shape(), s.a), s.lead), dbias(bias);
    DeviceIn<float> db(b, layout_of(b.shape(), s.b), s.lead);
    auto got = DeviceOut<float>::holding(before, layout_of(before.shape(), s.out), s.lead);
    launch_matmul_whole_tiles(
        cut, problem_of(da.view(), db.view(), {.beta = s.beta, .bias = dbias.view()}, got.view()),
        {});
    CHECK(got.matches(want));
    CHECK(da.unchanged());
    CHECK(db.unchanged());
    CHECK(last_kernel() == "matmul_whole_tiles_kernel");
}

TEST_CASE("whole tiles in every layout, and where they do not divide the matrix",
          "[day05][small]") {
    const std::vector<Lies> all = {Lies::row_major, Lies::column_major, Lies::gaps,
                                   Lies::odd_gaps,  Lies::every_other,  Lies::flipped};
    for (const WholeTile cut : {WholeTile::medium, WholeTile::small}) {
        for (const Lies lies : all) {
            check_cut(cut, 68, 72, 20, {.a = lies});
            check_cut(cut, 68, 72, 20, {.b = lies, .beta = 2});
            check_cut(cut, 68, 72, 20, {.out = lies, .beta = 2});
            check_cut(cut, 67, 65, 17, {.a = lies, .b = Lies::column_major, .lead = {1}});
        }
        check_cut(cut, 68, 72, 16, {.a = Lies::column_major, .b = Lies::column_major});
        check_cut(cut, 68, 72, 32, {.a = Lies::gaps, .b = Lies::gaps, .lead = {2}});
        check_cut(cut, 64, 64, 100, {});
        check_cut(cut, 129, 66, 31, {.out = Lies::column_major});
        check_cut(cut, 65, 66, 18, {.stack_a = {3}, .stack_b = {3}});
    }
}

TEST_CASE("whole tiles of the large cut", "[day05][small]") {
    check_cut(WholeTile::large, 132, 260, 35, {.beta = 2});
    check_cut(WholeTile::large, 128, 256, 16, {.b = Lies::column_major});
    check_cut(WholeTile::large, 256, 257, 17, {.out = Lies::column_major});
}

TEST_CASE("whole tiles of the large cut in every layout", "[day05][full]") {
    const std::vector<Lies> all = {Lies::row_major, Lies::column_major, Lies::gaps,
                                   Lies::odd_gaps,  Lies::every_other,  Lies::flipped};
    for (const Lies a : all) {
        for (const Lies b : all) check_cut(WholeTile::large, 132, 260, 49, {.a = a, .b = b});
        check_cut(WholeTile::large, 261, 259, 63, {.out = a, .beta = 2, .lead = {1}});
    }
}

TEST_CASE("9 rows of tiles, walked in groups of 8", "[day05][small]") {
    check_cut(WholeTile::small, 9 * 64 - 3, 3 * 64, 16, {});
}

TEST_CASE("whole tiles need 64 rows, 64 columns and a K of 16", "[day05][small]") {
    const auto needs = [](std::int64_t M, std::int64_t N, std::int64_t K) {
        DeviceIn<float> a(whole({M, K}, 1)), b(whole({K, N}, 2));
        DeviceOut<float> out({M, N});
        return refusal([&] { matmul_cuda(P::whole_tiles, a.view(), b.view(), {}, out.view()); });
    };
    CHECK(needs(64, 64, 16) == "");
    for (const Size& s : std::vector<Size>{{63, 64, 16}, {64, 63, 16}, {64, 64, 15}}) {
        CHECK(contains(needs(s.M, s.N, s.K),
                       "the path 'whole tiles' needs at least 64 rows, 64 "
                       "columns and a K of 16"));
    }
}

TEST_CASE("the cut: large tiles where there are many, small ones where there are few",
          "[day05][small]") {
    const auto cut = [](std::int64_t M, std::int64_t N, std::int64_t stack = 1) {
        Problem x;
        x.M = M, x.N = N, x.K = 64;
        x.dims = 1, x.extent[0] = stack;
        return cut_for(x);
    };
    CHECK(cut(2048, 2048) == WholeTile::large);
    CHECK(cut(4096, 4096) == WholeTile::large);
    CHECK(cut(4096, 64) == WholeTile::small);
    CHECK(cut(255, 100000) == WholeTile::medium);
    CHECK(cut(1024, 1024) == WholeTile::medium);
    CHECK(cut(1536, 1536) == WholeTile::small);
    CHECK(cut(512, 768) == WholeTile::small);
    CHECK(cut(512, 512, 16) == WholeTile::large);
}

// --- step 14, which wants at most 16 rows or columns ---------------------------------------------

TEST_CASE("skinny products in every layout", "[day05][small]") {
    const std::vector<Lies> all = {Lies::row_major, Lies::column_major, Lies::gaps,
                                   Lies::odd_gaps,  Lies::every_other,  Lies::flipped};
    const std::vector<P> skinny = {P::skinny};
    for (const Lies lies : all) {
        for (const std::int64_t M : {1, 2, 3, 7, 16}) {
            check_paths(skinny, M, 37, 45, {.a = lies, .beta = 2, .bias = true, .lead = {1}});
            check_paths(skinny, M, 36, 44, {.b = lies});
            check_paths(skinny, M, 33, 301, {.b = lies, .out = lies, .bias = true, .lead = {1}});
            check_paths(skinny, 70, M, 43, {.a = lies, .b = lies, .bias = true, .relu = true});
        }
    }
    for (const std::int64_t K : {0, 1, 3, 4, 4096, 4099}) {
        check_paths(skinny, 5, 9, K, {.b = Lies::column_major});
        check_paths(skinny, 5, 12, K);
    }
    check_paths(skinny, 3, 40, 36, {.stack_a = {2, 1}, .stack_b = {3}});
    check_paths(skinny, 16, 16, 16);
    check_paths(skinny, 2, 64 * 132, 5);  // wider blocks
    check_paths(skinny, 3, 64 * 132 + 4, 3, {.bias = true});
}

TEST_CASE("skinny is for at most 16 rows or columns", "[day05][small]") {
    const auto needs = [](std::int64_t M, std::int64_t N) {
        DeviceIn<float> a(whole({M, 3}, 1)), b(whole({3, N}, 2));
        DeviceOut<float> out({M, N});
        return refusal([&] { matmul_cuda(P::skinny, a.view(), b.view(), {}, out.view()); });
    };
    CHECK(needs(16, 17) == "");
    CHECK(needs(17, 16) == "");
    CHECK(contains(needs(17, 17), "the path 'skinny' needs at most 16 rows, or columns, of out"));
}

TEST_CASE("what matmul chooses, and that it takes it", "[day05][small]") {
    const struct {
        std::int64_t M, N, K;
        P path;
        const char* kernel;
    } cases[] = {
        {64, 64, 16, P::whole_tiles, "matmul_whole_tiles_kernel"},
        {63, 64, 16, P::square_a_thread, "matmul_square_a_thread_kernel"},
        {64, 63, 16, P::square_a_thread, "matmul_square_a_thread_kernel"},
        {64, 64, 15, P::square_a_thread, "matmul_square_a_thread_kernel"},
        {33, 33, 90, P::square_a_thread, "matmul_square_a_thread_kernel"},
        {32, 90, 90, P::turned_tile, "matmul_turned_tile_kernel"},
        {90, 17, 90, P::turned_tile, "matmul_turned_tile_kernel"},
        {90, 16, 90, P::skinny, "matmul_skinny_dots_kernel"},
        {16, 90, 90, P::skinny, "matmul_skinny_rows_kernel"},
        {1, 1, 0, P::skinny, "matmul_skinny_rows_kernel"},
    };
    for (const auto& c : cases) {
        CAPTURE(c.M, c.N, c.K);
        DeviceIn<float> a(whole({c.M, c.K}, 1)), b(whole({c.K, c.N}, 2));
        DeviceOut<float> out({c.M, c.N});
        CHECK(std::string(name(choose_matmul(a.view(), b.view(), {}, out.view()))) == name(c.path));
        matmul_cuda(a.view(), b.view(), out.view());
        CHECK(last_kernel() == c.kernel);
    }
    DeviceIn<float> a(whole({2, 8}, 1)),
        b(whole({8, 40}, 2), layout_of({8, 40}, Lies::column_major));
    DeviceOut<float> out({2, 40});
    matmul_cuda(a.view(), b.view(), out.view());
    CHECK(last_kernel() == "matmul_skinny_dots_kernel");
}

// --- step 15, which wants a workspace and a K to divide ------------------------------------------

TEST_CASE("K in parts", "[day05][small]") {
    const struct {
        Size size;
        Setup setup;
    } cases[] = {
        {{65, 70, 128}, {.beta = 2, .bias = true, .relu = true}},
        {{64, 65, 192}, {.b = Lies::column_major, .out = Lies::column_major}},
        {{67, 64, 130}, {.a = Lies::flipped, .out = Lies::odd_gaps, .bias = true, .lead = {1}}},
        {{64, 64, 128}, {.stack_a = {2, 1}, .stack_b = {3}}},
    };
    for (const auto& [sizes, s] : cases) {
        const auto [M, N, K] = sizes;
        const Tensor<float> a = whole(with(s.stack_a, M, K), 1),
                            b = whole(with(s.stack_b, K, N), 2);
        const Shape shape = with(broadcast_shapes(s.stack_a, s.stack_b), M, N);
        const Tensor<float> before = whole(shape, 3), bias = whole({N}, 4);
        const Activation activation = s.relu ? Activation::relu : Activation::none;
        const bool biased = s.bias;
        const float beta = s.beta;
        const auto epilogue = [=](View<const float> of) {
            return Epilogue{1, beta, biased ? of : View<const float>{}, activation};
        };
        auto want = HostOut<float>::holding(before);
        matmul_cpu(a.view(), b.view(), epilogue(bias.view()), want.view());
        DeviceIn<float> da(a, layout_of(a.shape(), s.a), s.lead), dbias(bias);
        DeviceIn<float> db(b, layout_of(b.shape(), s.b), s.lead);
        auto got = DeviceOut<float>::holding(before, layout_of(shape, s.out), s.lead);
        gpu::Buffer<std::byte> room(16 * 4 * size(shape));
        room.fill_bytes(0xff);
        matmul_cuda(P::split_k, da.view(), db.view(), epilogue(dbias.view()), got.view(), room);
        CHECK(got.matches(want));
        CHECK(last_kernel() == "matmul_add_parts_kernel");
    }
}

TEST_CASE("parts of K: as many as pay", "[day05][small]") {
    const auto parts = [](std::int64_t M, std::int64_t N, std::int64_t K) {
        Problem x;
        x.M = M, x.N = N, x.K = K;
        return parts_of(x);
    };
    CHECK(parts(128, 2304, 768) == 3);
    CHECK(parts(64, 64, 127) == 0);
    CHECK(parts(64, 64, 128) == 2);
    CHECK(parts(64, 64, 130) == 2);
    CHECK(parts(64, 64, 4096) == 16);
    CHECK(parts(64, 64, 4097) == 0);  // 17 * 241
}

TEST_CASE("split K is chosen with a workspace, where it pays", "[day05][small]") {
    DeviceIn<float> a(whole({64, 1024}, 1)), b(whole({1024, 64}, 2));
    DeviceOut<float> out({64, 64});
    const std::int64_t bytes = matmul_workspace_bytes(a.view(), b.view(), out.view());
    CHECK(bytes == 16 * 64 * 64 * 4);
    gpu::Buffer<std::byte> room(bytes), little(bytes - 1);
    const auto chosen = [&](gpu::Workspace workspace) {
        return std::string(name(choose_matmul(a.view(), b.view(), {}, out.view(), workspace)));
    };
    CHECK(chosen({}) == "whole tiles");
    CHECK(chosen(little) == "whole tiles");
    CHECK(chosen(room) == "split K");
    matmul_cuda(a.view(), b.view(), out.view(), room);
    CHECK(last_kernel() == "matmul_add_parts_kernel");
    CHECK(refusal([&] { matmul_cuda(P::split_k, a.view(), b.view(), {}, out.view(), little); }) ==
          "matmul: a workspace of 262143 bytes was given, but 262144 are needed");
    const auto large = [](std::int64_t M, std::int64_t N, std::int64_t K) {
        auto* const memory = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
        return matmul_workspace_bytes({memory, Shape{M, K}}, {memory, Shape{K, N}},
                                      {memory, Shape{M, N}});
    };
    CHECK(large(4096, 4096, 4096) == 0);
    CHECK(large(16, 4096, 4096) == 0);
    CHECK(large(64, 0, 4096) == 0);
    CHECK(large(128, 2304, 768) == 3 * 128 * 2304 * 4);
    DeviceIn<float> odd_a(whole({64, 127}, 1)), odd_b(whole({127, 64}, 2));
    CHECK(contains(
        refusal([&] { matmul_cuda(P::split_k, odd_a.view(), odd_b.view(), {}, out.view(), room); }),
        "needs at least 64 rows and 64 columns, and a K that is 2 to 16 times"));
}

// --- what the warps touch ------------------------------------------------------------------------

TEST_CASE("what the steps touch: sectors and banks", "[day05][small]") {
    // 64 x 64 outputs, K = 32: 512 sectors to store, 256 each to read a and b once. Passes of shared
    // memory: copies into the tiles, and for each k what the warps load.
    const std::int64_t M = 64, N = 64, K = 32;
    gpu::Buffer<float> a(M * K), b(K * N), out(M * N);
    a.fill_bytes(0x3f);
    b.fill_bytes(0x3f);
    const struct {
        P path;
        bool b_transposed;
        std::int64_t sectors, passes, fewest_passes;  // -1: as many as the fewest
    } steps[] = {
        {P::one_element, false, 128 * (K * (32 + 1) + 32), 0, 0},
        {P::lanes_along_n, false, 128 * (K * (1 + 4) + 4), 0, 0},
        {P::shared_tile, false, 2 * 512 + 512, 4 * (64 + 32 * K * 2), 4 * (64 + 32 * K * 2)},
        {P::turned_tile, false, 2 * 512 + 512, 4 * (64 + 32 * K * 2), 4 * (64 + 32 * K * 2)},
        {P::shared_tile, true, 512 + 8 * 512 + 512, 4 * (64 + 32 * K * 2), 4 * (64 + 32 * K * 2)},
        {P::turned_tile, true, 2 * 512 + 512, 4 * (64 + 32 * K * 2), 4 * (64 + 32 * K * 2)},
        {P::column_a_thread, false, 1024, 128 + 16 * K * 9, 128 + 16 * K * 9},
        {P::square_a_thread, false, 1024, 256 + 8 * K * 16, 256 + 8 * K * 16},
        {P::quads, false, 1024, 256 + 8 * K * (2 + 8), 256 + 8 * K * (2 + 4)},
        {P::warp_tiles, false, 1024, 256 + 8 * K * 4, 256 + 8 * K * 4},
        {P::ring, false, 1024, -1, -1},
        {P::fragments, false, 1024, -1, -1},
        {P::spread_copies, false, 1024, -1, -1},
        // Two tiles of K, and the second three times more: nothing asks whether it is the last.
        {P::whole_tiles, false, 5 * 256 + 512, -1, -1},
        {P::whole_tiles, true, 5 * 256 + 512, -1, -1},
    };
    for (const auto& step : steps) {
        CAPTURE(name(step.path), step.b_transposed);
        const View<const float> vb = step.b_transposed ? transpose(b.view({N, K})) : b.view({K, N});
        const auto touched = gpu::touched([&] {
            matmul_cuda(step.path, a.view({M, K}), vb, {}, out.view({M, N}));
        });
        CHECK(touched.has_value() == gpu::is_emulated());
        if (!touched) continue;
        CHECK(touched->sectors == step.sectors);
        if (step.passes < 0) {
            CHECK(touched->passes == touched->fewest_passes);
            continue;
        }
        CHECK(touched->passes == step.passes);
        CHECK(touched->fewest_passes == step.fewest_passes);
    }
}

// --- how near a sum of floats is -----------------------------------------------------------------

// What a tensor core reads of a float in TF32: 10 bits behind the point instead of 23.
Tensor<float> in_tf32(const Tensor<float>& x) {
    Tensor<float> rounded = x;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, x.data() + i, 4);
        bits = (bits + 0x1000) & ~0x1fffu;
        std::memcpy(rounded.data() + i, &bits, 4);
    }
    return rounded;
}

TEST_CASE("loop and ports are within the bound, TF32 and a sum one product short are not",
          "[day05][small]") {
    const std::int64_t M = 33, N = 36, K = 68;
    const Tensor<float> a = seeded<float>({M, K}, 1, -1, 1), b = seeded<float>({K, N}, 2, -1, 1);
    const Exact exact = exact_product(a, b);
    HostOut<float> loop({M, N});
    matmul_cpu(a.view(), b.view(), loop.view());
    CHECK(loop.close_to(exact.values, bound_of(exact)));
    DeviceIn<float> da(a), db(b);
    for (const P path : all_paths()) {
        CAPTURE(name(path));
        DeviceOut<float> got({M, N});
        matmul_cuda(path, da.view(), db.view(), {}, got.view());
        CHECK(got.close_to(exact.values, bound_of(exact)));
    }

    HostOut<float> tf32({M, N}), short_sum({M, N});
    matmul_cpu(in_tf32(a).view(), in_tf32(b).view(), tf32.view());
    CHECK(!tf32.close_to(exact.values, bound_of(exact)));
    matmul_cpu(slice(a.view(), 1, 0, K - 1), slice(b.view(), 0, 0, K - 1), short_sum.view());
    CHECK(!short_sum.close_to(exact.values, bound_of(exact)));
}

TEST_CASE("every size around the tiles, in every step", "[day05][full]") {
    for (const std::int64_t M : {1, 64, 129}) {
        for (const std::int64_t N : {1, 127, 128, 257}) {
            for (const std::int64_t K : {1, 15, 16, 17, 50}) {
                check_paths(all_paths(), M, N, K, kPitched);
            }
        }
    }
}

// --- refusals ------------------------------------------------------------------------------------

TEST_CASE("matmul refuses what it cannot do", "[day05][small]") {
    Tensor<float> a({2, 3}), b({3, 4}), out({2, 4}), bias({4});
    const auto refused = [&](View<const float> x, View<const float> y, const Epilogue& e,
                             View<float> to, const char* words) {
        CHECK(both_refuse([&] { matmul_cpu(x, y, e, to); }, [&] { matmul_cuda(x, y, e, to); },
                          words));
    };
    const View<const float> x = a.view(), y = b.view();
    refused({a.data(), Shape{6}}, y, {}, out.view(),
            "a has shape (6) of rank 1, but a matrix needs");
    refused(x, {b.data(), Shape{3}}, {}, out.view(), "b has shape (3) of rank 1");
    refused(x, {b.data(), Shape{2, 6}}, {}, out.view(),
            "a has shape (2, 3), so K is 3, but b has shape (2, 6), whose second to last extent "
            "is 2");
    refused(x, y, {}, {out.data(), Shape{4, 2}},
            "a has shape (2, 3) and b (3, 4), so out must have (2, 4), but has (4, 2)");
    refused(x, y, {.bias = View<const float>(bias.data(), Shape{3})}, out.view(),
            "bias has shape (3), but out (2, 4) needs (4), a number for each column");
    refused(x, y, {.bias = View<const float>(bias.data(), Shape{1, 4})}, out.view(),
            "bias has shape (1, 4)");
    refused({nullptr, Shape{2, 3}}, y, {}, out.view(), "a is a null pointer");
    refused(x, {nullptr, Shape{3, 4}}, {}, out.view(), "b is a null pointer");
    refused(x, y, {}, {nullptr, Shape{2, 4}}, "out is a null pointer");
    refused(x, y, {}, {out.data(), Layout({2, 4}, {0, 1})}, "two indices may share one place");
    refused(x, y, {}, {a.data(), Layout({2, 4}, {4, 1})}, "a and out overlap");
    refused(x, y, {}, {b.data(), Layout({2, 4}, {4, 1})}, "b and out overlap");
    refused(x, y, {.bias = View<const float>(out.data() + 7, Layout({4}, {0}))}, out.view(),
            "bias and out overlap");
    refused({a.data(), Shape{2, 1, 3}}, {b.data(), Shape{3, 3, 4}}, {}, out.view(),
            "cannot be broadcast together");
    const Shape eight{1, 1, 1, 1, 1, 1, 2, 3};
    CHECK(refusal([&] {
              matmul_cpu({a.data(), eight}, y, {out.data(), Shape{1, 1, 1, 1, 1, 1, 2, 4}});
          }) == "");
}

TEST_CASE("a path refuses what it cannot take, and writes nothing", "[day05][small]") {
    DeviceIn<float> a(whole({5, 6}, 1)), b(whole({6, 8}, 2));
    DeviceOut<float> got({5, 8});
    for (const P path : kQuads) {
        CHECK(refusal([&] { matmul_cuda(path, a.view(), b.view(), {}, got.view()); }) ==
              std::string("matmul: the path '") + name(path) +
                  "' needs a, b and out whose rows run along memory and begin at multiples of 16 "
                  "bytes; a has shape (5, 6), strides (6, 1), b shape (6, 8), strides (8, 1), out "
                  "shape (5, 8), strides (8, 1)");
    }
    const View<const float> narrow = slice(b.view(), 1, 0, 6), shifted = slice(b.view(), 1, 1, 7);
    DeviceOut<float> wide({5, 6});
    for (const P path : kQuadsOfB) {
        const std::string words =
            refusal([&] { matmul_cuda(path, a.view(), narrow, {}, wide.view()); });
        CHECK(
            contains(words, "needs b and out whose rows run along memory and begin at multiples"));
        DeviceOut<float> aligned(Layout({5, 6}, {8, 1}));
        CHECK(refusal([&] { matmul_cuda(path, a.view(), narrow, {}, aligned.view()); }) == "");
        CHECK(contains(refusal([&] { matmul_cuda(path, a.view(), shifted, {}, aligned.view()); }),
                       "b and out whose rows"));
    }
    CHECK(got.untouched());
    CHECK(wide.untouched());
    // grid.y ends at 65,535 blocks of 8 columns. Nothing is launched, so any address will do.
    const auto columns = [&](std::int64_t N) {
        check_matmul(P::one_element, {a.view().data, Shape{1, 1}},
                     {a.view().data, Layout({1, N}, {0, 0})}, {},
                     {got.view().data, Layout({1, N}, {1, 1})});
    };
    CHECK(contains(refusal([&] { columns(524281); }), "needs at most 524280 columns"));
}

}  // namespace
