// The choice among the paths, and what each refuses: every condition alone.
#include <fstream>
#include <sstream>

#include "common/testing/shared_workspace.hpp"
#include "day05_matmul/bench/samples.hpp"
#include "day05_matmul/loop_orders.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"
#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kMuch = std::int64_t{1} << 60;  // a workspace for anything

// A product without memory, on a device of so many multiprocessors.
Problem planned(const Size& s, int multiprocessors = 132, Lies a = Lies::row_major,
                Lies b = Lies::row_major, Lies out = Lies::row_major) {
    Problem x = problem_of({nullptr, layout_of({s.M, s.K}, a)}, {nullptr, layout_of({s.K, s.N}, b)},
                           {}, {nullptr, layout_of({s.M, s.N}, out)});
    x.multiprocessors = multiprocessors;
    return x;
}

// --- what was measured stays chosen --------------------------------------------------------------

TEST_CASE("132 multiprocessors: every measured shape is made by the path that was measured",
          "[day05][small]") {
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
        const Problem x =
            planned(s, 132, holds("a transposed") ? Lies::column_major : Lies::row_major,
                    b_across ? Lies::column_major : Lies::row_major);
        CAPTURE(line);
        CHECK(name(choose(x, kMuch)) == path);
        ++rows;
    }
    CHECK(rows > 70);
}

TEST_CASE("every choice is legal, whatever the device has", "[day05][small]") {
    int legal = 0;
    const std::vector<std::int64_t> extents = {1, 3, 16, 17, 32, 33, 63, 64, 127, 128, 1000, 4096};
    for (const int multiprocessors : {1, 4, 46, 84, 132, 188}) {
        for (const std::int64_t M : extents) {
            for (const std::int64_t N : extents) {
                for (const std::int64_t K : {0, 1, 15, 16, 32, 33, 64, 768, 4099}) {
                    for (const Lies lies : {Lies::row_major, Lies::column_major, Lies::odd_gaps}) {
                        const Problem x = planned({M, N, K}, multiprocessors, lies, lies, lies);
                        const P with_room = choose(x, kMuch), without = choose(x, 0);
                        const std::string needs = missing(with_room, x) + missing(without, x);
                        if (needs == "" && without != P::split_k && ++legal > 0) continue;
                        FAIL(multiprocessors << " multiprocessors, " << M << ", " << N << ", " << K
                                             << ": " << name(with_room) << " needs " << needs);
                    }
                }
            }
        }
    }
    CHECK(legal == 6 * 12 * 12 * 9 * 3);
}

TEST_CASE("more multiprocessors want smaller tiles and more parts", "[day05][small]") {
    CHECK(cut_for(planned({1024, 1024, 64}, 4)) == WholeTile::large);
    CHECK(cut_for(planned({1024, 1024, 64}, 132)) == WholeTile::small);
    CHECK(cut_for(planned({2048, 2048, 64}, 132)) == WholeTile::large);
    CHECK(cut_for(planned({2048, 2048, 64}, 188)) == WholeTile::small);
    CHECK(parts_of(planned({16, 4096, 4096}, 46)) == 2);
    CHECK(parts_of(planned({16, 4096, 4096}, 84)) == 4);  // 5 do not divide 4,096
    CHECK(parts_of(planned({16, 4096, 4096}, 188)) == 8);
    CHECK(planned({1, 1, 1}).multiprocessors == 132);
    CHECK(problem_of({nullptr, Shape{1, 1}}, {nullptr, Shape{1, 1}}, {}, {nullptr, Shape{1, 1}})
              .multiprocessors == gpu::multiprocessors());
}

// --- each condition alone ------------------------------------------------------------------------

TEST_CASE("each condition of the choice, false alone", "[day05][small]") {
    const auto chosen = [](const Size& s, std::int64_t room = kMuch) {
        return std::string(name(choose(planned(s), room)));
    };
    // A K up to 32, and both extents above 16: step 16.
    CHECK(chosen({17, 17, 32}) == "shallow");
    CHECK(chosen({17, 17, 33}) == "skinny");
    CHECK(chosen({16, 17, 32}) == "skinny");
    CHECK(chosen({17, 16, 32}) == "skinny");
    // Room for the parts, and parts that pay: step 15.
    const std::int64_t bytes = bytes_for_parts(planned({64, 64, 1024}));
    CHECK(chosen({64, 64, 1024}, bytes) == "split K");
    CHECK(chosen({64, 64, 1024}, bytes - 1) == "whole tiles");
    CHECK(chosen({64, 64, 1024}, 0) == "whole tiles");
    CHECK(chosen({64, 64, 1021}) == "whole tiles");      // a prime
    CHECK(chosen({4096, 4096, 4096}) == "whole tiles");  // blocks enough
    // Few rows: 2^25 multiply-adds; rows of b in quads; fewer than two blocks a multiprocessor.
    CHECK(chosen({16, 1024, 2048}) == "split K");
    CHECK(chosen({16, 1024, 2047}) == "skinny");
    CHECK(chosen({16, 1020, 2048}) == "skinny");
    CHECK(chosen({16, 1026, 2048}) == "skinny");
    CHECK(chosen({16, 128 * 132, 2048}) == "split K");
    CHECK(chosen({16, 128 * 132 + 4, 2048}) == "skinny");
    // Up to 4 rows only where 132 multiprocessors have less than 32 columns each.
    CHECK(chosen({4, 32 * 132 - 4, 4096}) == "split K");
    CHECK(chosen({4, 32 * 132, 4096}) == "skinny");
    CHECK(chosen({5, 32 * 132, 4096}) == "split K");
    // As seen from the other side, few columns are no rows of quads.
    CHECK(chosen({1024, 16, 2048}) == "skinny");
    // A whole tile and a K of 16: step 13; else step 14.
    CHECK(chosen({64, 64, 33}, 0) == "whole tiles");
    CHECK(chosen({63, 64, 33}, 0) == "skinny");
    CHECK(chosen({64, 63, 33}, 0) == "skinny");
    CHECK(chosen({32, 128, 33}, 0) == "whole tiles");
    CHECK(chosen({31, 128, 33}, 0) == "skinny");
    CHECK(chosen({32, 127, 33}, 0) == "skinny");
}

TEST_CASE("each condition of a path, false alone", "[day05][small]") {
    const auto needs = [](P path, const Size& s, Lies b = Lies::row_major,
                          Lies out = Lies::row_major) {
        return missing(path, planned(s, 132, Lies::row_major, b, out));
    };
    const struct {
        P path;
        Size taken;
        std::vector<Size> refused;
        const char* words;
    } cases[] = {
        {P::one_element, {1, 524280, 1}, {{1, 524281, 1}}, "at most 524280 columns"},
        {P::skinny, {63, 64, 1}, {{64, 64, 1}}, "fewer than 64 rows, or columns, of out"},
        {P::skinny, {64, 63, 1}, {{65, 64, 1}}, "fewer than 64 rows, or columns, of out"},
        {P::whole_tiles,
         {64, 64, 16},
         {{64, 64, 15}, {63, 64, 16}, {64, 63, 16}},
         "a K of 16 at least, and room for a tile of 64 x 64 or 32 x 128"},
        {P::whole_tiles, {32, 128, 16}, {{31, 128, 16}, {32, 127, 16}}, "a K of 16 at least"},
        // Whole tiles in parts of 64 at least, of at most 16; rows of quads for step 14.
        {P::split_k,
         {64, 64, 128},
         {{64, 64, 127}, {64, 64, 126}, {64, 64, 17 * 67}},
         "a K that is"},
        {P::split_k,
         {63, 64, 128},
         {{63, 64, 126}, {63, 66, 128}, {64, 63, 128}, {63, 60, 128}},
         "a K that is"},
        {P::split_k, {60, 60, 128}, {{61, 60, 128}}, "a K that is"},
        {P::split_k, {1, 64, 128}, {{1, 64, 127}, {1, 128 * 133, 128}}, "a K that is"},
    };
    for (const auto& c : cases) {
        CAPTURE(name(c.path), c.taken.M, c.taken.N, c.taken.K);
        CHECK(needs(c.path, c.taken) == "");
        for (const Size& s : c.refused) {
            CAPTURE(s.M, s.N, s.K);
            CHECK(contains(needs(c.path, s), c.words));
        }
    }
    CHECK(needs(P::whole_tiles, {128, 32, 16}) != "");
    CHECK(needs(P::whole_tiles, {128, 32, 16}, Lies::row_major, Lies::column_major) == "");
    CHECK(needs(P::whole_tiles, {32, 128, 16}, Lies::row_major, Lies::column_major) != "");
    CHECK(needs(P::split_k, {1, 64, 128}, Lies::column_major) != "");
    CHECK(needs(P::split_k, {64, 64, 128}, Lies::column_major) == "");
    for (const P path : kAnyLayout) CHECK(needs(path, {524281, 3, 0}) == "");
}

// Rows of quads: neighbours along a row, a pitch and every step of the stack in quads, and so the
// first element.
TEST_CASE("each condition of rows of quads, false alone, operand by operand", "[day05][small]") {
    const Problem good = planned({8, 8, 8});
    const auto with_quads = [](const Problem& x) {
        return std::vector<bool>{a_has_quads(x), b_has_quads(x), out_has_quads(x)};
    };
    CHECK(with_quads(good) == std::vector<bool>{true, true, true});
    const struct {
        std::int64_t Problem::*along;
        std::int64_t Problem::*pitch;
        std::int64_t (Problem::*step)[Problem::kMostDims];
    } operands[] = {{&Problem::a_k, &Problem::a_m, &Problem::step_a},
                    {&Problem::b_n, &Problem::b_k, &Problem::step_b},
                    {&Problem::out_n, &Problem::out_m, &Problem::step_out}};
    for (int which = 0; which < 3; ++which) {
        CAPTURE(which);
        std::vector<bool> others(3, true);
        others[static_cast<std::size_t>(which)] = false;
        const auto& [along, pitch, step] = operands[which];
        for (const std::int64_t bad : {0, 2, -1}) {
            Problem x = good;
            x.*along = bad;
            CHECK(with_quads(x) == others);
        }
        for (const std::int64_t bad : {9, 10, -6}) {
            Problem x = good;
            x.*pitch = bad;
            CHECK(with_quads(x) == others);
        }
        for (const int dims : {1, 2}) {
            Problem x = good;
            x.dims = dims;
            CHECK(with_quads(x) == std::vector<bool>{true, true, true});
            (x.*step)[dims - 1] = 6;
            CHECK(with_quads(x) == others);
            (x.*step)[dims - 1] = 8;
            CHECK(with_quads(x) == std::vector<bool>{true, true, true});
        }
        for (const std::uintptr_t bad : {4, 8, 12}) {
            Problem x = good;
            if (which == 0) x.a = reinterpret_cast<float*>(bad);
            if (which == 1) x.b = reinterpret_cast<float*>(bad);
            if (which == 2) x.out = reinterpret_cast<float*>(bad);
            CHECK(with_quads(x) == others);
        }
    }
    // Columns along memory: each operand asks its own stack, pitch and address.
    const Problem turned = planned({8, 8, 8}, 132, Lies::column_major, Lies::column_major);
    const auto columns = [](const Problem& x) {
        return std::pair(a_columns_are_quads(x), b_columns_are_quads(x));
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
    CHECK(!a_has_quads(turned));
    CHECK(!b_has_quads(turned));
    CHECK(!a_columns_are_quads(good));
    CHECK(!b_columns_are_quads(good));
    CHECK(good.quads_out);
    CHECK(!planned({8, 9, 8}).quads_out);
}

TEST_CASE("a product as plain numbers, and the same one transposed", "[day05][small]") {
    float memory[400] = {};
    const View<float> out(memory, Layout({2, 1, 3, 5, 7}, {105, 9, 35, 7, 1}));
    const View<const float> a(memory, Layout({2, 1, 1, 5, 4}, {20, 9, 9, 4, 1}));
    const View<const float> b(memory, Layout({3, 4, 7}, {28, 1, 4})),
        bias(memory, Layout({7}, {2}));
    const Problem x = problem_of(a, b, {.alpha = 3, .beta = 2, .bias = bias, .relu = true}, out);
    CHECK((x.alpha == 3 && x.beta == 2 && x.relu && !x.swish));
    const Problem swish = problem_of(a, b, {.swish = true}, out);
    CHECK((swish.swish && !swish.relu && !in_parts(swish, 2, memory).swish));
    CHECK(x.dims == 2);  // the dim of extent 1 is left out
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
    // Turned only if that makes rows of out run along memory where they did not.
    CHECK(along_rows(x).M == 5);
    CHECK(along_rows(y).M == 5);
    CHECK(
        along_rows(planned({3, 5, 2}, 1, Lies::row_major, Lies::row_major, Lies::every_other)).M ==
        3);
    // Parts are one dim more, the outermost; each takes its share of K, and leaves the bare sums.
    const Problem parts = in_parts(x, 2, memory);
    CHECK((parts.dims == 3 && parts.K == 2 && parts.extent[0] == 2 && parts.extent[2] == 3));
    CHECK((parts.step_a[0] == 2 && parts.step_b[0] == 2 && parts.step_out[0] == 6 * 35));
    CHECK((parts.step_a[1] == 20 && parts.step_b[2] == 28));
    CHECK((parts.step_out[1] == 3 * 35 && parts.step_out[2] == 35));
    CHECK((parts.bias == nullptr && parts.alpha == 1 && parts.beta == 0 && !parts.relu));
    // Whether quads can be written is asked of the parts, not of out.
    alignas(16) float room[256] = {};
    Problem quads = planned({8, 6, 128}), none = planned({8, 8, 128});
    quads.out_m = 8, none.out_m = 9;
    quads.quads_out = true, none.quads_out = false;
    CHECK(!in_parts(quads, 2, room).quads_out);
    CHECK(in_parts(none, 2, room).quads_out);
    CHECK(!in_parts(none, 2, room + 1).quads_out);
}

TEST_CASE("a stride that is never used keeps no operand from being quads", "[day05][small]") {
    const auto quads = [](const Shape& size, const Strides& a, const Strides& b,
                          const Strides& out) {
        const Problem x = problem_of({nullptr, Layout({size[0], size[2]}, a)},
                                     {nullptr, Layout({size[2], size[1]}, b)}, {},
                                     {nullptr, Layout({size[0], size[1]}, out)});
        return a_has_quads(x) && b_has_quads(x) && x.quads_out && along_rows(x).M == size[0];
    };
    CHECK(quads({8, 8, 8}, {8, 1}, {8, 1}, {8, 1}));
    CHECK(quads({1, 8, 8}, {3, 1}, {8, 1}, {3, 1}));   // one row of a and out
    CHECK(quads({8, 1, 8}, {8, 1}, {4, 7}, {4, 7}));   // one column of b and out
    CHECK(quads({8, 8, 1}, {4, 7}, {3, 1}, {8, 1}));   // one k
    CHECK(!quads({2, 8, 8}, {3, 1}, {8, 1}, {8, 1}));  // two rows, and so on
    CHECK(!quads({2, 8, 8}, {8, 1}, {8, 1}, {11, 1}));
    CHECK(!quads({8, 2, 8}, {8, 1}, {4, 7}, {4, 1}));
    CHECK(!quads({8, 2, 8}, {8, 1}, {4, 1}, {40, 7}));
    CHECK(!quads({8, 8, 2}, {4, 7}, {4, 1}, {8, 1}));
    CHECK(!quads({8, 8, 2}, {4, 1}, {3, 1}, {8, 1}));
    const auto at = [](std::int64_t n) { return Layout({n}, {5}); };
    const float one = 0;
    const auto step = [&](std::int64_t n) {
        return problem_of({nullptr, Shape{2, 3}}, {nullptr, Shape{3, n}},
                          {.bias = View<const float>(&one, at(n))}, {nullptr, Shape{2, n}})
            .bias_n;
    };
    CHECK(step(1) == 0);
    CHECK(step(2) == 5);
    // A column, whose rows are neighbours: it is no row as long as its own stride does.
    const Problem column = problem_of({nullptr, Shape{5, 3}}, {nullptr, Shape{3, 1}}, {},
                                      {nullptr, Layout({5, 1}, {1, 9})});
    CHECK(along_rows(column).M == 5);
}

TEST_CASE("a grid ends at 2^31 - 1 blocks", "[day05][small]") {
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
        CHECK(contains(refusal([&, m = M, n = N, s = stack] { (void)blocks(m, n, s); }),
                       "are more than 2^31 - 1 tiles of (8, 32)"));
    }
}

// --- nothing to do, and nothing to read ----------------------------------------------------------

TEST_CASE("no outputs: no path divides by them", "[day05][small]") {
    gpu::Buffer<std::byte> room(1 << 20);
    for (const auto& [M, N] : std::vector<std::array<std::int64_t, 2>>{{0, 64}, {64, 0}, {0, 0}}) {
        const View<const float> a(nullptr, Layout({M, 64}, {0, 0})),
            b(nullptr, Layout({64, N}, {0, 0}));
        CAPTURE(M, N);
        const Tensor<float> numbers = whole({64 * 64}, 1);
        const gpu::Buffer<float> memory(numbers);
        const View<const float> va = memory.view({M, 64}), vb = memory.view({64, N});
        const View<float> out(nullptr, Shape{M, N});
        matmul_cuda(va, vb, out, {.workspace = room});
        CHECK(matmul_workspace_bytes(va, vb, out) == 0);
        (void)choose_matmul(va, vb, {}, out, room);
        for (const P path : all_paths()) {
            CHECK(refusal([&] { matmul_cuda(va, vb, out, {.path = path, .workspace = room}); }) ==
                  "");
        }
    }
    CHECK(parts_of(planned({0, 64, 64})) == 0);
    CHECK(parts_of(planned({64, 0, 64})) == 0);
}

TEST_CASE("a K of 0: null pointers, and stacks of negative strides", "[day05][small]") {
    for (const std::int64_t step : {-12, 12}) {
        // More than a tile, so that blocks begin at other rows and columns than the first.
        const Shape shape{3, 40, 264};
        const View<const float> a(nullptr, Layout({3, 40, 0}, {step, 1, 1})),
            b(nullptr, Layout({3, 0, 264}, {-step, 264, 1}));
        HostOut<float> host(shape);
        matmul_cpu(a, b, host.view());
        CHECK(host.matches(Tensor<float>(shape)));
        for (const P path : paths_for_few_rows()) {
            CAPTURE(name(path), step);
            DeviceOut<float> got(shape);
            matmul_cuda(a, b, got.view(), {.path = path});
            CHECK(got.matches(Tensor<float>(shape)));
        }
    }
}

// --- the loops in other orders -------------------------------------------------------------------

TEST_CASE("the loops in three orders give the same bits, and refuse a stack", "[day05][small]") {
    const Tensor<float> a = seeded<float>({5, 70}, 1, -1, 1),
                        b = seeded<float>({70, 300}, 2, -1, 1);
    Tensor<float> stack({2, 5, 300});
    for (const auto& loop : {matmul_mnk, matmul_mkn, matmul_blocked}) {
        HostOut<float> want({5, 300}), got({5, 300});
        matmul_cpu(a.view(), b.view(), want.view());
        loop(a.view(), b.view(), got.view());
        CHECK(got.matches(want));
        const Tensor<float> two = seeded<float>({2, 5, 70}, 3, -1, 1);
        CHECK(contains(refusal([&] { loop(two.view(), b.view(), stack.view()); }), "rank"));
        CHECK(contains(refusal([&] { loop(b.view(), a.view(), got.view()); }), "so K is 300"));
    }
}

// --- what the bench notices ----------------------------------------------------------------------

TEST_CASE("the bench says which output of a timed product is wrong", "[day05][small]") {
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

// --- one workspace for all -----------------------------------------------------------------------

TEST_CASE("paths and shapes share one workspace, in any order", "[day05][kernels][small]") {
    const std::vector<Size> sizes = {{64, 64, 128}, {33, 132, 256}, {5, 64, 192},
                                     {64, 65, 130}, {1, 68, 256},   {20, 20, 20}};
    SharedWorkspace shared(1 << 20);
    for (int call = 0; call < 24; ++call) {
        const std::uint64_t bits = testing::detail::random_bits(7, call);
        const auto [M, N, K] = sizes[bits % sizes.size()];
        const Tensor<float> a = whole({M, K}, bits), b = whole({K, N}, bits + 1);
        HostOut<float> want({M, N});
        matmul_cpu(a.view(), b.view(), want.view());
        DeviceIn<float> da(a), db(b);
        DeviceOut<float> got({M, N});
        // Most of the calls in parts; some as is chosen, without a workspace or with one.
        std::optional<P> path;
        if (K > 20 && bits >> 32 & 3) path = P::split_k;
        const std::int64_t bytes = matmul_workspace_bytes(da.view(), db.view(), got.view(), path);
        CAPTURE(call, M, N, K, bool(path));
        matmul_cuda(da.view(), db.view(), got.view(),
                    {.path = path, .workspace = shared.next(bytes)});
        CHECK(got.matches(want));
        CHECK(shared.kept());
    }
}

}  // namespace
