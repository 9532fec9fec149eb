// Tests specific to the paths that do not support every size: whole tiles, few rows, K in parts, a
// short K; and their choice.
#include "common/testing/operation/cases.hpp"
#include "day05_matmul/matmul.op.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

// Some products by one path.
void check_path(P path, const std::vector<Product>& products) {
    for (const Product& p : products)
        CHECK(computes_its_result(by_path(matmul_operation(p), path)));
}

// --- step 13, which needs a K of 16 and a tile that fits -----------------------------------------

// One cut, which matmul_cuda() takes only where it is the fastest.
Operation by_cut(WholeTile cut, const Product& p) {
    Operation op = by_path(matmul_operation(p), P::whole_tiles);
    op.cuda = [=](const Call& c) {
        const View<const float> a = c.in<float>(0), b = c.in<float>(1);
        const MatmulPlan plan =
            plan_matmul(a, b, epilogue_of(p, c), c.out<float>(2), {.path = P::whole_tiles});
        launch_matmul_whole_tiles(cut, plan.problem, {});
    };
    return op;
}

// Large enough for the tile, transposed too.
void check_cut(WholeTile cut, const Product& p) {
    CAPTURE(int(cut), p.M, p.N, p.K, int(p.a.order), int(p.b.order), int(p.out.order));
    CHECK(computes_its_result(by_cut(cut, p)));
}

TEST_CASE("whole tiles are correct in every layout, also where they do not divide the matrix",
          "[day05][kernels][small]") {
    const Placement columns = {MatrixOrder::column_major}, gaps = {MatrixOrder::gaps};
    for (const WholeTile cut : {WholeTile::medium, WholeTile::small}) {
        const std::int64_t M = cut == WholeTile::small ? 32 : 64, N = 192 - 2 * M;  // of a tile
        for (const MatrixOrder order : kAllOrders) {
            check_cut(cut, {M + 4, N + 8, 20, {.beta = 2}, 1, {order}});
            check_cut(cut, {M + 4, N + 8, 20, {}, 1, {}, {order}});
            const bool across =
                order == MatrixOrder::column_major ||
                order == MatrixOrder::column_gaps;  // then the product is transposed
            check_cut(cut, {across ? N + 8 : M + 4,
                            across ? M + 4 : N + 8,
                            20,
                            {.beta = 2},
                            1,
                            {},
                            {},
                            {order}});
            check_cut(cut, {M + 3, N + 1, 17, {}, 1, {order, 1}, {MatrixOrder::column_major, 1}});
            // The last tile does not begin at a vector, though all rows do.
            check_cut(cut, {M + 3, N + 8, 20, {}, 1, {order}});
            check_cut(cut, {M + 4, N + 1, 20, {}, 1, {}, {order}, gaps});
        }
        check_cut(cut, {M + 4, N + 8, 16, {}, 1, columns, columns});
        check_cut(
            cut,
            {M + 4, N + 8, 32, {}, 1, {MatrixOrder::gaps, 2}, {MatrixOrder::gaps, 2}, {{}, 2}});
        check_cut(cut, {M, N, 100});
        check_cut(cut, {2 * M + 1, 2 * N + 2, 31});
        check_cut(cut, {2 * N + 2, 2 * N + 1, 31, {}, 1, {}, {}, columns});
        check_cut(cut, {M + 1, N + 2, 18, {}, 1, {}, {}, {}, {3}, {3}});
    }
    check_cut(WholeTile::small, {9 * 32 - 3, 3 * 128, 16});  // 9 rows of tiles, in groups of 8
    check_cut(WholeTile::large, {132, 260, 35, {.beta = 2}});
    check_cut(WholeTile::large, {128, 256, 16, {}, 1, {}, columns});
    check_cut(WholeTile::large, {256, 257, 17, {}, 1, {}, {}, columns});
    // The last tile of 128 columns begins at column 7, between two vectors of out.
    check_path(P::whole_tiles,
               {{33, 135, 16, {}, 1, {}, {}, gaps}, {70, 135, 16, {}, 1, {}, {}, gaps}});
}

TEST_CASE("whole tiles of the large cut are correct in every layout", "[day05][full]") {
    for (const MatrixOrder a : kAllOrders) {
        for (const MatrixOrder b : kAllOrders)
            check_cut(WholeTile::large, {132, 260, 49, {}, 1, {a}, {b}});
        check_cut(WholeTile::large, {261, 259, 63, {.beta = 2}, 1, {}, {}, {a, 1}});
    }
}

TEST_CASE("tiles are large where there are many of them, and small where there are few",
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

// --- step 14, which needs fewer than 64 rows or columns ------------------------------------------

TEST_CASE("skinny products are correct in every layout", "[day05][kernels][small]") {
    for (const MatrixOrder order : kAllOrders) {
        const Placement off = {order, 1};
        for (const std::int64_t M : {1, 3, 16}) {
            check_path(P::skinny, {{M, 37, 45, {.beta = 2}, 1, off},
                                   {M, 36, 44, {}, 0, {}, {order}},
                                   {M, 33, 301, {}, 1, {{}, 1}, off, off},
                                   {70, M, 43, {.relu = true}, 1, {order}, {order}}});
        }
    }
    for (const std::int64_t K : {1, 3, 4, 4096, 4099}) {
        check_path(P::skinny, {{5, 9, K, {}, 0, {}, {MatrixOrder::column_major}}, {5, 12, K}});
    }
    check_path(P::skinny, {{3, 40, 36, {}, 1, {}, {}, {}, {2, 1}, {3}}});
}

TEST_CASE("skinny products are correct for every number of rows", "[day05][kernels][small]") {
    for (std::int64_t M = 1; M <= 18; ++M) {
        check_path(P::skinny, {{M, 20, 9}, {M, 21, 10, {}, 0, {}, {MatrixOrder::column_major}}});
    }
    for (const std::int64_t M : {31, 32, 33, 63}) {
        check_path(P::skinny, {{M, 68, 9, {.beta = 2, .relu = true}, 0}, {69, M, 12}});
    }
}

TEST_CASE("skinny products are correct where a row of a does not fit into shared memory",
          "[day05][kernels][small]") {
    for (const MatrixOrder order :
         {MatrixOrder::row_major, MatrixOrder::column_major, MatrixOrder::odd_gaps}) {
        for (const auto& [M, K] : {std::pair<std::int64_t, std::int64_t>{1, 2 * 8192 + 5},
                                   {2, 4096},
                                   {3, 2048 + 1},
                                   {8, 1024 + 3},
                                   {16, 3 * 512 - 1},
                                   {16, 3 * 512 + 1}}) {
            check_path(P::skinny, {{M, 4, K, {}, 0, {}, {order}}});
        }
    }
}

TEST_CASE("skinny products cut N into blocks of 8, 32 or 128 columns, K over one warp or all",
          "[day05][kernels][small]") {
    // For 4 or 132 SMs instead of the device's own number, which would need long rows.
    const auto check = [](int multiprocessors, std::int64_t M, std::int64_t N, std::int64_t K,
                          bool b_transposed, unsigned blocks) {
        CAPTURE(multiprocessors, M, N, K, b_transposed);
        const Tensor<float> a = whole({M, K}, 1), b = whole({K, N}, 2);
        HostOut<float> want({M, N});
        matmul_cpu(a.view(), b.view(), want.view());
        DeviceIn<float> da(a);
        DeviceIn<float> db(b, layout_of({K, N}, b_transposed ? MatrixOrder::column_major
                                                             : MatrixOrder::row_major));
        DeviceOut<float> got({M, N});
        Problem x = problem_of(da.view(), db.view(), {}, got.view());
        x.multiprocessors = multiprocessors;
        launch_matmul_skinny(x, {});
        CHECK(got.matches(want));
        const unsigned cut[] = {1, blocks};  // tiles down and across, as the kernel got them
        CHECK(gpu::launched_with(cut, sizeof cut).value_or(true));
    };
    for (const std::int64_t M : {2, 13}) {
        check(4, M, 32, 5, false, 4);           // 8 columns per block
        check(4, M, 64, 5, false, 2);           // 32: more than a third of the SMs have one
        check(4, M, 4 * 128 - 4, 5, false, 4);  // 128: all SMs have one
        check(4, M, 3 * 128, 5, false, 12);
        check(4, M, 4 * 32 - 3, 5, true, 4);  // a warp for 4 columns
        check(4, M, 4 * 32 - 32, 5, true, M > 8 ? 12 : 24);
        check(132, M, 44 * 32, 3, false, 176);
        check(132, M, 44 * 32 + 4, 3, false, 45);
    }
}

TEST_CASE("skinny products read b once", "[day05][small]") {
    // b: 4,096 elements; the blocks, of 32 columns or 4, read the 4 rows of a; out: 4 rows of 64.
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
        const std::int64_t blocks = b_transposed ? 16 : 2;  // 4 SMs
        CHECK(touched->sectors ==
              4096 / 8 + blocks * 4 * 64 / 8 + std::max<std::int64_t>(blocks * 4, 4 * 64 / 8));
    }
}

// --- step 16, which supports any product ---------------------------------------------------------

TEST_CASE("shallow products are correct one below and above a tile, in every layout",
          "[day05][kernels][small]") {
    for (const std::int64_t K : {1, 2, 3, 4, 7, 8, 9, 17, 31, 32, 33, 65}) {
        check_path(P::shallow, {{65, 68, K, {.beta = 2}}});
    }
    for (const std::int64_t M : {1, 7, 8, 9, 63, 64}) check_path(P::shallow, {{M, 60, 5}});
    const Placement gaps = {MatrixOrder::gaps};
    for (const std::int64_t N : {1, 3, 4, 5, 127, 128, 132, 255, 256, 260, 261}) {
        check_path(P::shallow, {{9, N, 6, {.relu = true}}, {9, N, 6, {}, 0, gaps, gaps, gaps}});
    }
    for (const MatrixOrder order :
         {MatrixOrder::column_major, MatrixOrder::gaps, MatrixOrder::odd_gaps,
          MatrixOrder::every_other, MatrixOrder::flipped}) {
        check_path(P::shallow, {{66, 67, 10, {}, 1, {order}, {order}, {order}},
                                {66, 68, 10, {.beta = 2}, 0, {order, 1}, {{}, 1}, {order, 1}}});
    }
}

// --- step 15, which needs a workspace and a K to divide ------------------------------------------

TEST_CASE("products with K in parts are correct", "[day05][kernels][small]") {
    const Placement columns = {MatrixOrder::column_major};
    const Epilogue then = {.beta = 2, .relu = true};
    check_path(
        P::split_k,
        {{65, 70, 128, then},
         {64, 65, 192, {}, 0, {}, columns, columns},
         {67, 64, 130, {}, 1, {MatrixOrder::flipped, 1}, {{}, 1}, {MatrixOrder::odd_gaps, 1}},
         {64, 64, 128, {}, 0, {}, {}, {}, {2, 1}, {3}},
         // Few rows: step 14, in parts.
         {1, 68, 256, then},
         {5, 64, 192, {}, 1, columns, {}, columns},
         {5, 68, 130, {}, 0, {}, {MatrixOrder::gaps}, {}, {2, 1}, {2}}});
}

TEST_CASE("the path that matmul chooses computes the product", "[day05][small]") {
    for (const Size& s : {Size{64, 64, 33},
                          {32, 128, 33},
                          {31, 128, 33},
                          {32, 127, 33},
                          {64, 64, 32},
                          {17, 17, 32},
                          {16, 17, 32},
                          {17, 16, 32}}) {
        CHECK(computes_its_result(matmul_operation({s.M, s.N, s.K})));
    }
    const auto kernel = [](const Product& p) {
        (void)computes_its_result(by_path(matmul_operation(p), P::skinny)).ok;
        return last_kernel();
    };
    CHECK(kernel({2, 40, 8}) == "matmul_skinny_rows_kernel");
    CHECK(kernel({2, 40, 8, {}, 1, {}, {MatrixOrder::column_major}}) ==
          "matmul_skinny_dots_kernel");
    CHECK(kernel({40, 2, 8}) == "matmul_skinny_dots_kernel");
}

// Row-major, on a device of 132 SMs.
Problem problem(std::int64_t M, std::int64_t N, std::int64_t K) {
    Problem x =
        problem_of({nullptr, Shape{M, K}}, {nullptr, Shape{K, N}}, {}, {nullptr, Shape{M, N}});
    x.multiprocessors = 132;
    return x;
}

TEST_CASE("K is cut into the number of parts that pays", "[day05][small]") {
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

TEST_CASE("split K is chosen where there is a workspace and it pays", "[day05][small]") {
    const auto chosen = [](std::int64_t bytes) {
        return std::string(
            name(choose_matmul({nullptr, Shape{64, 1024}}, {nullptr, Shape{1024, 64}}, {},
                               {nullptr, Shape{64, 64}}, {nullptr, bytes})));
    };
    const std::int64_t bytes = matmul_workspace_bytes(
        {nullptr, Shape{64, 1024}}, {nullptr, Shape{1024, 64}}, {nullptr, Shape{64, 64}});
    CHECK(chosen(0) == "whole tiles");
    CHECK(chosen(bytes - 1) == "whole tiles");
    CHECK(chosen(bytes) == "split K");
    const DeviceIn<float> a(whole({64, 1024}, 1)), b(whole({1024, 64}, 2));
    DeviceOut<float> out({64, 64});
    gpu::Buffer<std::byte> room(bytes);
    matmul_cuda(a.view(), b.view(), out.view(), {.workspace = room});
    CHECK(last_kernel() == "matmul_add_parts_kernel");
    const auto large = [](std::int64_t M, std::int64_t N, std::int64_t K) {
        const Problem x = problem(M, N, K);
        return parts_pay(x) ? bytes_for_parts(x) : 0;
    };
    CHECK(large(4096, 4096, 4096) == 0);
    CHECK(large(16, 4096, 4096) == parts_of_floats({8, 1, 16, 4096}));  // 32 blocks, 8 times
    CHECK(large(16, 4098, 4096) == 0);       // rows of b are not whole float4s
    CHECK(large(16, 128 * 133, 4096) == 0);  // enough blocks
    CHECK(large(4, 6144, 4096) == 0);        // step 14 alone has enough blocks
    CHECK(large(5, 6144, 4096) == parts_of_floats({4, 1, 5, 6144}));
    CHECK(large(16, 2304, 768) == 0);  // little work
    CHECK(large(16, 768, 3072) == parts_of_floats({32, 1, 16, 768}));
    CHECK(large(64, 4096, 32) == 0);  // step 16 takes it
    CHECK(large(64, 0, 4096) == 0);
    CHECK(large(128, 2304, 768) == parts_of_floats({3, 1, 128, 2304}));
    // For a requested path, even where it does not pay, and before there is any memory.
    const auto of_path = [](std::int64_t M, std::int64_t N, std::int64_t K, P path) {
        return matmul_workspace_bytes({nullptr, Shape{M, K}}, {nullptr, Shape{K, N}},
                                      {nullptr, Shape{M, N}}, path);
    };
    CHECK(of_path(64, 64, 128, P::split_k) == parts_of_floats({2, 1, 64, 64}));
    CHECK(of_path(4096, 4096, 4096, P::split_k) > 0);
    CHECK(of_path(64, 64, 128, P::whole_tiles) == 0);
    CHECK(of_path(0, 64, 64, P::split_k) == 0);
    CHECK(contains(rejection([&] { (void)of_path(64, 64, 127, P::split_k); }),
                   "'split K' needs a K"));
    CHECK(contains(rejection([&] {
                       (void)matmul_workspace_bytes({nullptr, Shape{2, 3}}, {nullptr, Shape{4, 2}},
                                                    {nullptr, Shape{2, 2}});
                   }),
                   "so K is 3, but b has shape (4, 2)"));
}

}  // namespace
