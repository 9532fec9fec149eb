// The proof of the set matmul: the loop against answers from outside the code, every step against
// the loop, over every element.
#include <cmath>
#include <cstring>

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

TEST_CASE("a square and a bias, as the lesson's first exercise works it by hand",
          "[day05][small]") {
    const Tensor<float> a({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), bias({3}, {1, 2, 3});
    HostOut<float> out({3, 3});
    matmul_cpu(a.view(), a.view(), {.bias = bias.view()}, out.view());
    CHECK(out.matches(Tensor<float>({3, 3}, {31, 38, 45, 67, 83, 99, 103, 128, 153})));
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
    matmul_cpu(a.view(), b.view(), {.bias = bias.view(), .relu = true}, cut.view());
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

const Setup kPitched{.a = Lies::gaps, .b = Lies::gaps, .out = Lies::gaps};

TEST_CASE("every step of the ladder equals the loop, at every edge of its tiles",
          "[day05][kernels][small]") {
    for (const Size& s :
         std::vector<Size>{{1, 1, 1}, {2, 3, 5}, {33, 31, 17}, {31, 65, 33}, {5, 257, 16}}) {
        check_paths(paths_for_few_rows(), s.M, s.N, s.K, kPitched);
    }
    for (const std::vector<P>& paths : {kAnyLayout, kQuads, kQuadsOfB}) {
        check_paths(paths, 65, 66, 9, kPitched);
        check_paths(paths, 130, 258, 25, kPitched);
        check_paths(paths, 128, 256, 32);
    }
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
    check_paths(paths_for_few_rows(), 5, 12, 0);
    check_paths(paths_for_few_rows(), 5, 12, 0, {.alpha = INFINITY, .beta = 2, .bias = true});
    check_paths(paths_for_few_rows(), 0, 12, 5);
    check_paths(paths_for_few_rows(), 5, 0, 4);
    check_paths(paths_for_few_rows(), 2, 4, 4, {.stack_a = {0}, .stack_b = {0}});
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
    for (const P path : paths_for_few_rows()) {
        CAPTURE(name(path));
        auto got = DeviceOut<float>::holding(before);
        matmul_cuda(da.view(), db.view(), {.alpha = 0, .beta = 2}, got.view(), {.path = path});
        CHECK(got.matches(twice));
        auto over = DeviceOut<float>::holding(nan);
        matmul_cuda(good_a.view(), good_b.view(), over.view(), {.path = path});
        CHECK(over.matches(want));
    }
}

TEST_CASE("ReLU lets a NaN through, as PyTorch does", "[day05][small]") {
    Tensor<float> a = whole({2, 4}, 1);
    a(1, 2) = std::nanf("");
    const Tensor<float> b = whole({4, 8}, 2);
    HostOut<float> want({2, 8});
    const Epilogue relu{.relu = true};
    matmul_cpu(a.view(), b.view(), relu, want.view());
    CHECK(std::isnan(want.view()(1, 3)));
    DeviceIn<float> da(a), db(b);
    for (const P path : paths_for_few_rows()) {
        CAPTURE(name(path));
        DeviceOut<float> got({2, 8}, {}, Poison{0x7d});
        matmul_cuda(da.view(), db.view(), relu, got.view(), {.path = path});
        CHECK(got.close_to(want, 0, Nans::where_expected));
    }
}

TEST_CASE("stacks of matrices, broadcast stacks among them", "[day05][small]") {
    for (const Lies lies : {Lies::row_major, Lies::column_major}) {
        const std::vector<P> paths = lies == Lies::column_major ? kAnyLayout : paths_for_few_rows();
        Setup s{.a = lies, .b = lies, .out = lies};
        s.stack_a = {3}, s.stack_b = {3};
        check_paths(paths, 4, 8, 12, s);
        s.stack_a = {2, 1}, s.stack_b = {3};
        check_paths(paths, 4, 8, 12, s);
        s.stack_a = {2}, s.stack_b = {};
        check_paths(paths, 4, 8, 12, s);
    }
    Setup deep{.stack_b = {1, 2, 1, 1, 2, 1}};
    check_paths(paths_for_few_rows(), 4, 8, 12, deep);
    deep = {.a = Lies::gaps, .b = Lies::gaps, .out = Lies::gaps, .stack_a = {2}, .stack_b = {2}};
    check_paths(paths_for_few_rows(), 3, 7, 5, deep);
}

TEST_CASE("a value read again and again, strides of 0", "[day05][small]") {
    const Tensor<float> a = whole({1, 20}, 1), b = whole({1, 12}, 2);
    const View<const float> rows = broadcast_to(a.view(), {6, 20});
    const View<const float> deep = broadcast_to(b.view(), {20, 12});
    HostOut<float> want({6, 12});
    matmul_cpu(rows, deep, want.view());
    DeviceIn<float> da(a), db(b);
    for (const P path : paths_for_few_rows()) {
        CAPTURE(name(path));
        DeviceOut<float> got({6, 12});
        matmul_cuda(broadcast_to(da.view(), {6, 20}), broadcast_to(db.view(), {20, 12}), {},
                    got.view(), {.path = path});
        CHECK(got.matches(want));
    }
}

// --- what the warps touch ------------------------------------------------------------------------

TEST_CASE("what the steps touch: sectors and banks", "[day05][kernels][small]") {
    // 64 x 64 outputs, K = 32: 512 sectors to store, 256 each to read a and b once. Passes of
    // shared memory: copies into the tiles, and for each k what the warps load.
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
        {P::transposed_tile, false, 2 * 512 + 512, 4 * (64 + 32 * K * 2), 4 * (64 + 32 * K * 2)},
        {P::shared_tile, true, 512 + 8 * 512 + 512, 4 * (64 + 32 * K * 2), 4 * (64 + 32 * K * 2)},
        {P::transposed_tile, true, 2 * 512 + 512, 4 * (64 + 32 * K * 2), 4 * (64 + 32 * K * 2)},
        {P::column_a_thread, false, 1024, 128 + 16 * K * 9, 128 + 16 * K * 9},
        {P::square_a_thread, false, 1024, 256 + 8 * K * 16, 256 + 8 * K * 16},
        {P::quads, false, 1024, 256 + 8 * K * (2 + 8), 256 + 8 * K * (2 + 4)},
        {P::shallow, false, 1024, -1, -1},
        {P::warp_tiles, false, 1024, 256 + 8 * K * 4, 256 + 8 * K * 4},
        {P::ring, false, 1024, 256 + 8 * K * 4, 256 + 8 * K * 4},  // a copy is one request
        {P::fragments, false, 1024, -1, -1},
        {P::spread_copies, false, 1024, -1, -1},
        // Two tiles of K, and the second twice more: nothing asks whether it is the last.
        {P::whole_tiles, false, 4 * 256 + 512, -1, -1},
        {P::whole_tiles, true, 4 * 256 + 512, -1, -1},
    };
    for (const auto& step : steps) {
        CAPTURE(name(step.path), step.b_transposed);
        const View<const float> vb = step.b_transposed ? transpose(b.view({N, K})) : b.view({K, N});
        const auto touched = gpu::touched([&] {
            matmul_cuda(a.view({M, K}), vb, out.view({M, N}), {.path = step.path});
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

// --- every size ----------------------------------------------------------------------------------

TEST_CASE("every size around the tiles, in every step", "[day05][full]") {
    for (const std::int64_t M : {1, 64, 129}) {
        for (const std::int64_t N : {1, 127, 128, 257}) {
            for (const std::int64_t K : {1, 15, 16, 17, 50}) {
                for (const std::vector<P>& paths : {kAnyLayout, kQuads, kQuadsOfB}) {
                    check_paths(paths, M, N, K, kPitched);
                }
            }
        }
    }
}

TEST_CASE("a product of 2^40 rows and no column is no work", "[day05][small]") {
    const std::int64_t M = std::int64_t{1} << 40;
    const View<const float> a(nullptr, Shape{M, 0}), b(nullptr, Shape{0, 0});
    const auto end_of = [&](const View<float>& out) {
        matmul_cpu(a, b, out);
        matmul_cuda(a, b, out);
        return out.size();
    };
    CHECK(end_of({nullptr, Shape{M, 0}}) == 0);  // a loop over rows would take hours
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
    refused(x, y, {}, {a.data(), Layout({2, 4}, {4, 1})}, "a overlaps out");
    refused(x, y, {}, {b.data(), Layout({2, 4}, {4, 1})}, "b overlaps out");
    refused(x, y, {.bias = View<const float>(out.data() + 7, Layout({4}, {0}))}, out.view(),
            "bias overlaps out");
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
        CHECK(refusal([&] { matmul_cuda(a.view(), b.view(), got.view(), {.path = path}); }) ==
              std::string("matmul: the path '") + name(path) +
                  "' needs a, b and out whose rows run along memory and begin at multiples of 16 "
                  "bytes; a has shape (5, 6), strides (6, 1), b shape (6, 8), strides (8, 1), out "
                  "shape (5, 8), strides (8, 1)");
    }
    const View<const float> narrow = slice(b.view(), 1, 0, 6), shifted = slice(b.view(), 1, 1, 7);
    DeviceOut<float> wide({5, 6});
    for (const P path : kQuadsOfB) {
        const std::string words =
            refusal([&] { matmul_cuda(a.view(), narrow, wide.view(), {.path = path}); });
        CHECK(
            contains(words, "needs b and out whose rows run along memory and begin at multiples"));
        DeviceOut<float> aligned(Layout({5, 6}, {8, 1}));
        CHECK(refusal([&] { matmul_cuda(a.view(), narrow, aligned.view(), {.path = path}); }) ==
              "");
        CHECK(contains(
            refusal([&] { matmul_cuda(a.view(), shifted, aligned.view(), {.path = path}); }),
            "b and out whose rows"));
    }
    CHECK(got.untouched());
    CHECK(wide.untouched());
    // grid.y ends at 65,535 blocks of 8 columns. Nothing is launched, so any address will do.
    const auto columns = [&](std::int64_t N) {
        check_matmul({a.view().data, Shape{1, 1}}, {a.view().data, Layout({1, N}, {0, 0})}, {},
                     {got.view().data, Layout({1, N}, {1, 1})}, P::one_element);
    };
    CHECK(contains(refusal([&] { columns(524281); }), "needs at most 524280 columns"));
}

}  // namespace
