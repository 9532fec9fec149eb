// Every condition of a choice, false alone: for each operand in turn one thing is changed that a
// faster path needs while all others hold. Then that path is not chosen, it is refused where it is
// asked for, and what is chosen instead moves every element.
#include <cstdint>
#include <string>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/tests/helpers.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// --- transpose -----------------------------------------------------------------------------------

// A stack of two matrices (M, N). What is 0 has no gap.
struct Stack {
    const char* what;
    std::int64_t M, N;
    TransposePath path;                        // that is chosen
    std::int64_t gap_in = 0, gap_out = 0;      // between rows, in elements
    std::int64_t apart_in = 0, apart_out = 0;  // between matrices
    std::int64_t lead_in = 0, lead_out = 0;
};

Layout layout_of(std::int64_t rows, std::int64_t columns, std::int64_t gap, std::int64_t apart) {
    const std::int64_t pitch = columns + gap;
    return Layout({2, rows, columns}, {rows * pitch + apart, pitch, 1});
}

template <class T>
void check_stack(const Stack& s, TransposePath better) {
    CAPTURE(s.what, sizeof(T));
    const Tensor<T> values = patterns<T>({2, s.M, s.N});
    const Layout in = layout_of(s.M, s.N, s.gap_in, s.apart_in);
    const Layout out = layout_of(s.N, s.M, s.gap_out, s.apart_out);
    const DeviceIn<T> from(values, in, Lead{s.lead_in});
    DeviceOut<T> got(out, Lead{s.lead_out}), refused(out, Lead{s.lead_out});
    HostOut<T> want({2, s.N, s.M});
    transpose_cpu(values.view(), want.view());
    CHECK(std::string(name(choose_transpose(from.view(), got.view()))) == name(s.path));
    transpose_cuda(from.view(), got.view());
    CHECK(got.matches(want));
    if (sizeof(T) <= 8 && gpu::has_tile()) {  // which makes promises of its own
        DeviceOut<T> by_tiles(out, Lead{s.lead_out});
        transpose_cuda(from.view(), by_tiles.view(), {.path = TransposePath::tile});
        CHECK(by_tiles.matches(want));
        CHECK(last_kernel() == "transpose_tile");
    }
    if (s.path == better) return;
    CHECK(contains(refusal([&] { transpose_cuda(from.view(), refused.view(), {.path = better}); }),
                   std::string("the path '") + name(better) + "' needs"));
    CHECK(refused.untouched());
}

using T = TransposePath;

TEST_CASE("quads of a transpose: each condition false alone, of in and of out",
          "[day03][transpose][conditions][small]") {
    const auto all = [](auto element, TransposePath quads, TransposePath other) {
        using E = decltype(element);
        const std::int64_t each = 16 / static_cast<std::int64_t>(sizeof(E));
        const std::int64_t M = 48, N = 64;
        const Stack cases[] = {
            {"all hold", M, N, quads},
            {"whole gaps", M, N, quads, each, 2 * each, each, 3 * each},
            {"ragged rows, whole pitches", M - 1, N - 3, quads, 3, 1, 0, 0},
            {"a ragged M, whole pitches", M - 1, N, quads, 0, 1},
            {"a ragged N, whole pitches", M, N - 3, quads, 3},
            {"pitch of in", M, N, other, 1},
            {"pitch of out", M, N, other, 0, 1},
            {"steps of in's stack", M, N, other, 0, 0, 1},
            {"steps of out's stack", M, N, other, 0, 0, 0, 1},
            {"address of in", M, N, other, 0, 0, 0, 0, 1},
            {"address of out", M, N, other, 0, 0, 0, 0, 0, 1},
            {"both addresses alike", M, N, other, 0, 0, 0, 0, 1, 1},
        };
        for (const Stack& s : cases) {
            // Half a quad is not enough for all of them.
            check_stack<E>(s, quads);
            Stack half = s;
            for (std::int64_t* part : {&half.gap_in, &half.gap_out, &half.apart_in, &half.apart_out,
                                       &half.lead_in, &half.lead_out}) {
                if (*part == 1) *part = each / 2;
            }
            if (s.path == other) check_stack<E>(half, quads);
        }
    };
    all(float(), T::quads, T::whole_sectors);
    all(bf16(), T::small_elements, T::whole_sectors);
    all(std::uint8_t(), T::small_elements, T::in_flight);
    // Elements of 8 bytes have no such step.
    check_stack<double>({"8 bytes", 48, 64, T::in_flight}, T::quads);
    check_stack<double>({"8 bytes", 48, 64, T::in_flight}, T::small_elements);
    check_stack<double>({"8 bytes", 48, 64, T::in_flight}, T::whole_sectors);
    check_stack<Bytes16>({"16 bytes", 48, 64, T::in_flight}, T::quads);
    check_stack<float>({"4 bytes", 48, 64, T::quads}, T::quads);
}

TEST_CASE("short rows of a transpose: each condition false alone, of in and of out",
          "[day03][transpose][conditions][small]") {
    const auto both_ways = [](const Stack& s) {  // rows of 3 are long ones of the transpose
        check_stack<float>(s, T::short_rows_quads);
        Stack back = s;
        std::swap(back.M, back.N);
        std::swap(back.gap_in, back.gap_out);
        std::swap(back.apart_in, back.apart_out);
        std::swap(back.lead_in, back.lead_out);
        check_stack<float>(back, T::short_rows_quads);
    };
    // in has 40 rows of 3, without gaps; out 3 rows of 40.
    for (const Stack& s : {
             Stack{"all hold", 40, 3, T::short_rows_quads},
             Stack{"whole gaps", 40, 3, T::short_rows_quads, 0, 4, 4, 8},
             Stack{"a gap between short rows", 40, 3, T::short_rows, 1},
             Stack{"a whole quad between short rows", 40, 3, T::short_rows, 4},
             Stack{"pitch of the long rows", 40, 3, T::short_rows, 0, 1},
             Stack{"half a quad between the long rows", 40, 3, T::short_rows, 0, 2},
             Stack{"steps of the short rows' stack", 40, 3, T::short_rows, 0, 0, 2},
             Stack{"steps of the long rows' stack", 40, 3, T::short_rows, 0, 0, 0, 2},
             Stack{"address of the short rows", 40, 3, T::short_rows, 0, 0, 0, 0, 2},
             Stack{"address of the long rows", 40, 3, T::short_rows, 0, 0, 0, 0, 0, 2},
             Stack{"32 are short", 36, 32, T::short_rows_quads},
         }) {
        both_ways(s);
    }
    // Where neither is short, and where both are, a square tile is taken.
    check_stack<float>({"33 are not", 36, 33, T::whole_sectors, 0, 0, 0, 0, 1}, T::short_rows);
    check_stack<float>({"33 are not", 33, 36, T::whole_sectors, 0, 0, 0, 0, 1}, T::short_rows);
    CHECK(choose_transpose({nullptr, 4, row_major({32, 32})}, {nullptr, 4, row_major({32, 32})}) ==
          T::quads);
    // Rows of a square are its long ones: out has no gaps, in only rows that begin at quads.
    const Tensor<float> square = patterns<float>({2, 20, 20});
    const Layout gaps({2, 20, 20}, {480, 24, 1}), none = row_major({2, 20, 20});
    const DeviceIn<float> from(square, gaps), tight(square, none);
    DeviceOut<float> got(none), apart(gaps);
    HostOut<float> want({2, 20, 20});
    transpose_cpu(square.view(), want.view());
    transpose_cuda(from.view(), got.view(), {.path = T::short_rows_quads});
    CHECK(got.matches(want));
    CHECK(contains(
        refusal([&] { transpose_cuda(tight.view(), apart.view(), {.path = T::short_rows_quads}); }),
        "the path 'short rows, quads' needs"));
    CHECK(apart.untouched());
    check_stack<double>({"8 bytes", 40, 3, T::short_rows}, T::short_rows_quads);
    check_stack<bf16>({"2 bytes", 40, 3, T::short_rows_quads}, T::short_rows_quads);
    check_stack<std::uint8_t>({"1 byte", 48, 3, T::short_rows_quads}, T::short_rows_quads);
    check_stack<std::uint8_t>({"a pitch of 40 bytes", 40, 3, T::short_rows}, T::short_rows_quads);
}

// --- copy ----------------------------------------------------------------------------------------

struct Copy {
    const char* what;
    Layout in, out;
    CopyPath path;
    int wide = 4;  // bytes of the plan's elements of out
    std::int64_t lead_in = 0, lead_out = 0;
};

void check_copy_case(const Copy& c, CopyPath better) {
    CAPTURE(c.what);
    const Tensor<float> memory = distinct<float>({required_span(c.in)});
    Tensor<float> values(c.in.shape);
    copy_cpu(View<const float>(memory.data() - reach(c.in).lowest, c.in), values.view());
    const DeviceIn<float> from(values, c.in, Lead{c.lead_in});
    DeviceOut<float> got(c.out, Lead{c.lead_out}), refused(c.out, Lead{c.lead_out});
    const CopyPlan plan = plan_copy(from.view(), got.view());
    CHECK(std::string(name(plan.path)) == name(c.path));
    CHECK(plan.out.element == c.wide);
    copy_cuda(from.view(), got.view());
    CHECK(got.matches(values));
    if (gpu::has_tile()) {  // which makes promises of its own
        DeviceOut<float> by_tiles(c.out, Lead{c.lead_out});
        copy_cuda(from.view(), by_tiles.view(), {.path = CopyPath::tile});
        CHECK(by_tiles.matches(values));
        CHECK(last_kernel() == "copy_tile");
    }
    CHECK(from.unchanged());
    if (c.path == better) return;
    CHECK(
        contains(refusal([&] { copy_cuda(from.view(), refused.view(), {.path = better}); }),
                 std::string("their path is '") + name(c.path) + "', not '" + name(better) + "'"));
    CHECK(refused.untouched());
}

TEST_CASE("what a copy asks for: each condition false alone, of in and of out",
          "[day03][copy][conditions][small]") {
    using P = CopyPath;
    const Layout rows = row_major({9, 32});
    // One run: no gap on either side, and equally far past 16 bytes.
    check_copy_case({"a run", rows, rows, P::one_run}, P::one_run);
    check_copy_case({"both 4 bytes past", rows, rows, P::one_run, 4, 1, 1}, P::one_run);
    check_copy_case({"in 4 bytes past", rows, rows, P::rows, 4, 1}, P::one_run);
    check_copy_case({"out 4 bytes past", rows, rows, P::rows, 4, 0, 1}, P::one_run);
    check_copy_case({"in 8 bytes past", rows, rows, P::rows, 8, 2}, P::one_run);
    check_copy_case({"gaps in in", pitched({9, 32}, 36), rows, P::rows, 16}, P::one_run);
    check_copy_case({"gaps in out", rows, pitched({9, 32}, 36), P::rows, 16}, P::one_run);
    // Rows as wide as pitch, address and length of both allow.
    const Layout apart = pitched({9, 32}, 36);
    for (const bool of_in : {true, false}) {
        const auto with = [&](const char* what, const Layout& odd, int wide,
                              std::int64_t lead = 0) {
            check_copy_case(of_in ? Copy{what, odd, apart, P::rows, wide, lead, 0}
                                  : Copy{what, apart, odd, P::rows, wide, 0, lead},
                            P::one_run);
        };
        with("whole pitch", pitched({9, 32}, 40), 16);
        with("pitch of half quads", pitched({9, 32}, 38), 8);
        with("odd pitch", pitched({9, 32}, 37), 4);
        with("half a quad past", pitched({9, 32}, 40), 8, 2);
        with("an element past", pitched({9, 32}, 40), 4, 1);
    }
    check_copy_case({"rows of half quads", pitched({9, 30}, 36), pitched({9, 30}, 40), P::rows, 8},
                    P::one_run);
    check_copy_case({"rows of odd length", pitched({9, 31}, 36), pitched({9, 31}, 40), P::rows, 4},
                    P::one_run);
    check_copy_case({"another dim's step", Layout({3, 2, 32}, {37, 112, 1}),
                     Layout({3, 2, 32}, {40, 120, 1}), P::rows, 4},
                    P::one_run);
    // One element of in for a run of out, which alone must be of whole quads.
    const Layout column({9, 32}, {1, 0});
    check_copy_case({"a column", column, rows, P::repeat, 16}, P::rows);
    check_copy_case({"a column at an odd place", column, rows, P::repeat, 16, 1}, P::repeat);
    check_copy_case({"to an odd place", column, rows, P::any_layout, 4, 0, 1}, P::repeat);
    check_copy_case({"to an odd pitch", column, pitched({9, 32}, 33), P::any_layout}, P::repeat);
    check_copy_case(
        {"rows of odd length", Layout({9, 33}, {1, 0}), pitched({9, 33}, 36), P::any_layout},
        P::repeat);
    // Nothing of out lies side by side.
    check_copy_case({"every other one", row_major({50}), Layout({50}, {2}), P::any_layout},
                    P::rows);
    // Transposed: in along another dim, and one of the two longer than 32.
    check_copy_case({"a matrix", column_major({40, 36}), row_major({40, 36}), P::transposed},
                    P::rows);
    check_copy_case({"33 rows", column_major({33, 2}), row_major({33, 2}), P::transposed}, P::rows);
    check_copy_case({"33 columns", column_major({2, 33}), row_major({2, 33}), P::transposed},
                    P::rows);
    check_copy_case({"32 of each", column_major({32, 32}), row_major({32, 32}), P::any_layout},
                    P::transposed);
    check_copy_case({"no dim of in along memory", Layout({40, 36}, {2, 80}), row_major({40, 36}),
                     P::any_layout},
                    P::transposed);
    check_copy_case({"in runs along the second of three", Layout({3, 40, 36}, {1440, 1, 40}),
                     row_major({3, 40, 36}), P::transposed},
                    P::rows);
    check_copy_case({"in runs along the first of three", Layout({40, 3, 36}, {1, 40, 120}),
                     row_major({40, 3, 36}), P::transposed},
                    P::rows);
}

TEST_CASE("nothing is copied only from a tensor to itself", "[day03][copy][conditions][small]") {
    gpu::Buffer<float> a(64), b(64);
    const UntypedOut here{a.data(), 4, row_major({4, 4})};
    using P = CopyPath;
    CHECK(plan_copy({a.data(), 4, row_major({4, 4})}, here).path == P::nothing);
    CHECK(plan_copy({b.data(), 4, row_major({4, 4})}, here).path == P::one_run);
    CHECK(plan_copy({a.data(), 4, column_major({4, 4})}, here).path != P::nothing);
    CHECK(plan_copy({b.data(), 4, row_major({4, 0})}, {a.data(), 4, row_major({4, 0})}).path ==
          P::nothing);
    // A stride that is never used changes nothing.
    CHECK(
        plan_copy({a.data(), 4, Layout({1, 4}, {99, 1})}, {a.data(), 4, row_major({1, 4})}).path ==
        P::nothing);
}

// --- add -----------------------------------------------------------------------------------------

TEST_CASE("quads of an add: each condition false alone, of a, of b and of out",
          "[day03][broadcast][conditions][small]") {
    using P = AddBroadcastPath;
    struct Operand {
        Layout layout;
        std::int64_t lead = 0;
    };
    const Layout apart = pitched({9, 32}, 36);
    const auto check = [](const char* what, const Operand& a, const Operand& b, const Operand& out,
                          P path) {
        CAPTURE(what);
        const Tensor<float> x = distinct<float>(a.layout.shape, 3);
        const Tensor<float> y = distinct<float>(b.layout.shape, 7);
        const DeviceIn<float> da(x, a.layout, Lead{a.lead}), db(y, b.layout, Lead{b.lead});
        DeviceOut<float> got(out.layout, Lead{out.lead}), refused(out.layout, Lead{out.lead});
        HostOut<float> want(out.layout.shape);
        add_broadcast_cpu(x.view(), y.view(), want.view());
        CHECK(choose_add_broadcast(da.view(), db.view(), got.view()) == path);
        add_broadcast_cuda(da.view(), db.view(), got.view());
        CHECK(got.matches(want));
        if (gpu::has_tile()) {  // which makes promises of its own
            DeviceOut<float> by_tiles(out.layout, Lead{out.lead});
            add_broadcast_cuda(da.view(), db.view(), by_tiles.view(), {.path = P::tile});
            CHECK(by_tiles.matches(want));
            CHECK(last_kernel() == "add_broadcast_tile");
        }
        if (path == P::quads) return;
        CHECK(contains(refusal([&] {
                           add_broadcast_cuda(da.view(), db.view(), refused.view(),
                                              {.path = P::quads});
                       }),
                       "the path 'quads' needs rows of whole quads"));
        CHECK(refused.untouched());
    };
    check("all hold", {apart}, {apart}, {apart}, P::quads);
    check("other whole pitches", {pitched({9, 32}, 40)}, {row_major({9, 32})}, {apart}, P::quads);
    // Each of the three in turn.
    for (int which = 0; which < 3; ++which) {
        CAPTURE(which);
        const auto with = [&](const char* what, const Operand& odd) {
            check(what, which == 0 ? odd : Operand{apart}, which == 1 ? odd : Operand{apart},
                  which == 2 ? odd : Operand{apart}, P::any_layout);
        };
        with("an element past 16 bytes", {apart, 1});
        with("half a quad past 16 bytes", {apart, 2});
        with("an odd pitch", {pitched({9, 32}, 37)});
        with("a pitch of half quads", {pitched({9, 32}, 38)});
        with("rows across memory", {column_major({9, 32})});
        with("every other element", {Layout({9, 32}, {64, 2})});
    }
    const Layout half = pitched({9, 30}, 36);
    check("rows of half quads", {half}, {half}, {half}, P::any_layout);
    // A bias for every column is one float a row, at any address and any step.
    for (const bool of_a : {true, false}) {
        const auto with = [&](const char* what, const Operand& bias, P path) {
            check(what, of_a ? bias : Operand{apart}, of_a ? Operand{apart} : bias, {apart}, path);
        };
        with("a column", {row_major({9, 1})}, P::quads);
        with("a column at an odd place", {row_major({9, 1}), 1}, P::quads);
        with("a column with odd steps", {Layout({9, 1}, {3, 1})}, P::quads);
        with("a row", {row_major({32})}, P::quads);
        with("a row at an odd place", {row_major({32}), 1}, P::any_layout);
        with("one element", {Layout(), 1}, P::quads);
    }
}

}  // namespace
