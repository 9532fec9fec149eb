// All paths through the same cases: random floats against a sum in double, in every layout,
// with every epilogue.
#include <cstring>

#include "common/testing/far_end.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

// --- what a case is ------------------------------------------------------------------------------

// How an operand lies: so many elements behind a multiple of 16 bytes, and the matrices of a stack
// so many elements further apart than they must be.
struct Operand {
    Lies lies = Lies::row_major;
    std::int64_t lead = 0, gap = 0;
};

struct Case {
    Operand a = {}, b = {}, out = {};
    Epilogue then = {};            // its bias is made here:
    std::int64_t bias_stride = 0;  // 0: none
    Shape stack = {};
    bool nan = false;  // in the middle of a
};

Layout layout_of(const Shape& shape, const Operand& x) {
    Layout layout = layout_of(shape, x.lies);
    if (shape.rank > 2) layout.strides[0] += x.gap;
    return layout;
}

// A product in double, and what a float sum may differ by, element by element.
//
// u = 2^-24 is half of a float's last place. A product is rounded once, and a number takes part in
// at most K - 1 additions, in whatever order: so it carries K factors (1 + d), |d| <= u. The
// epilogue adds four: by alpha, of beta * out, and two additions; ReLU makes no difference larger.
// So an output is off by gamma(K + 4) * (|alpha| sum |a b| + |beta out| + |bias|) at most, where
// gamma(n) = n u / (1 - n u).
struct Exact {
    Tensor<double> values, bound;
};
Exact exact_product(const Tensor<float>& a, const Tensor<float>& b, const Epilogue& then,
                    const Tensor<float>& before, const Tensor<float>& bias) {
    const int rank = a.shape().rank;
    const std::int64_t M = a.shape()[rank - 2], K = a.shape()[rank - 1], N = b.shape()[rank - 1];
    Exact exact{Tensor<double>(before.shape()), Tensor<double>(before.shape())};
    const double n = static_cast<double>(K) + 4, u = std::ldexp(1.0, -24);
    for (std::int64_t i = 0; i < before.size(); ++i) {
        const std::int64_t matrix = i / (M * N), m = i / N % M, column = i % N;
        double sum = 0, size = 0;
        for (std::int64_t k = 0; k < K; ++k) {
            const double product = static_cast<double>(a.data()[(matrix * M + m) * K + k]) *
                                   b.data()[(matrix * K + k) * N + column];
            sum += product;
            size += std::abs(product);
        }
        sum *= then.alpha, size *= std::abs(then.alpha);
        if (then.beta != 0) {
            const double old = static_cast<double>(then.beta) * before.data()[i];
            sum += old, size += std::abs(old);
        }
        if (then.bias.data != nullptr) {
            sum += bias.data()[column], size += std::abs(bias.data()[column]);
        }
        const bool cut = then.relu && sum < 0;
        exact.values.data()[i] = cut ? 0 : sum;
        exact.bound.data()[i] = n * u / (1 - n * u) * size;
        through_swish(then, exact.values.data()[i], exact.bound.data()[i]);
    }
    return exact;
}

// What tiles refuse.
bool walks_backwards(const Case& c) {
    const auto flipped = [](const Operand& x) { return x.lies == Lies::flipped; };
    return flipped(c.a) || flipped(c.b) || flipped(c.out) || c.bias_stride < 0;
}

// A product that a path must take, and whose values must be within the bound.
void check_floats(P path, const Size& s, const Case& c) {
    CAPTURE(name(path), s.M, s.N, s.K, int(c.a.lies), c.a.lead, c.a.gap, int(c.b.lies), c.b.lead,
            c.b.gap, int(c.out.lies), c.out.lead, c.out.gap, c.then.alpha, c.then.beta,
            c.bias_stride);
    Tensor<float> a = seeded<float>(with(c.stack, s.M, s.K), 1, -1, 1);
    const Tensor<float> b = seeded<float>(with(c.stack, s.K, s.N), 2, -1, 1);
    Tensor<float> before = seeded<float>(with(c.stack, s.M, s.N), 3, -1, 1);
    if (c.then.beta == 0) std::fill_n(before.data(), before.size(), std::nanf(""));
    if (c.nan) a(s.M / 4, s.K / 2) = std::nanf("");
    const Tensor<float> bias = seeded<float>({s.N}, 4, -1, 1);
    DeviceIn<float> da(a, layout_of(a.shape(), c.a), {c.a.lead});
    DeviceIn<float> db(b, layout_of(b.shape(), c.b), {c.b.lead});
    DeviceIn<float> dbias(bias, Layout({s.N}, {c.bias_stride == 0 ? 1 : c.bias_stride}));
    auto got = DeviceOut<float>::holding(before, layout_of(before.shape(), c.out), {c.out.lead});
    Epilogue then = c.then;
    if (c.bias_stride != 0) then.bias = dbias.view();
    if (path == P::tile && walks_backwards(c)) {
        const auto refused = [&] { check_matmul(da.view(), db.view(), then, got.view(), path); };
        CHECK(contains(refusal(refused), "with no negative stride"));
        return;
    }
    const Exact exact = exact_product(a, b, then, before, bias);
    gpu::Buffer<std::byte> room(matmul_workspace_bytes(da.view(), db.view(), got.view(), path));
    room.fill_bytes(0xff);
    matmul_cuda(da.view(), db.view(), then, got.view(), {.path = path, .workspace = room});
    CHECK(got.close_to(
        exact.values, [&](const Index& i) { return exact.bound.view()(i); },
        c.nan ? Nans::where_expected : Nans::refused));
    if (path == P::tile) CHECK(last_kernel() == "matmul_tile");
    CHECK(da.unchanged());
    CHECK(db.unchanged());
    CHECK(dbias.unchanged());
}

// The smallest size that every path takes, in quads: a tile of step 13 and some more; a K that
// step 15 can halve; and so few rows that step 14 takes it.
Size quads_for(P path) {
    return {33, 132, path == P::split_k ? 128 : 16};
}
// No extent is one of quads.
Size odd_for(P path) {
    return {35, 131, path == P::split_k ? 130 : 18};
}
// Where a path has tiles: one that is whole, so that its sums are stored without a question, and
// edges on two sides.
Size tiles_for(P path) {
    if (path == P::skinny || path == P::split_k) return quads_for(path);
    return {132, 260, path == P::whole_tiles ? 16 : 4};
}

// --- the cases -----------------------------------------------------------------------------------

TEST_CASE("all paths are as near as a float sum can be, with every epilogue",
          "[day05][kernels][small]") {
    const std::vector<Case> cases = {
        {},
        {.then = {.alpha = -2}},
        {.then = {.beta = 3}},
        {.bias_stride = 1},
        {.then = {.relu = true}},
        {.bias_stride = 2},
        {.bias_stride = -3},
        {.then = {.alpha = 0.75f, .beta = -1.5f, .relu = true}, .bias_stride = 2},
        {.then = {.alpha = 3}, .bias_stride = 1},
        {.then = {.relu = true}, .nan = true},
        {.then = {.swish = true}},
        {.then = {.alpha = 0.75f, .beta = -1.5f, .swish = true}, .bias_stride = 2},
        {.then = {.swish = true}, .nan = true},
    };
    for (const P path : all_paths()) {
        for (const Case& c : cases) check_floats(path, tiles_for(path), c);
    }
}

// May this path take operands of which some are no quads?
bool takes(P path, bool a, bool b, bool out) {
    if (is_one_of(kQuads, path)) return a && b && out;
    return !is_one_of(kQuadsOfB, path) || (b && out);
}

TEST_CASE("one operand that is no quads, for one reason, and all others are",
          "[day05][kernels][small]") {
    const std::vector<Operand> reasons = {{.lies = Lies::every_other},  // no neighbours along a row
                                          {.lies = Lies::odd_gaps},     // rows that begin anywhere
                                          {.lead = 1},                  // so does the first
                                          {.gap = 1},                   // so does the second matrix
                                          {.lies = Lies::column_major}};
    for (const P path : all_paths()) {
        for (const Operand& reason : reasons) {
            const Size s = quads_for(path);
            for (const int which : {0, 1, 2}) {
                Case c{.stack = {2}};
                (which == 0 ? c.a : which == 1 ? c.b : c.out) = reason;
                // Seen from the other side step 13 has no tile for 33 columns.
                const bool turned = which == 2 && reason.lies == Lies::column_major;
                const Size size = turned ? Size{s.N, s.M, s.K} : s;
                if (takes(path, which != 0, which != 1, which != 2)) {
                    check_floats(path, size, c);
                    continue;
                }
                CAPTURE(name(path), which, int(reason.lies), reason.lead, reason.gap);
                const auto memory = [](const Operand& x) {
                    return reinterpret_cast<float*>(std::uintptr_t(4 * x.lead));
                };
                const auto refused = [&] {
                    (void)matmul_workspace_bytes({memory(c.a), layout_of({2, s.M, s.K}, c.a)},
                                                 {memory(c.b), layout_of({2, s.K, s.N}, c.b)},
                                                 {memory(c.out), layout_of({2, s.M, s.N}, c.out)},
                                                 path);
                };
                CHECK(contains(refusal(refused), "begin at multiples of 16 bytes"));
            }
        }
    }
}

TEST_CASE("operands and outputs in every layout, of odd sizes, by every path that takes them",
          "[day05][small]") {
    for (const P path : all_paths()) {
        const Size s = odd_for(path);
        if (!takes(path, true, false, false)) {  // what it can take: rows of quads with ragged ends
            for (const Lies lies : kAllLies) {
                if (!takes(path, lies == Lies::gaps, true, true)) continue;
                check_floats(path, s, {{lies}, {Lies::gaps}, {Lies::gaps}});
            }
            continue;
        }
        for (const Lies lies : kAllLies) {
            check_floats(path, s, {.a = {lies}});
            check_floats(path, s, {.b = {lies}});
            const bool turned = lies == Lies::column_major || lies == Lies::column_gaps;
            check_floats(path, turned ? Size{s.N, s.M, s.K} : s, {.out = {lies}});
        }
        check_floats(path, s, {{Lies::column_gaps}, {Lies::gaps}, {Lies::gaps}});
        check_floats(path, s, {{Lies::gaps}, {Lies::column_gaps}, {Lies::gaps}});
    }
}

TEST_CASE("12 bits behind the point are read, by every path, of both operands", "[day05][small]") {
    // TF32 keeps 10 and bf16 7: a sum would be K.
    const float x = 1 + std::ldexp(1.0f, -12);
    for (const P path : all_paths()) {
        const auto [M, N, K] = quads_for(path);
        for (const bool in_a : {true, false}) {
            CAPTURE(name(path), in_a);
            Tensor<float> a({M, K}), b({K, N}), want({M, N});
            std::fill_n(a.data(), a.size(), in_a ? x : 1);
            std::fill_n(b.data(), b.size(), in_a ? 1 : x);
            std::fill_n(want.data(), want.size(), static_cast<float>(K) * x);  // exact
            DeviceIn<float> da(a), db(b);
            DeviceOut<float> got({M, N});
            gpu::Buffer<std::byte> room(
                matmul_workspace_bytes(da.view(), db.view(), got.view(), path));
            matmul_cuda(da.view(), db.view(), got.view(), {.path = path, .workspace = room});
            CHECK(got.matches(want));
        }
    }
}

// --- what the bound refuses ----------------------------------------------------------------------

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

TEST_CASE("the loop is within the bound, TF32 and a sum one product short are not",
          "[day05][small]") {
    const std::int64_t M = 33, N = 36, K = 68;
    const Tensor<float> a = seeded<float>({M, K}, 1, -1, 1), b = seeded<float>({K, N}, 2, -1, 1);
    const Exact exact = exact_product(a, b, {}, Tensor<float>({M, N}), Tensor<float>({N}));
    const auto bound = [&](const Index& i) { return exact.bound.view()(i); };
    HostOut<float> loop({M, N}), tf32({M, N}), tf32_of_b({M, N}), short_sum({M, N});
    matmul_cpu(a.view(), b.view(), loop.view());
    CHECK(loop.close_to(exact.values, bound));
    matmul_cpu(in_tf32(a).view(), b.view(), tf32.view());
    CHECK(!tf32.close_to(exact.values, bound));
    matmul_cpu(a.view(), in_tf32(b).view(), tf32_of_b.view());
    CHECK(!tf32_of_b.close_to(exact.values, bound));
    matmul_cpu(slice(a.view(), 1, 0, K - 1), slice(b.view(), 0, 0, K - 1), short_sum.view());
    CHECK(!short_sum.close_to(exact.values, bound));
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

// The paths that can be launched without views and workspace, for so many rows.
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

TEST_CASE("rows and matrices past 2^32 elements", "[day05][small]") {
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
            x.quads_out = out_has_quads(x);
            check_last_block(path, x, out, last_sums(rows, b.view()));
        }
    }
}

TEST_CASE("tiles: rows of out past 2^32 elements", "[day05][small]") {
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
    // Only the last of a block's 128 rows, columns or numbers are there, far from each other.
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

TEST_CASE("tiles: each condition of what they take is false alone", "[day05][small]") {
    alignas(16) static float memory[4][256];
    const auto refused = [&](const Layout& a, const Layout& b, const Layout& out,
                             const Layout& bias = row_major({6})) {
        return refusal([&] {
            check_matmul({memory[0] + 128, a}, {memory[1] + 128, b},
                         {.bias = {memory[2] + 128, bias}}, {memory[3] + 128, out}, P::tile);
        });
    };
    const Layout a = row_major({4, 5}), b = row_major({5, 6}), out = row_major({4, 6});
    CHECK(refused(a, b, out) == "");
    const std::string words =
        "matmul: the path 'tile' needs rows and columns with no negative stride, for CUDA Tile C++ "
        "takes strides for sizes; a has shape (4, 5), strides ";
    CHECK(refused({{4, 5}, {-5, 1}}, b, out) ==
          words + "(-5, 1), b shape (5, 6), strides (6, 1), out shape (4, 6), strides (6, 1)");
    CHECK(contains(refused({{4, 5}, {5, -1}}, b, out), words));
    CHECK(contains(refused(a, {{5, 6}, {-6, 1}}, out), words));
    CHECK(contains(refused(a, {{5, 6}, {6, -1}}, out), words));
    CHECK(contains(refused(a, b, {{4, 6}, {-6, 1}}), words));
    CHECK(contains(refused(a, b, {{4, 6}, {6, -1}}), words));
    CHECK(contains(refused(a, b, out, {{6}, {-2}}),
                   "matmul: the path 'tile' needs a bias with no negative stride, for CUDA Tile "
                   "C++ takes strides for sizes, and it has shape (6), strides (-2); a has"));
    // Strides that are not used, or are 0; and matrices of a stack in any order.
    CHECK(refused({{4, 5}, {0, 1}}, {{5, 6}, {0, 0}}, out, {{6}, {0}}) == "");
    CHECK(refused({{1, 5}, {-5, 1}}, b, {{1, 6}, {-6, 1}}) == "");
    CHECK(refused({{4, 1}, {1, -1}}, {{1, 1}, {-1, -1}}, {{4, 1}, {1, -1}}, {{1}, {-1}}) == "");
    CHECK(refused({{2, 4, 5}, {-20, 5, 1}}, {{2, 5, 6}, {-30, 6, 1}}, {{2, 4, 6}, {-24, 6, 1}}) ==
          "");
}

TEST_CASE("step 13: a tile that begins between two quads of out is stored number by number",
          "[day05][small]") {
    // 135 columns, rows that begin at multiples of 16 bytes: the last tile of 128 begins at column
    // 7.
    check_floats(P::whole_tiles, {33, 135, 16}, {.out = {Lies::gaps}});
    check_floats(P::whole_tiles, {70, 135, 16}, {.out = {Lies::gaps}});
}

TEST_CASE(
    "tiles: M, N or K alone is no whole number of quads, and all rows or columns begin at quads",
    "[day05][small]") {
    if (!gpu::has_tile()) {
        SUCCEED("this nvcc compiles no tiles");
        return;
    }
    const Operand rows = {Lies::gaps}, columns = {Lies::column_gaps};
    for (const Size& s : {Size{68, 72, 20}, {67, 72, 20}, {68, 71, 20}, {68, 72, 19}}) {
        for (const Operand& a : {rows, columns}) {
            for (const Operand& b : {rows, columns}) {
                check_floats(P::tile, s, {.a = a, .b = b, .out = rows});
            }
        }
    }
}

TEST_CASE("columns past 2^32 elements", "[day05][small]") {
    constexpr std::int64_t K = 16, N = kBeyond32Bits, kTail = 1024;
    // Rows of b overlap: 4 elements apart, so that all of them end where b ends.
    const Tensor<float> row = whole({K}, 1), tail = whole({kTail}, 2);
    Tensor<float> poison({kTail});
    std::fill_n(poison.data(), poison.size(), std::nanf(""));
    const std::int64_t columns = kTail - 4 * (K - 1);  // of which all rows exist
    const View<const float> end(tail.data(), Layout({K, columns}, {4, 1}));
    for (const P path : paths_for_rows(1)) {
        FarEnd<float> b(N + 4 * (K - 1), tail), out(N, poison);
        DeviceIn<float> a(row);
        Problem x;
        x.M = 1, x.N = N, x.K = K;
        x.a_k = 1, x.b_k = 4, x.b_n = 1, x.out_n = 1;
        x.a = a.view().data, x.b = b.data(), x.out = out.data();
        x.quads_out = out_has_quads(x);
        check_last_block(path, x, out, last_sums(row, end));
    }
}

}  // namespace
