// The proof of what takes not every size: whole tiles, few rows, K in parts; and of the choice.
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

// --- step 13, which wants a K of 16 and a tile that fits -----------------------------------------

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
          "[day05][kernels][small]") {
    for (const WholeTile cut : {WholeTile::medium, WholeTile::small}) {
        const std::int64_t M = cut == WholeTile::small ? 32 : 64, N = 192 - 2 * M;  // of a tile
        for (const Lies lies : kAllLies) {
            check_cut(cut, M + 4, N + 8, 20, {.a = lies});
            check_cut(cut, M + 4, N + 8, 20, {.b = lies, .beta = 2});
            const bool across = lies == Lies::column_major ||
                                lies == Lies::column_gaps;  // then the product is seen transposed
            check_cut(cut, across ? N + 8 : M + 4, across ? M + 4 : N + 8, 20,
                      {.out = lies, .beta = 2});
            check_cut(cut, M + 3, N + 1, 17, {.a = lies, .b = Lies::column_major, .lead = {1}});
            // A tile begins where the matrix ends, at no quad though all rows do.
            check_cut(cut, M + 3, N + 8, 20, {.a = lies});
            check_cut(cut, M + 4, N + 1, 20, {.b = lies, .out = Lies::gaps});
        }
        check_cut(cut, M + 4, N + 8, 16, {.a = Lies::column_major, .b = Lies::column_major});
        check_cut(cut, M + 4, N + 8, 32, {.a = Lies::gaps, .b = Lies::gaps, .lead = {2}});
        check_cut(cut, M, N, 100, {});
        check_cut(cut, 2 * M + 1, 2 * N + 2, 31, {});
        check_cut(cut, 2 * N + 2, 2 * N + 1, 31, {.out = Lies::column_major});
        check_cut(cut, M + 1, N + 2, 18, {.stack_a = {3}, .stack_b = {3}});
    }
}

TEST_CASE("whole tiles of the large cut", "[day05][small]") {
    check_cut(WholeTile::large, 132, 260, 35, {.beta = 2});
    check_cut(WholeTile::large, 128, 256, 16, {.b = Lies::column_major});
    check_cut(WholeTile::large, 256, 257, 17, {.out = Lies::column_major});
}

TEST_CASE("whole tiles of the large cut in every layout", "[day05][full]") {
    for (const Lies a : kAllLies) {
        for (const Lies b : kAllLies) check_cut(WholeTile::large, 132, 260, 49, {.a = a, .b = b});
        check_cut(WholeTile::large, 261, 259, 63, {.out = a, .beta = 2, .lead = {1}});
    }
}

TEST_CASE("9 rows of tiles, walked in groups of 8", "[day05][small]") {
    check_cut(WholeTile::small, 9 * 32 - 3, 3 * 128, 16, {});
}

TEST_CASE("whole tiles need a K of 16 and a tile that fits", "[day05][small]") {
    const auto needs = [](std::int64_t M, std::int64_t N, std::int64_t K, Lies out_lies) {
        DeviceIn<float> a(whole({M, K}, 1)), b(whole({K, N}, 2));
        DeviceOut<float> out(layout_of({M, N}, out_lies));
        return refusal(
            [&] { matmul_cuda(a.view(), b.view(), out.view(), {.path = P::whole_tiles}); });
    };
    CHECK(needs(64, 64, 16, Lies::row_major) == "");
    CHECK(needs(32, 128, 16, Lies::row_major) == "");
    CHECK(needs(128, 32, 16, Lies::column_major) == "");
    for (const Size& s : std::vector<Size>{
             {63, 64, 16}, {64, 63, 16}, {64, 64, 15}, {31, 128, 16}, {32, 127, 16}}) {
        CHECK(contains(needs(s.M, s.N, s.K, Lies::row_major),
                       "the path 'whole tiles' needs a K of 16 at least, and room for a tile of 64 "
                       "x 64 or 32 x 128"));
    }
    CHECK(needs(128, 32, 16, Lies::row_major) != "");
    CHECK(needs(32, 128, 16, Lies::column_major) != "");
}

TEST_CASE("the cut: large tiles where there are many, small ones where there are few",
          "[day05][small]") {
    const auto cut = [](std::int64_t M, std::int64_t N, std::int64_t stack = 1,
                        bool b_transposed = false) {
        Problem x;
        x.multiprocessors = 132;
        x.M = M, x.N = N, x.K = 64;
        x.b_n = b_transposed ? 64 : 1, x.out_n = 1;
        x.dims = 1, x.extent[0] = stack;
        return cut_for(x);
    };
    CHECK(cut(2048, 2048) == WholeTile::large);
    CHECK(cut(4096, 4096) == WholeTile::large);
    CHECK(cut(4096, 64) == WholeTile::medium);
    CHECK(cut(64, 4096) == WholeTile::small);
    CHECK(cut(63, 100000) == WholeTile::small);
    CHECK(cut(127, 100000) == WholeTile::small);
    CHECK(cut(128, 100000) == WholeTile::large);
    CHECK(cut(1024, 1024) == WholeTile::small);
    CHECK(cut(1536, 1536) == WholeTile::small);
    CHECK(cut(512, 768) == WholeTile::small);
    CHECK(cut(512, 512, 16) == WholeTile::large);
    CHECK(cut(1024, 1024, 1, true) == WholeTile::medium);
}

// --- step 14, which wants fewer than 64 rows or columns ------------------------------------------

TEST_CASE("skinny products in every layout", "[day05][kernels][small]") {
    const std::vector<P> skinny = {P::skinny};
    for (const Lies lies : kAllLies) {
        for (const std::int64_t M : {1, 3, 16}) {
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
}

TEST_CASE("skinny products: every number of rows, from one to the last",
          "[day05][kernels][small]") {
    const std::vector<P> skinny = {P::skinny};
    for (std::int64_t M = 1; M <= 18; ++M) {
        check_paths(skinny, M, 20, 9, {.bias = true});
        check_paths(skinny, M, 21, 10, {.b = Lies::column_major});
    }
    for (const std::int64_t M : {31, 32, 33, 63}) {
        check_paths(skinny, M, 68, 9, {.beta = 2, .relu = true});
        check_paths(skinny, 69, M, 12, {.bias = true});
    }
}

TEST_CASE("skinny products: K longer than the rows that lie in shared memory at a time",
          "[day05][kernels][small]") {
    const std::vector<P> skinny = {P::skinny};
    for (const Lies lies : {Lies::row_major, Lies::column_major, Lies::odd_gaps}) {
        check_paths(skinny, 1, 4, 2 * 8192 + 5, {.b = lies});
        check_paths(skinny, 2, 4, 4096, {.b = lies});
        check_paths(skinny, 3, 4, 2048 + 1, {.b = lies});
        check_paths(skinny, 8, 4, 1024 + 3, {.b = lies});
        check_paths(skinny, 16, 4, 3 * 512 - 1, {.b = lies});
        check_paths(skinny, 16, 4, 3 * 512 + 1, {.b = lies});
    }
}

TEST_CASE(
    "skinny products: blocks of 8, 32 and 128 columns, and a warp or all of them for a column",
    "[day05][kernels][small]") {
    // Of 4 multiprocessors, or 132, not the device's own, which would want long rows.
    const auto check = [](int multiprocessors, std::int64_t M, std::int64_t N, std::int64_t K,
                          bool b_transposed, unsigned blocks) {
        CAPTURE(multiprocessors, M, N, K, b_transposed);
        const Tensor<float> a = whole({M, K}, 1), b = whole({K, N}, 2);
        HostOut<float> want({M, N});
        matmul_cpu(a.view(), b.view(), want.view());
        DeviceIn<float> da(a);
        DeviceIn<float> db(b,
                           layout_of({K, N}, b_transposed ? Lies::column_major : Lies::row_major));
        DeviceOut<float> got({M, N});
        Problem x = problem_of(da.view(), db.view(), {}, got.view());
        x.multiprocessors = multiprocessors;
        launch_matmul_skinny(x, {});
        CHECK(got.matches(want));
        const unsigned cut[] = {1, blocks};  // tiles down and across, as the kernel got them
        CHECK(gpu::launched_with(cut, sizeof cut).value_or(true));
    };
    for (const std::int64_t M : {2, 13}) {
        check(4, M, 32, 5, false, 4);           // 8 columns a block
        check(4, M, 64, 5, false, 2);           // 32: more than a third have one
        check(4, M, 4 * 128 - 4, 5, false, 4);  // 128: all have one
        check(4, M, 3 * 128, 5, false, 12);
        check(4, M, 4 * 32 - 3, 5, true, 4);  // a warp for 4 columns
        check(4, M, 4 * 32 - 32, 5, true, M > 8 ? 12 : 24);
        check(132, M, 44 * 32, 3, false, 176);
        check(132, M, 44 * 32 + 4, 3, false, 45);
    }
}

TEST_CASE("skinny products read b once", "[day05][small]") {
    // b: 4,096 numbers; the blocks, of 32 columns or 4, read the 4 rows of a; out: 4 rows of 64.
    gpu::Buffer<float> a(4 * 64), b(64 * 64), out(4 * 64);
    a.fill_bytes(0x3f);
    b.fill_bytes(0x3f);
    for (const bool b_transposed : {false, true}) {
        const View<const float> vb = b_transposed ? transpose(b.view({64, 64})) : b.view({64, 64});
        const auto touched = gpu::touched([&] {
            matmul_cuda(a.view({4, 64}), vb, out.view({4, 64}), {.path = P::skinny});
        });
        CHECK(touched.has_value() == gpu::is_emulated());
        if (!touched) continue;
        const std::int64_t blocks = b_transposed ? 16 : 2;  // 4 multiprocessors
        CHECK(touched->sectors ==
              4096 / 8 + blocks * 4 * 64 / 8 + std::max<std::int64_t>(blocks * 4, 4 * 64 / 8));
    }
}

// --- step 16, which takes any --------------------------------------------------------------------

TEST_CASE("shallow products: one below and above a tile, in every layout",
          "[day05][kernels][small]") {
    const std::vector<P> shallow = {P::shallow};
    for (const std::int64_t K : {1, 2, 3, 4, 7, 8, 9, 17, 31, 32, 33, 65}) {
        check_paths(shallow, 65, 68, K, {.beta = 2, .bias = true});
    }
    for (const std::int64_t M : {1, 7, 8, 9, 63, 64}) check_paths(shallow, M, 60, 5);
    for (const std::int64_t N : {1, 3, 4, 5, 127, 128, 132, 255, 256, 260, 261}) {
        check_paths(shallow, 9, N, 6, {.bias = true, .relu = true});
        check_paths(shallow, 9, N, 6, {.a = Lies::gaps, .b = Lies::gaps, .out = Lies::gaps});
    }
    for (const Lies lies :
         {Lies::column_major, Lies::gaps, Lies::odd_gaps, Lies::every_other, Lies::flipped}) {
        check_paths(shallow, 66, 67, 10, {.a = lies, .b = lies, .out = lies, .bias = true});
        check_paths(shallow, 66, 68, 10, {.a = lies, .out = lies, .beta = 2, .lead = {1}});
    }
}

TEST_CASE("skinny is for fewer than 64 rows or columns", "[day05][small]") {
    const auto needs = [](std::int64_t M, std::int64_t N) {
        DeviceIn<float> a(whole({M, 3}, 1)), b(whole({3, N}, 2));
        DeviceOut<float> out({M, N});
        return refusal([&] { matmul_cuda(a.view(), b.view(), out.view(), {.path = P::skinny}); });
    };
    CHECK(needs(63, 64) == "");
    CHECK(needs(64, 63) == "");
    CHECK(contains(needs(64, 64), "the path 'skinny' needs fewer than 64 rows, or columns, of"));
}

TEST_CASE("what matmul chooses, and that it takes it", "[day05][small]") {
    const struct {
        std::int64_t M, N, K;
        P path;
        const char* kernel;
    } cases[] = {
        {64, 64, 33, P::whole_tiles, "matmul_whole_tiles_kernel"},
        {32, 128, 33, P::whole_tiles, "matmul_whole_tiles_kernel"},
        {31, 128, 33, P::skinny, "matmul_skinny_rows_kernel"},
        {32, 127, 33, P::skinny, "matmul_skinny_rows_kernel"},
        {64, 64, 32, P::shallow, "matmul_shallow_kernel"},
        {17, 17, 32, P::shallow, "matmul_shallow_kernel"},
        {16, 17, 32, P::skinny, "matmul_skinny_rows_kernel"},
        {17, 16, 32, P::skinny, "matmul_skinny_dots_kernel"},
        {63, 64, 33, P::skinny, "matmul_skinny_rows_kernel"},
        {64, 63, 33, P::skinny, "matmul_skinny_dots_kernel"},
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

TEST_CASE("K in parts", "[day05][kernels][small]") {
    const struct {
        Size size;
        Setup setup;
    } cases[] = {
        {{65, 70, 128}, {.beta = 2, .bias = true, .relu = true}},
        {{64, 65, 192}, {.b = Lies::column_major, .out = Lies::column_major}},
        {{67, 64, 130}, {.a = Lies::flipped, .out = Lies::odd_gaps, .bias = true, .lead = {1}}},
        {{64, 64, 128}, {.stack_a = {2, 1}, .stack_b = {3}}},
        // Few rows: step 14, in parts.
        {{1, 68, 256}, {.beta = 2, .bias = true, .relu = true}},
        {{5, 64, 192}, {.a = Lies::column_major, .out = Lies::column_major, .bias = true}},
        {{5, 68, 130}, {.b = Lies::gaps, .stack_a = {2, 1}, .stack_b = {2}}},
    };
    for (const auto& [sizes, s] : cases) {
        const auto [M, N, K] = sizes;
        const Tensor<float> a = whole(with(s.stack_a, M, K), 1),
                            b = whole(with(s.stack_b, K, N), 2);
        const Shape shape = with(broadcast_shapes(s.stack_a, s.stack_b), M, N);
        const Tensor<float> before = whole(shape, 3), bias = whole({N}, 4);
        const bool biased = s.bias, relu = s.relu;
        const float beta = s.beta;
        const auto epilogue = [=](View<const float> of) {
            return Epilogue{1, beta, biased ? of : View<const float>{}, relu};
        };
        auto want = HostOut<float>::holding(before);
        matmul_cpu(a.view(), b.view(), epilogue(bias.view()), want.view());
        DeviceIn<float> da(a, layout_of(a.shape(), s.a), s.lead), dbias(bias);
        DeviceIn<float> db(b, layout_of(b.shape(), s.b), s.lead);
        auto got = DeviceOut<float>::holding(before, layout_of(shape, s.out), s.lead);
        gpu::Buffer<std::byte> room(
            matmul_workspace_bytes(da.view(), db.view(), got.view(), P::split_k));
        room.fill_bytes(0xff);
        matmul_cuda(da.view(), db.view(), epilogue(dbias.view()), got.view(),
                    {.path = P::split_k, .workspace = room});
        CHECK(got.matches(want));
        CHECK(last_kernel() == "matmul_add_parts_kernel");
    }
}

// Row-major, on a device of 132 multiprocessors.
Problem problem(std::int64_t M, std::int64_t N, std::int64_t K) {
    Problem x =
        problem_of({nullptr, Shape{M, K}}, {nullptr, Shape{K, N}}, {}, {nullptr, Shape{M, N}});
    x.multiprocessors = 132;
    return x;
}

TEST_CASE("parts of K: as many as pay", "[day05][small]") {
    const auto parts = [](std::int64_t M, std::int64_t N, std::int64_t K) {
        return parts_of(problem(M, N, K));
    };
    CHECK(parts(128, 2304, 768) == 3);
    CHECK(parts(64, 64, 127) == 0);
    CHECK(parts(16, 4096, 4096) == 8);  // 32 blocks of 128 columns, 264 at once
    CHECK(parts(17, 4096, 4096) == 4);  // twice 16 rows
    CHECK(parts(16, 128 * 132, 4096) == 2);
    CHECK(parts(16, 128 * 133, 4096) == 0);
    CHECK(parts(16, 128, 64 * 7) == 7);
    CHECK(parts(16, 128, 64 * 7 - 1) == 3);  // 149 each
    CHECK(parts(64, 64, 128) == 2);
    CHECK(parts(64, 64, 130) == 2);
    CHECK(parts(64, 64, 4096) == 16);
    CHECK(parts(64, 64, 4097) == 0);  // 17 * 241
}

std::int64_t parts_of_floats(const Shape& shape) {
    return gpu::bytes_to_carve([&](gpu::Carver& carver) { return carver.take<float>(shape); });
}

TEST_CASE("split K is chosen with a workspace, where it pays", "[day05][small]") {
    DeviceIn<float> a(whole({64, 1024}, 1)), b(whole({1024, 64}, 2));
    DeviceOut<float> out({64, 64});
    const std::int64_t bytes = matmul_workspace_bytes(a.view(), b.view(), out.view());
    CHECK(bytes == bytes_for_parts(problem_of(a.view(), b.view(), {}, out.view())));
    gpu::Buffer<std::byte> room(bytes), little(bytes - 1);
    const auto chosen = [&](gpu::Workspace workspace) {
        return std::string(name(choose_matmul(a.view(), b.view(), {}, out.view(), workspace)));
    };
    CHECK(chosen({}) == "whole tiles");
    CHECK(chosen(little) == "whole tiles");
    CHECK(chosen(room) == "split K");
    matmul_cuda(a.view(), b.view(), out.view(), {.workspace = room});
    CHECK(last_kernel() == "matmul_add_parts_kernel");
    CHECK(refusal([&] {
              matmul_cuda(a.view(), b.view(), out.view(),
                          {.path = P::split_k, .workspace = little});
          }) == "matmul: a workspace of " + std::to_string(bytes - 1) + " bytes was given, but " +
                    std::to_string(bytes) + " are needed");
    const auto large = [](std::int64_t M, std::int64_t N, std::int64_t K) {
        const Problem x = problem(M, N, K);
        return parts_pay(x) ? bytes_for_parts(x) : 0;
    };
    CHECK(large(4096, 4096, 4096) == 0);
    CHECK(large(16, 4096, 4096) == parts_of_floats({8, 1, 16, 4096}));  // 32 blocks, 8 times
    CHECK(large(16, 4098, 4096) == 0);       // rows of b that are no quads
    CHECK(large(16, 128 * 133, 4096) == 0);  // blocks enough
    CHECK(large(4, 6144, 4096) == 0);        // step 14 alone has blocks enough
    CHECK(large(5, 6144, 4096) == parts_of_floats({4, 1, 5, 6144}));
    CHECK(large(16, 2304, 768) == 0);  // little work
    CHECK(large(16, 768, 3072) == parts_of_floats({32, 1, 16, 768}));
    CHECK(large(64, 4096, 32) == 0);  // step 16 takes it
    CHECK(large(64, 0, 4096) == 0);
    CHECK(large(128, 2304, 768) == parts_of_floats({3, 1, 128, 2304}));
    // For a path that is asked for, also where it does not pay, and before there is any memory.
    const auto of_path = [](std::int64_t M, std::int64_t N, std::int64_t K, P path) {
        return matmul_workspace_bytes({nullptr, Shape{M, K}}, {nullptr, Shape{K, N}},
                                      {nullptr, Shape{M, N}}, path);
    };
    CHECK(of_path(64, 64, 128, P::split_k) == parts_of_floats({2, 1, 64, 64}));
    CHECK(of_path(4096, 4096, 4096, P::split_k) > 0);
    for (const P path : kAnyLayout) CHECK(of_path(64, 64, 128, path) == 0);
    CHECK(of_path(0, 64, 64, P::split_k) == 0);
    CHECK(
        contains(refusal([&] { (void)of_path(64, 64, 127, P::split_k); }), "'split K' needs a K"));
    CHECK(contains(refusal([&] {
                       (void)matmul_workspace_bytes({nullptr, Shape{2, 3}}, {nullptr, Shape{4, 2}},
                                                    {nullptr, Shape{2, 2}});
                   }),
                   "so K is 3, but b has shape (4, 2)"));
    DeviceIn<float> odd_a(whole({64, 127}, 1)), odd_b(whole({127, 64}, 2));
    CHECK(contains(refusal([&] {
                       matmul_cuda(odd_a.view(), odd_b.view(), out.view(),
                                   {.path = P::split_k, .workspace = room});
                   }),
                   "needs a K that is a few times a whole number from 64 on"));
}

}  // namespace
