// All paths through the same products: random floats within the bound of a float sum, with every
// epilogue; and offsets of more than 32 bits.
#include <cstring>

#include "common/testing/far_end.hpp"
#include "common/testing/operation/cases.hpp"
#include "day05_matmul/matmul.op.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

TEST_CASE("all paths are within the bound of a float sum, with every epilogue",
          "[day05][kernels][small]") {
    const std::vector<std::pair<Epilogue, int>> cases = {
        // and the stride of a bias
        {{}, 0},
        {{.alpha = -2}, 1},
        {{.beta = 3}, 0},
        {{.relu = true}, 2},
        {{.alpha = 0.75f, .beta = -1.5f, .relu = true}, -3},
        {{.swish = true}, 0},
        {{.alpha = 0.75f, .beta = -1.5f, .swish = true}, 2},
    };
    for (const auto& [then, stride] : cases) {
        const auto of = [&, &e = then, s = stride](std::int64_t M, std::int64_t N, std::int64_t K) {
            return matmul_operation({M, N, K, e, s, {}, {}, {}, {}, {}, true});
        };
        // A whole tile, whose sums are stored without bounds checks, and edges on two sides.
        CHECK(computes_its_result(of(132, 260, 4)));
        CHECK(computes_its_result(of(33, 132, 16)));
        CHECK(computes_its_result(by_path(of(5, 68, 128), P::split_k)));
        CHECK(computes_its_result(by_path(of(65, 68, 128), P::split_k)));
    }
}

TEST_CASE("every path reads 12 fraction bits of both operands", "[day05][small]") {
    // TF32 keeps 10 and bf16 7: a sum would be K.
    const double x = 1 + 0x1p-12;
    const Operation in_parts = by_path(matmul_operation({33, 132, 128, {}, 0}), P::split_k);
    for (Operation op : {matmul_operation({33, 132, 16, {}, 0}), in_parts}) {
        for (const std::size_t operand : {0, 1}) {
            op.operands[operand].with(all_equal_to(x));
            op.operands[1 - operand].with(all_equal_to(1));
            CHECK(computes_its_result(op));
        }
    }
}

// The part of a float that a tensor core reads in TF32: 10 fraction bits instead of 23.
Tensor<float> in_tf32(const View<const float>& x) {
    Tensor<float> rounded(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, x.data + i, 4);
        bits = (bits + 0x1000) & ~0x1fffu;
        std::memcpy(rounded.data() + i, &bits, 4);
    }
    return rounded;
}

TEST_CASE("the CPU reference is within the bound, TF32 and a sum one product short are not",
          "[day05][small]") {
    Operation op = matmul_operation({33, 36, 68, {}, 0, {}, {}, {}, {}, {}, true});
    op.cuda = {};
    const auto accepted = [&](const auto& product) {
        op.cpu = [&](const Call& c) { product(c.in<float>(0), c.in<float>(1), c.out<float>(2)); };
        return bool(computes_its_result(op));
    };
    using In = View<const float>;
    CHECK(accepted([](In a, In b, View<float> out) { matmul_cpu(a, b, out); }));
    CHECK_FALSE(
        accepted([](In a, In b, View<float> out) { matmul_cpu(in_tf32(a).view(), b, out); }));
    CHECK_FALSE(
        accepted([](In a, In b, View<float> out) { matmul_cpu(a, in_tf32(b).view(), out); }));
    CHECK_FALSE(accepted([](In a, In b, View<float> out) {
        matmul_cpu(slice(a, 1, 0, 67), slice(b, 0, 0, 67), out);
    }));
}

// --- layouts -------------------------------------------------------------------------------------

TEST_CASE("a single misaligned operand is handled next to aligned ones", "[day05][full]") {
    // In addition to the table: only the second matrix of a stack is misaligned.
    const Placement off = {.gap = 1};
    for (const Size& s : {Size{33, 132, 16}, {5, 68, 128}}) {
        for (const int which : {0, 1, 2}) {
            Product p{s.M, s.N, s.K, {.beta = 2}, 1, {}, {}, {}, {2}, {2}};
            (which == 0 ? p.a : which == 1 ? p.b : p.out) = off;
            CHECK(computes_its_result(matmul_operation(p)));
        }
    }
}

TEST_CASE("every path is correct for operands and outputs in every layout, at odd sizes",
          "[day05][full]") {
    // Rows of vectors with partial ends, and one operand of another placement.
    const Placement gaps = {MatrixOrder::gaps};
    for (const P path : {P::vectorized, P::ring}) {
        CHECK(takes_or_rejects_placements(
            by_path(matmul_operation({35, 131, 18, {}, 1, gaps, gaps, gaps}), path)));
    }
    for (const MatrixOrder order : kAllOrders) {
        CHECK(computes_its_result(matmul_operation({35, 131, 18, {}, 1, {order}, {order}})));
        CHECK(computes_its_result(matmul_operation({35, 131, 18, {}, 0, {order}, gaps, gaps})));
        CHECK(computes_its_result(matmul_operation({35, 131, 18, {}, 0, {}, {order}, {order}})));
    }
}

TEST_CASE("tiles are correct if only M, N or K is not a multiple of a vector", "[day05][small]") {
    if (!gpu::has_tile()) {
        SUCCEED("this nvcc compiles no tiles");
        return;
    }
    const Placement rows = {MatrixOrder::gaps}, columns = {MatrixOrder::column_gaps};
    for (const Size& s : {Size{68, 72, 20}, {67, 72, 20}, {68, 71, 20}, {68, 72, 19}}) {
        for (const Placement& a : {rows, columns}) {
            for (const Placement& b : {rows, columns}) {
                const Product p{s.M, s.N, s.K, {}, 0, a, b, rows};
                CHECK(computes_its_result(by_path(matmul_operation(p), P::tile)));
            }
        }
    }
    // Matrices of a stack in any order.
    Operation back = matmul_operation({4, 6, 5, {}, 0, {}, {}, {}, {2}, {2}});
    for (Operand& x : back.operands) x.layout->strides[0] *= -1;
    CHECK(computes_its_result(by_path(back, P::tile)));
}

// --- offsets of more than 32 bits ----------------------------------------------------------------

// The last block of a product whose operands are so large that only their ends exist. `out` ends
// with the sums of the last row of a.
void check_last_block(P path, const Problem& x, FarEnd<float>& out, const Tensor<float>& want) {
    CAPTURE(name(path));
    INFO(needs_64_bits(kBeyond32Bits));
    const bool ran = gpu::run_last_block([&] { launch_matmul(path, x, {}, {}); });
    REQUIRE(ran == gpu::is_emulated());  // a GPU runs all blocks or none
    if (!ran) return;
    CHECK(equal(out.last(want.size()), want));
}

// The paths that can be launched without views and workspace, for M rows.
std::vector<P> paths_for_rows(std::int64_t M) {
    std::vector<P> paths;
    for (const P path : all_paths()) {
        if (path == P::one_element || path == P::split_k || path == P::tile) continue;
        if (path == P::whole_tiles && M < 32) continue;
        paths.push_back(path);
    }
    return paths;
}

// The last 8 sums of the last row of a, of which `row` is the end, times b.
Tensor<float> last_sums(const Tensor<float>& row, const View<const float>& b) {
    const std::int64_t K = b.extent(0), N = b.extent(1);
    Tensor<float> want({8});
    for (std::int64_t n = 0; n < 8; ++n) {
        for (std::int64_t k = 0; k < K; ++k) want(n) += row(row.size() - K + k) * b(k, N - 8 + n);
    }
    return want;
}

TEST_CASE("every path is correct for rows and matrices past 2^32 elements", "[day05][small]") {
    constexpr std::int64_t K = 16;
    for (const bool stack : {false, true}) {
        for (const P path : paths_for_rows(32)) {
            Problem x;
            x.M = stack ? 32 : kBeyond32Bits / K;
            x.N = path == P::skinny ? 16 : 128, x.K = K;
            x.a_m = K, x.a_k = 1, x.b_k = x.N, x.b_n = 1, x.out_m = x.N, x.out_n = 1;
            const std::int64_t matrices = stack ? kBeyond32Bits / (32 * K) : 1;
            if (stack) {
                x.dims = 1, x.extent[0] = matrices;
                x.step_a[0] = x.M * K, x.step_out[0] = x.M * x.N;
            }
            const Tensor<float> rows = whole({256 * K}, 1), b = whole({K, x.N}, 2);
            Tensor<float> poison({256 * x.N});
            std::fill_n(poison.data(), poison.size(), std::nanf(""));
            FarEnd<float> a(matrices * x.M * K, rows), out(matrices * x.M * x.N, poison);
            DeviceIn<float> db(b);
            x.a = a.data(), x.b = db.view().data, x.out = out.data();
            x.vectors_out = out_has_vectors(x);
            check_last_block(path, x, out, last_sums(rows, b.view()));
        }
    }
}

TEST_CASE("tiles are correct for rows of out past 2^32 elements", "[day05][small]") {
    if (!gpu::has_tile()) {
        SUCCEED("this nvcc compiles no tiles");
        return;
    }
    constexpr std::int64_t K = 16, N = 128, M = kBeyond32Bits / N;
    const Tensor<float> row = whole({K}, 1), b = whole({K, N}, 2);
    Tensor<float> poison({64 * N});
    std::fill_n(poison.data(), poison.size(), std::nanf(""));
    FarEnd<float> out(M * N, poison);
    DeviceIn<float> da(row), db(b);
    INFO(needs_64_bits(kBeyond32Bits));
    const bool ran = gpu::run_last_block([&] {
        matmul_cuda(broadcast_to(da.view(), Shape{M, K}), db.view(), {out.data(), Shape{M, N}},
                    {.path = P::tile});
    });
    REQUIRE(ran == gpu::is_emulated());  // a GPU runs all blocks or none
    if (ran) CHECK(equal(out.last(8), last_sums(row, b.view())));
}

TEST_CASE("tiles count in 64 bits where a, b or bias alone has more than 2^32 elements",
          "[day05][small]") {
    if (!gpu::has_tile()) {
        SUCCEED("this nvcc compiles no tiles");
        return;
    }
    INFO(needs_64_bits(kBeyond32Bits));
    // Only the last of a block's 128 rows, columns or k's exist, far from each other.
    const std::int64_t step = 65536, many = kBeyond32Bits / step, few = 8, K = 64;
    const Tensor<float> far = whole({128 * step}, 1), a = whole({few, K}, 2),
                        b = whole({K, few}, 3), some = whole({4, many}, 4);
    FarEnd<float> end(many * step, far);
    DeviceIn<float> da(a), db(b), ds(some);
    const auto far_at = [&](std::int64_t i, std::int64_t k) {
        return far((128 - many + i) * step + k);
    };
    const auto check = [&](View<const float> left, View<const float> right, const Epilogue& then,
                           const auto& exact) {
        const std::int64_t M = left.extent(0), N = right.extent(1);
        DeviceOut<float> out({M, N});
        const bool ran = gpu::run_last_block(
            [&] { matmul_cuda(left, right, then, out.view(), {.path = P::tile}); });
        REQUIRE(ran == gpu::is_emulated());  // a GPU runs all blocks or none
        if (!ran) return;
        const Tensor<float> got = out.values();
        for (std::int64_t m = M - 4; m < M; ++m) {
            for (std::int64_t n = N - 4; n < N; ++n) {
                CAPTURE(m, n);
                CHECK(got(m, n) == exact(m, n));
            }
        }
    };
    check({end.data(), Layout({many, K}, {step, 1})}, db.view(), {}, [&](auto m, auto n) {
        float sum = 0;
        for (std::int64_t k = 0; k < K; ++k) sum += far_at(m, k) * b(k, n);
        return sum;
    });
    check(da.view(), {end.data(), Layout({K, many}, {1, step})}, {}, [&](auto m, auto n) {
        float sum = 0;
        for (std::int64_t k = 0; k < K; ++k) sum += a(m, k) * far_at(n, k);
        return sum;
    });
    const Epilogue biased = {.bias = {end.data() + step - 1, Layout({many}, {step})}};
    check(columns(da.view(), 0, 4), ds.view(), biased, [&](auto m, auto n) {
        float sum = far_at(n, step - 1);
        for (std::int64_t k = 0; k < 4; ++k) sum += a(m, k) * some(k, n);
        return sum;
    });
}

TEST_CASE("every path is correct for columns past 2^32 elements", "[day05][small]") {
    constexpr std::int64_t K = 16, N = kBeyond32Bits, kTail = 1024;
    // Rows of b overlap: 4 elements apart, so that all of them end where b ends.
    const Tensor<float> row = whole({K}, 1), tail = whole({kTail}, 2);
    Tensor<float> poison({kTail});
    std::fill_n(poison.data(), poison.size(), std::nanf(""));
    const std::int64_t columns = kTail - 4 * (K - 1);  // columns of which all rows exist
    const View<const float> end(tail.data(), Layout({K, columns}, {4, 1}));
    for (const P path : paths_for_rows(1)) {
        FarEnd<float> b(N + 4 * (K - 1), tail), out(N, poison);
        DeviceIn<float> a(row);
        Problem x;
        x.M = 1, x.N = N, x.K = K;
        x.a_k = 1, x.b_k = 4, x.b_n = 1, x.out_n = 1;
        x.a = a.view().data, x.b = b.data(), x.out = out.data();
        x.vectors_out = out_has_vectors(x);
        check_last_block(path, x, out, last_sums(row, end));
    }
}

}  // namespace
