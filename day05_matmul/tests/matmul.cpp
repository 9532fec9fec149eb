// Specific products of floats: answers from outside the code, every path at the edges of its tiles,
// which memory the warps access, and the messages of rejections.
#include "common/testing/operation/cases.hpp"
#include "day05_matmul/matmul.op.hpp"
#include "day05_matmul/steps/matmul/problem.hpp"
#include "day05_matmul/tests/golden.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

// --- the CPU reference ---------------------------------------------------------------------------

TEST_CASE("a product equals the result worked by hand", "[day05][small]") {
    const Tensor<float> a({2, 3}, {1, 2, 3, 4, 5, 6}), b({3, 2}, {7, 8, 9, 10, 11, 12});
    HostOut<float> out({2, 2});
    matmul_cpu(a.view(), b.view(), out.view());
    CHECK(out.matches(Tensor<float>({2, 2}, {58, 64, 139, 154})));
}

TEST_CASE("a square plus a bias equals the result of the lesson's first exercise",
          "[day05][small]") {
    const Tensor<float> a({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), bias({3}, {1, 2, 3});
    HostOut<float> out({3, 3});
    matmul_cpu(a.view(), a.view(), {.bias = bias.view()}, out.view());
    CHECK(out.matches(Tensor<float>({3, 3}, {31, 38, 45, 67, 83, 99, 103, 128, 153})));
}

TEST_CASE("alpha, beta, bias and ReLU give the results worked by hand", "[day05][small]") {
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

TEST_CASE("stacks, broadcast stacks and transposed operands equal NumPy", "[day05][small]") {
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

// --- every path ----------------------------------------------------------------------------------

// Each of these sizes by every path that supports it.
void check_sizes(const std::vector<Size>& sizes, const Product& like = {}) {
    std::vector<Operation> all;
    for (const Size& s : sizes) {
        Product p = like;
        p.M = s.M, p.N = s.N, p.K = s.K;
        all.push_back(matmul_operation(p));
    }
    check_values(all);
}

// Rows that begin at multiples of 16 bytes, whatever their length.
Product pitched() {
    return {.a = {MatrixOrder::gaps}, .b = {MatrixOrder::gaps}, .out = {MatrixOrder::gaps}};
}

TEST_CASE("every step of the ladder equals the CPU reference, at every edge of its tiles",
          "[day05][kernels][small]") {
    check_sizes({{1, 1, 1}, {2, 3, 5}, {33, 31, 17}, {31, 65, 33}, {5, 257, 16}, {65, 66, 9}},
                pitched());
    check_sizes({{130, 258, 25}}, pitched());
    check_sizes({{128, 256, 32}});
}

TEST_CASE("tiles are correct at the edges of the matrix", "[day05][small]") {
    check_sizes({{33, 31, 65},
                 {17, 17, 17},   // narrower than a tile
                 {32, 64, 40},   // exact M and N, ragged K
                 {40, 41, 32}},  // and the reverse
                {.bias_stride = 0});
}

TEST_CASE("the ring reads a stage only after its copies have arrived", "[day05][small]") {
    check_sizes({{5, 8, 70}});
}

TEST_CASE("beta = 0 does not read out, and alpha = 0 reads neither a nor b", "[day05][small]") {
    check_sizes({{4, 8, 12}}, {.bias_stride = 0});  // out holds NaNs
    Operation op = matmul_operation({4, 8, 12, {.alpha = 0, .beta = 2}, 0});
    op.operands[0].with(all_equal_to(NAN));
    op.operands[1].with(all_equal_to(INFINITY));
    CHECK(computes_its_result(op));
}

TEST_CASE("every step is correct at every size around its tiles", "[day05][full]") {
    for (const std::int64_t M : {1, 64, 129}) {
        for (const std::int64_t N : {1, 127, 128, 257}) {
            check_sizes({{M, N, 1}, {M, N, 15}, {M, N, 16}, {M, N, 17}, {M, N, 50}}, pitched());
        }
    }
}

// --- which memory the warps access ---------------------------------------------------------------

TEST_CASE("sectors and wavefronts of the steps equal a hand count", "[day05][kernels][small]") {
    // 64 x 64 outputs, K = 32: 512 sectors to store, 256 each to read a and b once. Wavefronts of
    // shared memory: copies into the tiles, and for each k the loads of the warps.
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
        {P::column_per_thread, false, 1024, 128 + 16 * K * 9, 128 + 16 * K * 9},
        {P::square_per_thread, false, 1024, 256 + 8 * K * 16, 256 + 8 * K * 16},
        {P::vectorized, false, 1024, 256 + 8 * K * (2 + 8), 256 + 8 * K * (2 + 4)},
        {P::shallow, false, 1024, -1, -1},
        {P::warp_tiles, false, 1024, 256 + 8 * K * 4, 256 + 8 * K * 4},
        {P::ring, false, 1024, 256 + 8 * K * 4, 256 + 8 * K * 4},  // a copy is one request
        {P::fragments, false, 1024, -1, -1},
        {P::spread_copies, false, 1024, -1, -1},
        // Two tiles of K, and the second copied twice more: the loop does not check whether it is
        // the last.
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

// --- no work ------------------------------------------------------------------------------------

TEST_CASE("a product of 2^40 rows and no columns ends at once", "[day05][small]") {
    const std::int64_t M = std::int64_t{1} << 40;
    const View<const float> a(nullptr, Shape{M, 0}), b(nullptr, Shape{0, 0});
    const auto end_of = [&](const View<float>& out) {
        matmul_cpu(a, b, out);
        matmul_cuda(a, b, out);
        return out.size();
    };
    CHECK(end_of({nullptr, Shape{M, 0}}) == 0);  // a loop over rows would take hours
}

// --- what is rejected ----------------------------------------------------------------------------

TEST_CASE("matmul reports what does not match", "[day05][small]") {
    const auto says = [](const Shape& a, const Shape& b, const Shape& out, const std::string& words,
                         const Shape& bias = {4}) {
        Operation op = matmul_operation({2, 4, 3});
        const Shape shapes[] = {a, b, out, bias};
        for (std::size_t i = 0; i < 4; ++i) {
            op.operands[i].shape = shapes[i];
            op.operands[i].layout.reset();
        }
        for (PathOf& path : op.paths) path.accepts = {};
        op.best = {};
        CHECK(rejects_as_it_is(op, words));
    };
    says(
        {6}, {3, 4}, {2, 4},
        "a has shape (6) of rank 1, but a matrix needs at least rank 2; unsqueeze() makes a row or "
        "a column of a vector");
    says({2, 3}, {2, 6}, {2, 4},
         "a has shape (2, 3), so K is 3, but b has shape (2, 6), whose second to last extent is 2");
    says({2, 3}, {3, 4}, {4, 2},
         "a has shape (2, 3) and b (3, 4), so out must have (2, 4), but has (4, 2)");
    says({2, 3}, {3, 4}, {2, 4},
         "bias has shape (3), but out (2, 4) needs (4), one element per column", {3});
    says({2, 1, 3}, {3, 3, 4}, {2, 4},
         "the stacks of a and b: shapes (2) and (3) cannot be broadcast together: extents 2 and 3 "
         "differ, and neither is 1");
}

TEST_CASE("a path reports what it needs", "[day05][small]") {
    alignas(16) static float memory[3][256];
    const auto needs = [&](P path, const Shape& a, const Shape& b, const Layout& out,
                           const Epilogue& then = {}) {
        return rejection([&] {
            (void)plan_matmul({memory[0], a}, {memory[1], b}, then, {memory[2] + 128, out},
                              {.path = path});
        });
    };
    const Layout narrow = row_major({5, 6});
    for (const P path : {P::vectorized, P::warp_tiles}) {
        CHECK(needs(path, {5, 6}, {6, 8}, row_major({5, 8})) ==
              std::string("matmul: the path '") + name(path) +
                  "' needs a, b and out whose rows are contiguous and begin at multiples of 16 "
                  "bytes; a has shape (5, 6), strides (6, 1), b shape (6, 8), strides (8, 1), out "
                  "shape (5, 8), strides (8, 1)");
    }
    for (const P path : {P::ring, P::fragments, P::serpentine, P::spread_copies}) {
        CHECK(contains(needs(path, {5, 8}, {8, 6}, narrow),
                       "needs b and out whose rows are contiguous and begin at multiples of 16 "
                       "bytes; a has"));
    }
    CHECK(contains(needs(P::whole_tiles, {5, 8}, {8, 6}, narrow),
                   "needs a K of at least 16, and room for a tile of 64 x 64 or 32 x 128; a has"));
    CHECK(contains(needs(P::split_k, {5, 8}, {8, 6}, narrow),
                   "'split K' needs a K that splits into equal parts of at least 64, and "));
    CHECK(
        contains(needs(P::tile, {5, 8}, {8, 6}, {{5, 6}, {-6, 1}}),
                 "matmul: the path 'tile' needs rows and columns with no negative stride, for CUDA "
                 "Tile C++ takes strides for sizes; a has shape (5, 8)"));
    CHECK(contains(
        needs(P::tile, {5, 8}, {8, 6}, narrow, {.bias = {memory[0] + 128, Layout({6}, {-2})}}),
        "matmul: the path 'tile' needs a bias with no negative stride, for CUDA Tile C++ "
        "takes strides for sizes, and it has shape (6), strides (-2); a has"));
    // A stride of 0 fits anywhere, so extents can be as large as a path supports.
    const auto large = [&](P path, std::int64_t M, std::int64_t N) {
        return rejection([&] {
            (void)plan_matmul(
                {memory[0], Layout({M, 1}, {0, 0})}, {memory[1], Layout({1, N}, {0, 0})}, {},
                {reinterpret_cast<float*>(std::uintptr_t{1} << 40), Shape{M, N}}, {.path = path});
        });
    };
    CHECK(large(P::one_element, 1, 524280) == "");
    CHECK(contains(large(P::one_element, 1, 524281), "needs at most 524280 columns"));
    CHECK(contains(large(P::skinny, 64, 64), "fewer than 64 rows, or columns, of out; a has"));
}

}  // namespace
