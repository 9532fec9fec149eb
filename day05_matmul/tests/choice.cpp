// The choice among the paths, and which calls each accepts.
#include <fstream>
#include <sstream>

#include "common/testing/operation/operation.hpp"
#include "day05_matmul/bench/samples.hpp"
#include "day05_matmul/loop_orders.hpp"
#include "day05_matmul/matmul.op.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kMuch = std::int64_t{1} << 60;  // a workspace for anything

// A product without memory, on a device with this many SMs.
Problem planned(const Size& s, int multiprocessors = 132, MatrixOrder a = MatrixOrder::row_major,
                MatrixOrder b = MatrixOrder::row_major, MatrixOrder out = MatrixOrder::row_major) {
    Problem x = problem_of({nullptr, layout_of({s.M, s.K}, a)}, {nullptr, layout_of({s.K, s.N}, b)},
                           {}, {nullptr, layout_of({s.M, s.N}, out)});
    x.multiprocessors = multiprocessors;
    return x;
}

// --- the measured path stays the chosen one ------------------------------------------------------

TEST_CASE("on 132 SMs every measured shape takes the measured path", "[day05][small]") {
    std::ifstream file(SIXDAYS_DAY05_RESULTS);
    REQUIRE(file.good());
    int rows = 0;
    for (std::string line; std::getline(file, line);) {
        // The operation may hold commas, in quotes; then version, path, type, shape.
        const std::size_t quoted = line.rfind("\",matmul_cuda,");
        if (quoted == std::string::npos) continue;
        const std::string op = line.substr(1, quoted - 1);
        std::istringstream rest(line.substr(quoted + std::string("\",matmul_cuda,").size()));
        std::string path, type, shape;
        std::getline(rest, path, ',');
        std::getline(rest, type, ',');
        std::getline(rest, shape, ',');
        Size s{};
        char times = 0;
        std::istringstream(shape) >> s.M >> times >> s.N >> times >> s.K;
        const auto holds = [&](const char* words) { return op.find(words) != std::string::npos; };
        const bool b_across =
            holds("b transposed") || holds("(N, K)") || holds("logits") || holds("linear");
        const Problem x = planned(
            s, 132, holds("a transposed") ? MatrixOrder::column_major : MatrixOrder::row_major,
            b_across ? MatrixOrder::column_major : MatrixOrder::row_major);
        CAPTURE(line);
        CHECK(name(choose(x, kMuch)) == path);
        ++rows;
    }
    CHECK(rows > 70);
}

TEST_CASE("the chosen path supports the product on every device", "[day05][small]") {
    int legal = 0;
    const std::vector<std::int64_t> extents = {1, 3, 16, 17, 32, 33, 63, 64, 127, 128, 1000, 4096};
    for (const int multiprocessors : {1, 4, 46, 84, 132, 188}) {
        for (const std::int64_t M : extents) {
            for (const std::int64_t N : extents) {
                for (const std::int64_t K : {0, 1, 15, 16, 32, 33, 64, 768, 4099}) {
                    for (const MatrixOrder order :
                         {MatrixOrder::row_major, MatrixOrder::column_major,
                          MatrixOrder::odd_gaps}) {
                        const Problem x = planned({M, N, K}, multiprocessors, order, order, order);
                        const P with_room = choose(x, kMuch), without = choose(x, 0);
                        const std::string needs = missing(with_room, x) + missing(without, x);
                        if (needs == "" && without != P::split_k && ++legal > 0) continue;
                        FAIL(multiprocessors << " SMs, " << M << ", " << N << ", " << K << ": "
                                             << name(with_room) << " needs " << needs);
                    }
                }
            }
        }
    }
    CHECK(legal == 6 * 12 * 12 * 9 * 3);
}

TEST_CASE("more SMs need smaller tiles and more parts", "[day05][small]") {
    CHECK(cut_for(planned({1024, 1024, 64}, 4)) == WholeTile::large);
    CHECK(cut_for(planned({1024, 1024, 64}, 132)) == WholeTile::small);
    CHECK(cut_for(planned({2048, 2048, 64}, 132)) == WholeTile::large);
    CHECK(cut_for(planned({2048, 2048, 64}, 188)) == WholeTile::small);
    CHECK(parts_of(planned({16, 4096, 4096}, 46)) == 2);
    CHECK(parts_of(planned({16, 4096, 4096}, 84)) == 4);  // 5 does not divide 4,096
    CHECK(parts_of(planned({16, 4096, 4096}, 188)) == 8);
    CHECK(planned({1, 1, 1}).multiprocessors == 132);
    CHECK(problem_of({nullptr, Shape{1, 1}}, {nullptr, Shape{1, 1}}, {}, {nullptr, Shape{1, 1}})
              .multiprocessors == gpu::multiprocessors());
}

// --- each condition alone ------------------------------------------------------------------------

TEST_CASE("a single violated condition changes the choice", "[day05][small]") {
    const auto chosen = [](const Size& s, std::int64_t room = kMuch) {
        return std::string(name(choose(planned(s), room)));
    };
    // A K up to 32, and both extents above 16: step 16.
    CHECK(chosen({17, 17, 32}) == "shallow");
    CHECK(chosen({17, 17, 33}) == "skinny");
    CHECK(chosen({16, 17, 32}) == "skinny");
    CHECK(chosen({17, 16, 32}) == "skinny");
    // Memory for the parts, and parts that pay: step 15.
    const std::int64_t bytes = bytes_for_parts(planned({64, 64, 1024}));
    CHECK(chosen({64, 64, 1024}, bytes) == "split K");
    CHECK(chosen({64, 64, 1024}, bytes - 1) == "whole tiles");
    CHECK(chosen({64, 64, 1024}, 0) == "whole tiles");
    CHECK(chosen({64, 64, 1021}) == "whole tiles");      // a prime
    CHECK(chosen({4096, 4096, 4096}) == "whole tiles");  // enough blocks
    // Few rows: 2^25 multiply-adds; rows of b in float4s; fewer than two blocks per SM.
    CHECK(chosen({16, 1024, 2048}) == "split K");
    CHECK(chosen({16, 1024, 2047}) == "skinny");
    CHECK(chosen({16, 1020, 2048}) == "skinny");
    CHECK(chosen({16, 1026, 2048}) == "skinny");
    CHECK(chosen({16, 128 * 132, 2048}) == "split K");
    CHECK(chosen({16, 128 * 132 + 4, 2048}) == "skinny");
    // Up to 4 rows only if 132 SMs have fewer than 32 columns each.
    CHECK(chosen({4, 32 * 132 - 4, 4096}) == "split K");
    CHECK(chosen({4, 32 * 132, 4096}) == "skinny");
    CHECK(chosen({5, 32 * 132, 4096}) == "split K");
    // Transposed, few columns are not rows of float4s.
    CHECK(chosen({1024, 16, 2048}) == "skinny");
    // A whole tile and a K of 16: step 13; else step 14.
    CHECK(chosen({64, 64, 33}, 0) == "whole tiles");
    CHECK(chosen({63, 64, 33}, 0) == "skinny");
    CHECK(chosen({64, 63, 33}, 0) == "skinny");
    CHECK(chosen({32, 128, 33}, 0) == "whole tiles");
    CHECK(chosen({31, 128, 33}, 0) == "skinny");
    CHECK(chosen({32, 127, 33}, 0) == "skinny");
}

// --- which calls a path accepts ------------------------------------------------------------------

// One of these, chosen by number `i` of a call.
template <class X>
X draw(std::int64_t call, std::int64_t i, const std::vector<X>& of) {
    return of[testing::detail::random_bits(11, 64 * call + i) % of.size()];
}

// A matrix, or a stack of them, of unusual strides, at its own address that is never read.
template <class T>
Call::Argument drawn(const Shape& shape, std::int64_t call, std::int64_t operand, bool injective) {
    const std::int64_t i = 8 * operand, vector = 16 / std::int64_t{sizeof(T)};
    const int m = shape.rank - 2, n = m + 1;
    const bool rows = draw<int>(call, i, {1, 1, 1, 0}) != 0;
    const int along = rows ? n : m, across = rows ? m : n;
    Layout layout = row_major(shape);
    layout.strides[along] = draw<std::int64_t>(call, i + 1, {1, 1, 1, 1, 1, 1, 2, -1});
    const std::int64_t least = std::abs(layout.strides[along]) * shape[along];
    layout.strides[across] = draw<std::int64_t>(call, i + 2, {1, 1, 1, 1, -1}) *
                             ((least + vector - 1) / vector * vector +
                              draw<std::int64_t>(call, i + 3, {0, 0, vector, 0, 1}));
    if (!injective && draw<int>(call, i + 4, {0, 0, 0, 1}) != 0) {
        layout.strides[across] = draw<std::int64_t>(call, i + 3, {0, vector, 1});  // rows overlap
    }
    if (shape.rank > 2) {
        layout.strides[0] = std::abs(layout.strides[across]) * shape[across] * 4 +
                            draw<std::int64_t>(call, i + 5, {0, 0, 0, 1, vector / 2});
    }
    for (int d = 0; d < shape.rank; ++d) {
        if (shape[d] == 1) layout.strides[d] = draw<std::int64_t>(call, i + 6, {1, 7, -3});
    }
    const std::int64_t lead = draw<std::int64_t>(call, i + 7, {0, 0, 0, 0, 0, 0, 1, vector / 2});
    const auto address = static_cast<std::uintptr_t>(((operand + 1) << 40) + 16 * lead / vector);
    return {reinterpret_cast<std::byte*>(address), layout};
}

// A call's sizes around the limits of the paths, and its operands.
template <class T>
Product draw_product(std::int64_t call, Call& c) {
    const std::vector<std::int64_t> extents = {1, 2, 8, 31, 32, 63, 64, 127, 128};
    Product p{draw(call, 50, extents), draw(call, 51, extents)};
    p.K = draw<std::int64_t>(call, 52, {1, 8, 15, 16, 126, 127, 128, 128, 130, 192, 17 * 67});
    if (draw<int>(call, 53, {0, 0, 1}) != 0) p.stack_a = {2};
    if (draw<int>(call, 54, {0, 0, 1}) != 0) p.stack_b = {2};
    const auto bias_stride = draw<std::int64_t>(call, 55, {1, 2, 0, 1, -1});
    c.arguments = {
        drawn<T>(p.shape_of_a(), call, 0, false),
        drawn<T>(p.shape_of_b(), call, 1, false),
        drawn<float>(p.shape_of_out(), call, 2, true),
        {reinterpret_cast<std::byte*>(std::uintptr_t{1} << 50), Layout({p.N}, {bias_stride})}};
    return p;
}

// Each path accepts exactly the calls that its description lists, and both cases occur.
template <class Path, class Check>
void check_acceptance(const Operation& op, const Call& c, std::vector<std::array<int, 2>>& seen,
                      const Check& check) {
    for (std::size_t i = 0; i < op.paths.size(); ++i) {
        const auto path = static_cast<Path>(i);
        if (op.paths[i].name == "tile" && !gpu::has_tile()) continue;
        const bool accepts = op.paths[i].accepts(c);
        const std::string says = rejection([&] { check(path); });
        if (accepts == says.empty()) {
            seen[i][accepts] += 1;
            continue;
        }
        FAIL(op.paths[i].name << (accepts ? " must accept a " : " must reject a ")
                              << to_string(c.arguments[0].layout) << ", b "
                              << to_string(c.arguments[1].layout) << ", out "
                              << to_string(c.arguments[2].layout) << ": " << says);
    }
}

constexpr int kCalls = 2000;

TEST_CASE("matmul: each path accepts exactly the calls that its description lists",
          "[day05][small]") {
    std::vector<std::array<int, 2>> seen(static_cast<std::size_t>(P::tile) + 1);
    for (std::int64_t call = 0; call < kCalls; ++call) {
        Call c;
        const Product p = draw_product<float>(call, c);
        const Operation op = matmul_operation(p);
        if (!is_injective(c.arguments[2].layout)) continue;
        const View<const float> a = c.in<float>(0), b = c.in<float>(1);
        const View<float> out = c.out<float>(2);
        check_acceptance<P>(op, c, seen, [&](P path) {
            (void)plan_matmul(a, b, epilogue_of(p, c), out, {.path = path});
        });
        c.workspace.bytes = matmul_workspace_bytes(a, b, out);
        CHECK(int(choose_matmul(a, b, epilogue_of(p, c), out, c.workspace)) == op.best(c));
    }
    for (const P path : {P::vectorized, P::ring, P::whole_tiles, P::skinny, P::split_k, P::tile}) {
        if (path == P::tile && !gpu::has_tile()) continue;
        CAPTURE(name(path));
        CHECK(seen[static_cast<std::size_t>(path)][0] > 20);
        CHECK(seen[static_cast<std::size_t>(path)][1] > 20);
    }
}

TEMPLATE_TEST_CASE("matmul_bf16: each path accepts exactly the calls that its description lists",
                   "[day05][matmul_bf16][small]", float, bf16) {
    using B = MatmulBf16Path;
    using Out = TestType;
    std::vector<std::array<int, 2>> seen(static_cast<std::size_t>(B::tile) + 1);
    for (std::int64_t call = 0; call < kCalls; ++call) {
        Call c;
        const Product p = draw_product<bf16>(call, c);
        Operation op = matmul_bf16_operation<bf16, Out>(p);
        if (!is_injective(c.arguments[2].layout)) continue;
        const View<const bf16> a = c.in<bf16>(0), b = c.in<bf16>(1);
        check_acceptance<B>(op, c, seen, [&](B path) {
            check_matmul_bf16<bf16>(a, b, epilogue_of(p, c), c.out<Out>(2), path);
        });
        const View<Out> out = c.out<Out>(2);
        CHECK(int(choose_matmul_bf16<bf16>(a, b, epilogue_of(p, c), out)) == op.best(c));
        if (runs_hopper()) {
            constexpr bool kFloats = std::is_same_v<Out, float>;
            const bool apart = op.path(kFloats ? B::persistent : B::ping_pong).accepts(c);
            const B best = choose_matmul_bf16<bf16>(a, b, epilogue_of(p, c), out, true);
            CHECK((best == B::persistent || best == B::ping_pong) == apart);
        }
    }
    for (const B path :
         {B::ring, B::fragments_ahead, B::warpgroups, B::persistent, B::ping_pong, B::tile}) {
        if (path == B::tile ? !gpu::has_tile() : path > B::fragments_ahead && !runs_hopper())
            continue;
        const bool stores = path == B::fragments_ahead || path == B::ping_pong;
        if (!std::is_same_v<Out, float> && !stores) continue;
        CAPTURE(name(path));
        CHECK(seen[static_cast<std::size_t>(path)][0] > 10);
        CHECK(seen[static_cast<std::size_t>(path)][1] > 10);
    }
}

TEST_CASE("columns of vectors: each operand is judged by its own stack, pitch and address",
          "[day05][small]") {
    const Problem good = planned({8, 8, 8});
    const Problem turned =
        planned({8, 8, 8}, 132, MatrixOrder::column_major, MatrixOrder::column_major);
    const auto columns = [](const Problem& x) {
        return std::pair(a_columns_are_vectors(x), b_columns_are_vectors(x));
    };
    CHECK(columns(turned) == std::pair(true, true));
    const auto without = [&](auto change) {
        Problem x = turned;
        x.dims = 1;
        change(x);
        return columns(x);
    };
    CHECK(without([](Problem& x) { x.step_a[0] = x.step_b[0] = 8; }) == std::pair(true, true));
    CHECK(without([](Problem& x) { x.step_a[0] = 6; }) == std::pair(false, true));
    CHECK(without([](Problem& x) { x.step_b[0] = 6; }) == std::pair(true, false));
    CHECK(without([](Problem& x) { x.a_k = 9; }) == std::pair(false, true));
    CHECK(without([](Problem& x) { x.b_n = 9; }) == std::pair(true, false));
    CHECK(without([](Problem& x) { x.a_m = 2; }) == std::pair(false, true));
    CHECK(without([](Problem& x) { x.b_k = 2; }) == std::pair(true, false));
    CHECK(without([](Problem& x) { x.a = reinterpret_cast<float*>(std::uintptr_t{8}); }) ==
          std::pair(false, true));
    CHECK(without([](Problem& x) { x.b = reinterpret_cast<float*>(std::uintptr_t{8}); }) ==
          std::pair(true, false));
    CHECK(!a_has_vectors(turned));
    CHECK(!b_has_vectors(turned));
    CHECK(!a_columns_are_vectors(good));
    CHECK(!b_columns_are_vectors(good));
    CHECK(good.vectors_out);
    CHECK(!planned({8, 9, 8}).vectors_out);
}

TEST_CASE("a Problem is a product as plain numbers, and can be transposed", "[day05][small]") {
    float memory[400] = {};
    const View<float> out(memory, Layout({2, 1, 3, 5, 7}, {105, 9, 35, 7, 1}));
    const View<const float> a(memory, Layout({2, 1, 1, 5, 4}, {20, 9, 9, 4, 1}));
    const View<const float> b(memory, Layout({3, 4, 7}, {28, 1, 4})),
        bias(memory, Layout({7}, {2}));
    const Problem x = problem_of(a, b, {.alpha = 3, .beta = 2, .bias = bias, .relu = true}, out);
    CHECK((x.alpha == 3 && x.beta == 2 && x.relu && !x.swish));
    const Problem swish = problem_of(a, b, {.swish = true}, out);
    CHECK((swish.swish && !swish.relu && !in_parts(swish, 2, memory).swish));
    CHECK(x.dims == 2);  // the dimension of extent 1 is left out
    CHECK((x.extent[0] == 2 && x.extent[1] == 3));
    CHECK((x.step_a[0] == 20 && x.step_a[1] == 0));
    CHECK((x.step_b[0] == 0 && x.step_b[1] == 28));
    CHECK((x.step_out[0] == 105 && x.step_out[1] == 35));
    CHECK(stacked(x) == 6);
    CHECK((x.bias_m == 0 && x.bias_n == 2));
    const Problem y = transposed(x);
    CHECK((y.M == 7 && y.N == 5 && y.K == 4));
    CHECK((y.a_m == 4 && y.a_k == 1 && y.b_k == 1 && y.b_n == 4));
    CHECK((y.out_m == 1 && y.out_n == 7 && y.bias_m == 2 && y.bias_n == 0));
    CHECK((y.step_a[1] == 28 && y.step_b[0] == 20 && y.step_out[1] == 35));
    // Transposed only if that makes rows of out contiguous when they were not.
    CHECK(along_rows(x).M == 5);
    CHECK(along_rows(y).M == 5);
    CHECK(along_rows(planned({3, 5, 2}, 1, MatrixOrder::row_major, MatrixOrder::row_major,
                             MatrixOrder::every_other))
              .M == 3);
    // Parts are one more dimension, the outermost; each takes its part of K, and stores the bare
    // sums.
    const Problem parts = in_parts(x, 2, memory);
    CHECK((parts.dims == 3 && parts.K == 2 && parts.extent[0] == 2 && parts.extent[2] == 3));
    CHECK((parts.step_a[0] == 2 && parts.step_b[0] == 2 && parts.step_out[0] == 6 * 35));
    CHECK((parts.step_a[1] == 20 && parts.step_b[2] == 28));
    CHECK((parts.step_out[1] == 3 * 35 && parts.step_out[2] == 35));
    CHECK((parts.bias == nullptr && parts.alpha == 1 && parts.beta == 0 && !parts.relu));
    // Whether float4s can be stored depends on the parts, not on out.
    alignas(16) float room[256] = {};
    Problem vectors = planned({8, 6, 128}), none = planned({8, 8, 128});
    vectors.out_m = 8, none.out_m = 9;
    vectors.vectors_out = true, none.vectors_out = false;
    CHECK(!in_parts(vectors, 2, room).vectors_out);
    CHECK(in_parts(none, 2, room).vectors_out);
    CHECK(!in_parts(none, 2, room + 1).vectors_out);
}

TEST_CASE("a grid has at most 2^31 - 1 blocks", "[day05][small]") {
    const auto blocks = [](std::int64_t M, std::int64_t N, std::int64_t stack) {
        Problem x;
        x.M = M, x.N = N, x.dims = 1, x.extent[0] = stack;
        return cut_into_tiles(x, 8, 32);
    };
    CHECK(blocks(9, 33, 1) == 4);
    CHECK(blocks(8, 32, 2147483647) == 2147483647);
    const std::int64_t most = std::int64_t{1} << 40;
    for (const auto& [M, N, stack] : std::vector<std::array<std::int64_t, 3>>{
             {9, 32, 1 << 30}, {8, 33, 1 << 30}, {8, 32, 2147483648}, {most, most, most}}) {
        CHECK(contains(rejection([&, m = M, n = N, s = stack] { (void)blocks(m, n, s); }),
                       "are more than 2^31 - 1 tiles of (8, 32)"));
    }
}

// --- nothing to do, and nothing to read ----------------------------------------------------------

TEST_CASE("without outputs nothing is divided by their number", "[day05][small]") {
    CHECK(parts_of(planned({0, 64, 64})) == 0);
    CHECK(parts_of(planned({64, 0, 64})) == 0);
}

TEST_CASE("K = 0 allows null pointers and stacks of negative strides", "[day05][small]") {
    for (const std::int64_t step : {-12, 12}) {
        // More than a tile, so that some blocks begin at later rows and columns.
        const Shape shape{3, 40, 264};
        const View<const float> a(nullptr, Layout({3, 40, 0}, {step, 1, 1})),
            b(nullptr, Layout({3, 0, 264}, {-step, 264, 1}));
        HostOut<float> host(shape);
        matmul_cpu(a, b, host.view());
        CHECK(host.matches(Tensor<float>(shape)));
        for (const P path : all_paths()) {
            if (path == P::whole_tiles || path == P::split_k) continue;  // they need a K
            CAPTURE(name(path), step);
            DeviceOut<float> got(shape);
            matmul_cuda(a, b, got.view(), {.path = path});
            CHECK(got.matches(Tensor<float>(shape)));
        }
    }
}

// --- the loops in other orders -------------------------------------------------------------------

TEST_CASE("the loops in three orders give the same bits, and reject a stack", "[day05][small]") {
    const Tensor<float> a = seeded<float>({5, 70}, 1, -1, 1),
                        b = seeded<float>({70, 300}, 2, -1, 1);
    Tensor<float> stack({2, 5, 300});
    for (const auto& loop : {matmul_mnk, matmul_mkn, matmul_blocked}) {
        HostOut<float> want({5, 300}), got({5, 300});
        matmul_cpu(a.view(), b.view(), want.view());
        loop(a.view(), b.view(), got.view());
        CHECK(got.matches(want));
        const Tensor<float> two = seeded<float>({2, 5, 70}, 3, -1, 1);
        CHECK(contains(rejection([&] { loop(two.view(), b.view(), stack.view()); }), "rank"));
        CHECK(contains(rejection([&] { loop(b.view(), a.view(), got.view()); }), "so K is 300"));
    }
}

// --- what the bench reports ----------------------------------------------------------------------

TEST_CASE("the bench reports which output of a timed product is wrong", "[day05][small]") {
    const Sizes s{5, 70, 9};
    const Tensor<float> a = whole({5, 9}, 1), b = whole({9, 70}, 2);
    Tensor<float> out({5, 70});
    matmul_cpu(a.view(), b.view(), out.view());
    const auto sample = [&] {
        return wrong_sample(
            s, a.view(), b.view(), [](double sum, std::int64_t) { return sum; },
            [&](std::int64_t m) {
                return std::vector<float>(out.data() + m * 70, out.data() + (m + 1) * 70);
            });
    };
    CHECK(sample() == "");
    for (const auto& [m, n] :
         std::vector<std::array<std::int64_t, 2>>{{0, 0}, {2, 69}, {4, 0}, {4, 69}}) {
        const float right = out(m, n);
        out(m, n) = right + 1;
        CHECK(sample() == "output (" + std::to_string(m) + ", " + std::to_string(n) +
                              ") of (5, 70, 9) is " + std::to_string(right + 1) +
                              ", but summed in double it is " + std::to_string(right));
        out(m, n) = std::nanf("");
        CHECK(contains(sample(), "is nan, but"));
        out(m, n) = right;
    }
}

}  // namespace
