// Day 02 as a run: every line that says "ok" was checked a moment before.
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/lesson/options.hpp"
#include "common/lesson/report.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/tensor.hpp"
#include "day02_strides/bench/bench.hpp"
#include "day02_strides/gather.hpp"
#include "day02_strides/layouts.hpp"
#include "day02_strides/model.hpp"
#include "day02_strides/pitched.hpp"
#include "day02_strides/steps/steps.hpp"
#include "day02_strides/sweep.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;

namespace {

const char* const kTitle = "Day 02, strides";
const char* const kWhat =
    "A layout is a shape and a stride per dim, and a kernel that takes them runs on any layout.";

// Every element of the device buffer equal to the host's, bit for bit?
bool same(const gpu::Buffer<float>& got, const Tensor<float>& want) {
    const std::vector<float> host = got.download();
    return static_cast<std::int64_t>(host.size()) == want.size() &&
           std::memcmp(host.data(), want.data(), host.size() * sizeof(float)) == 0;
}

// --- 1 -------------------------------------------------------------------------------------------

void strides_from_a_shape(lesson::Report& report) {
    report.heading("1. From a shape to its strides: products, from one end or from the other");
    const Shape shape{2, 3, 4};
    const Layout rows = row_major(shape), columns = column_major(shape);
    std::printf(
        "   A stride says how many elements one step along a dim skips. If the last dim is the "
        "fast\n"
        "   one (row-major), it has stride 1, and each dim to the left skips all that the one to "
        "its\n"
        "   right holds; column-major begins at the left.\n\n");
    const auto line = [](const char* name, const std::string& a, const std::string& b,
                         const std::string& c, const char* direction) {
        std::printf("       %-14s %12s %13s %13s%s\n", name, a.c_str(), b.c_str(), c.c_str(),
                    direction);
    };
    const auto stride = [](const char* product, const Layout& layout, int d) {
        return product + std::to_string(layout.stride(d));
    };
    line("shape", "2", "3", "4", "");
    line("row-major", stride("3 * 4 = ", rows, 0), stride("4 * 1 = ", rows, 1), stride("", rows, 2),
         "     right to left");
    line("column-major", stride("", columns, 0), stride("2 * 1 = ", columns, 1),
         stride("3 * 2 = ", columns, 2), "     left to right");
    std::printf("\n");
    const std::int64_t r = offset(rows, 1, 0, 2), c = offset(columns, 1, 0, 2);
    report.check(r == 14,
                 "row-major, (1, 0, 2):    offset 1*12 + 0*4 + 2*1 = " + std::to_string(r));
    report.check(c == 13, "column-major, (1, 0, 2): offset 1*1 + 0*2 + 2*6 = " + std::to_string(c));
    std::string words;
    try {
        Tensor<float> x(shape);
        (void)at(x.view(), {1, 3, 0});
    } catch (const std::invalid_argument& refused) {
        words = refused.what();
    }
    report.check(!words.empty(), "at() looks at every index: \"" + words + "\"");
}

// --- 2 -------------------------------------------------------------------------------------------

void print_matrix(const char* title, const View<const int>& x) {
    std::printf("       %-36s", title);
    for (std::int64_t m = 0; m < x.extent(0); ++m) {
        std::printf("%s", m == 0 ? "" : "                                           ");
        for (std::int64_t k = 0; k < x.extent(1); ++k) std::printf(" %3d", x(m, k));
        std::printf("\n");
    }
    std::printf("\n");
}

void one_buffer_two_readers(lesson::Report& report) {
    report.heading(
        "2. One buffer, two readers: a layout is an agreement, the memory does not tell");
    const Tensor<int> memory({6}, {10, 20, 30, 40, 50, 60});
    std::printf("   The memory:  10 20 30 40 50 60\n\n");
    const View<const int> rows(memory.data(), row_major({2, 3}));
    const View<const int> columns(memory.data(), column_major({2, 3}));
    const View<const int> turned(memory.data(), column_major({3, 2}));
    print_matrix("(2, 3) row-major, strides (3, 1)", rows);
    print_matrix("(2, 3) column-major, strides (1, 2)", columns);
    print_matrix("(3, 2) column-major, strides (1, 3)", turned);
    report.check(rows(1, 0) == 40 && columns(1, 0) == 20,
                 "(1, 0) lies at offset 3 for the first reader, at 1 for the second");
    bool same_elements = true;
    for (std::int64_t m = 0; m < 2; ++m) {
        for (std::int64_t k = 0; k < 3; ++k) same_elements &= rows(m, k) == turned(k, m);
    }
    report.check(same_elements, "the third is the first transposed: nothing was moved for it");
}

// --- 3 -------------------------------------------------------------------------------------------

void gaps_and_backwards(lesson::Report& report) {
    report.heading("3. Strides that no shape gives: a pitch, and a negative one");
    const Layout pitched = pitched_rows(3, 3, 4);
    std::printf(
        "   Pitch 4, shape (3, 3), strides (4, 1): rows of 3 with room for 4.\n"
        "       offset    0  1  2  3  4  5  6  7  8  9 10\n"
        "       holds    00 01 02  . 10 11 12  . 20 21 22\n");
    report.check(offset(pitched, 2, 1) == 9, "(2, 1): offset 2*4 + 1 = 9, not 2*3 + 1");
    report.check(required_span(pitched) == 11,
                 "it needs memory for (3-1)*4 + (3-1)*1 + 1 = 11 elements, and holds 9");

    const Layout backwards({5}, {-1});
    std::printf(
        "\n   Shape (5), stride (-1): the pointer is where index 0 lies, at the far end.\n"
        "       offset   -4 -3 -2 -1  0\n"
        "       index     4  3  2  1  0\n");
    const Reach r = reach(backwards);
    report.check(r.lowest == -4 && r.highest == 0, "offsets reach from -4 to 0");
    gpu::Buffer<float> five(5);
    const auto refuses = [&](std::int64_t first) {
        try {
            (void)five.view(backwards, first);
            return false;
        } catch (const std::invalid_argument&) {
            return true;
        }
    };
    report.check(refuses(0) && !refuses(4),
                 "in a buffer of 5, index 0 may be element 4; at element 0 the view is refused");

    const Layout filled = cache_filled_to(5, 2, 3, 8, 4);
    std::printf(
        "\n   A cache (B, NH, capacity, d) = (2, 3, 8, 4) of which T = 5 positions are filled:\n"
        "       %s\n",
        to_string(filled).c_str());
    report.check(offset(filled, 0, 1, 0, 0) == 32,
                 "the next head begins 8 * 4 = 32 elements on, however many positions are filled");
}

// --- 4 -------------------------------------------------------------------------------------------

void three_questions(lesson::Report& report) {
    report.heading("4. Three questions to ask any layout, here six of shape (3, 4)");
    const struct {
        const char* what;
        Layout layout;
        bool injective, contiguous;
        std::int64_t span;
    } rows[] = {
        {"row-major", row_major({3, 4}), true, true, 12},
        {"column-major", column_major({3, 4}), true, false, 12},
        {"a pitch of 6", pitched_rows(3, 4, 6), true, false, 16},
        {"rows reversed", Layout({3, 4}, {-4, 1}), true, false, 12},
        {"one row, three times", Layout({3, 4}, {0, 1}), false, false, 4},
        {"windows of 4, 2 apart", Layout({3, 4}, {2, 1}), false, false, 8},
    };
    std::printf("       %-22s %-9s %-20s %-12s %s\n", "", "strides", "a place per index?",
                "contiguous?", "needs");
    bool ok = true;
    for (const auto& row : rows) {
        const bool injective = is_injective(row.layout), contiguous = is_contiguous(row.layout);
        const std::int64_t span = required_span(row.layout);
        std::printf("       %-22s %-9s %-20s %-12s %2lld elements\n", row.what,
                    to_string(row.layout.strides).c_str(), injective ? "yes" : "no: only read it",
                    contiguous ? "yes" : "no", static_cast<long long>(span));
        ok &= injective == row.injective && contiguous == row.contiguous && span == row.span;
    }
    std::printf("\n");
    report.check(ok, "as worked out by hand: (3-1)*|stride| + (4-1)*|stride| + 1 elements");
}

// --- 5 -------------------------------------------------------------------------------------------

void other_conventions(lesson::Report& report) {
    report.heading("5. The same numbers in others' words");
    const Layout x = row_major({2, 3, 4});
    const Strides bytes = byte_strides(x, 4);
    report.check(bytes == Strides{48, 16, 4} && equivalent(from_byte_strides(x.shape, bytes, 4), x),
                 "NumPy counts bytes: float32 strides (12, 4, 1) are " + to_string(bytes));
    const Shape wte{50257, 768};
    report.check(innermost_first(wte) == Dims{768, 50257},
                 "GGUF lists the fast dim first: GPT-2's wte " + to_string(wte) +
                     " stands there as " + to_string(innermost_first(wte)));
    report.check(
        row_major(wte).stride(0) == 768 &&
            equivalent(column_major(innermost_first(wte)), Layout(innermost_first(wte), {1, 768})),
        "and its rows are 768 long all the same: a reader must turn the list round");
    const Layout a = pitched_rows(3, 4, 6);
    const MatrixStrides strides = matrix_strides(a);
    report.check(strides.row == 6 && strides.column == 1 && leading_dimension(a) == 6,
                 "BLAS: rows of 4 with pitch 6 have row stride 6, column stride 1, and lda 6");
}

// --- 6 -------------------------------------------------------------------------------------------

void one_warp(lesson::Report& report) {
    report.heading("6. What one warp asks for: does adding 1 to threadIdx.x add 1 to the address?");
    const std::int64_t rows = 64, columns = 32;
    // Sums of rows: thread t walks along row t. dim 0 is j, the column; dim 1 is t, the row.
    const Layout row_wise({columns, rows}, {1, columns}), column_wise({columns, rows}, {rows, 1});
    std::printf(
        "   A matrix of 64 rows of 32 floats; thread t adds up row t. Its first load, in bytes:\n\n"
        "       lane               0     1     2     3   ...    31    sectors of 32 bytes\n");
    const auto print = [&](const char* name, const Layout& layout) {
        std::printf("       %-14s", name);
        for (const std::int64_t t : {0, 1, 2, 3, 31}) {
            std::printf("%s%6lld", t == 31 ? "   ..." : "",
                        static_cast<long long>(4 * offset(layout, 0, t)));
        }
        const std::int64_t sectors = sectors_asked_for(layout) / (columns * rows / 32);
        std::printf("    %lld\n", static_cast<long long>(sectors));
        return sectors;
    };
    const std::int64_t apart = print("row-major", row_wise);
    const std::int64_t together = print("column-major", column_wise);
    std::printf("\n");
    report.check(apart == 32 && together == 4,
                 "row-major: no, 32 floats come with 32 sectors; column-major: yes, with 4");

    Tensor<float> x({rows, columns}), sums({rows});
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
    const gpu::Buffer<float> in(x);
    gpu::Buffer<float> out(rows);
    sum_columns_cpu(View<const float>(x.data(), row_wise), sums.view());
    const auto touched =
        gpu::touched([&] { sum_columns_cuda(in.view(row_wise), out.view({rows})); });
    if (!touched) sum_columns_cuda(in.view(row_wise), out.view({rows}));
    report.check(sums(1) == 1520 && same(out, sums),
                 "row 1 holds 32 to 63, whose sum is 1,520; the port equals the loop");
    report.note(
        "The cure is one of two: let t walk the dim of stride 1, or store the matrix the other "
        "way.\n"
        "   `--trace` shows both.");
}

// --- 7 -------------------------------------------------------------------------------------------

void gather_any_layout(lesson::Report& report, bool timing) {
    report.heading("7. gather: one kernel that takes any layout; out(i, j, ...) = in(i, j, ...)");
    using Gather = void (*)(View<const float>, View<float>, gpu::Stream);
    const struct {
        const char* name;
        Gather gather;
    } ladder[] = {{"unravel", gather_unravel},
                  {"fast division", gather_fast_division},
                  {"by rank", gather_by_rank},
                  {"gather_cuda", gather_cuda}};
    const struct {
        const char* what;
        std::int64_t first;
        Layout layout;
    } cases[] = {{"(B, T, NH, d) read as (B, NH, T, d)", 0, Layout({2, 3, 5, 8}, {120, 8, 24, 1})},
                 {"rows of 9 with pitch 11", 0, pitched_rows(50, 9, 11)},
                 {"column-major", 0, column_major({30, 41})},
                 {"rows in reverse", 29 * 40, Layout({30, 40}, {-40, 1})},
                 {"one row, 30 times", 0, Layout({30, 40}, {0, 1})},
                 {"rank 6, contiguous", 0, row_major({2, 3, 2, 5, 1, 7})}};
    Tensor<float> memory({2000});
    for (std::int64_t i = 0; i < memory.size(); ++i) memory.data()[i] = static_cast<float>(i);
    const gpu::Buffer<float> device(memory);
    for (const auto& c : cases) {
        Tensor<float> want(c.layout.shape);
        gather_cpu({memory.data() + c.first, c.layout}, want.view());
        bool ok = true;
        for (std::int64_t i = 0; i < want.size(); ++i) {  // memory[k] holds k
            ok &= want.data()[i] ==
                  static_cast<float>(c.first + offset(c.layout, unravel(i, c.layout.shape)));
        }
        gpu::Buffer<float> got(want.size());
        const View<const float> in = device.view(c.layout, c.first);
        const View<float> out = got.view(c.layout.shape);
        for (const auto& step : ladder) {
            got.fill_bytes(0xff);
            step.gather(in, out, {});
            ok &= same(got, want);
        }
        char text[120];
        std::snprintf(text, sizeof text, "%-37s all ports equal the loop; takes %s", c.what,
                      name(choose_gather(in, out)));
        report.check(ok, text);
    }
    report.note(
        "simplify() first: the rank-6 tensor is one run of memory and needs no index at all; in\n"
        "   the first case four dims stay, and an extent of 8 lets the walk go by 16 bytes.");
    if (timing) time_gather(report, 32);
}

// --- 8 -------------------------------------------------------------------------------------------

void rows_with_room(lesson::Report& report) {
    report.heading("8. pitched: rows with room after them, copied and nothing else");
    const struct {
        std::int64_t M, K, in_pitch, out_pitch;
    } cases[] = {{7, 33, 36, 40}, {7, 33, 33, 35}, {100, 7, 8, 12}};
    for (const auto& c : cases) {
        const Layout from = pitched_rows(c.M, c.K, c.in_pitch);
        const Layout to = pitched_rows(c.M, c.K, c.out_pitch);
        Tensor<float> memory(Shape{required_span(from)}), want(Shape{required_span(to)});
        for (std::int64_t i = 0; i < memory.size(); ++i) memory(i) = static_cast<float>(i);
        std::memset(want.data(), 0xff, static_cast<std::size_t>(want.size()) * sizeof(float));
        pitched_cpu({memory.data(), from}, {want.data(), to});
        const gpu::Buffer<float> in(memory);
        gpu::Buffer<float> got(want.size());
        got.fill_bytes(0xff);
        pitched_cuda(in.view(from), got.view(to));
        char text[120];
        std::snprintf(text, sizeof text,
                      "(%lld, %lld), pitch %lld to %lld: rows equal, gaps untouched; %s",
                      static_cast<long long>(c.M), static_cast<long long>(c.K),
                      static_cast<long long>(c.in_pitch), static_cast<long long>(c.out_pitch),
                      name(choose_pitched(in.view(from), got.view(to))));
        report.check(same(got, want), text);
    }
}

// --- 9 -------------------------------------------------------------------------------------------

const std::vector<std::int64_t> kStrides = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,
                                            12, 13, 14, 15, 16, 32, 33, 64, 65, 128, 129};

// Loop and port at every stride, and the sectors that the emulator counts beside the model's.
void price_of_a_stride(lesson::Report& report) {
    report.heading("9. The price of a stride: reading every s-th element of a buffer");
    const std::int64_t J = 4, T = 256;
    Tensor<float> memory(Shape{J * T * 129});
    ramp_cpu(View<float>(memory.data(), Shape{J * 129, T}));
    const gpu::Buffer<float> in(memory);
    gpu::Buffer<float> sums(T), out(memory.size());
    std::printf(
        "   A warp asks for 32 floats, s elements apart. They lie in so many sectors of 32 bytes, "
        "and\n"
        "   so much of what moves was asked for, if memory moves 32 or 64 bytes at once:\n\n"
        "       stride   sectors of a warp   used of 32s   used of 64s\n");
    bool right = true, counted = true;
    for (const std::int64_t s : kStrides) {
        const Layout layout({J, T}, {T * s, s});
        Tensor<float> want({T});
        sum_columns_cpu(View<const float>(memory.data(), layout), want.view());
        const std::int64_t asked = sectors_asked_for(layout);
        const auto read = gpu::touched([&] { sum_columns_cuda(in.view(layout), sums.view({T})); });
        if (!read) sum_columns_cuda(in.view(layout), sums.view({T}));
        const auto wrote = gpu::touched([&] { ramp_cuda(out.view(layout)); });
        right &= same(sums, want);
        // sum_columns also writes T sums, 8 to a sector.
        if (read && wrote) counted &= read->sectors == asked + T / 8 && wrote->sectors == asked;
        std::printf("       %6lld   %17.0f   %9.1f %%   %9.1f %%\n", static_cast<long long>(s),
                    static_cast<double>(asked) / static_cast<double>(J * T / 32),
                    100 * useful_share(layout, moved_by_reading(layout, {32})),
                    100 * useful_share(layout, moved_by_reading(layout, {64})));
    }
    std::printf("\n");
    report.check(right, "sum_columns: the port equals the loop at every stride, bit for bit");
    if (gpu::is_emulated()) {
        report.check(counted, "the emulator counted these sectors, for sum_columns and for ramp");
    }
    time_sweep(report, {1, 2, 4, 8, 16, 32, 33});
}

// --- what the warps touch, for --trace -----------------------------------------------------------

void trace() {
    const std::int64_t rows = 64, columns = 32;
    gpu::Buffer<float> memory(rows * columns), sums(rows), out(rows * columns);
    memory.fill_bytes(0x3f);
    lesson::trace("sums of the rows of a row-major matrix (64, 32)", [&] {
        sum_columns_cuda(memory.view(Layout({columns, rows}, {1, columns})), sums.view({rows}));
    });
    lesson::trace("sums of the rows of a column-major matrix (64, 32)", [&] {
        sum_columns_cuda(memory.view(Layout({columns, rows}, {rows, 1})), sums.view({rows}));
    });
    const Layout pitched = pitched_rows(50, 32, 40);
    lesson::trace("pitched copy of (50, 32), pitch 40 to 32", [&] {
        pitched_cuda(memory.view(pitched), out.view({50, 32}));
    });
    lesson::trace("gather of a transposed matrix (32, 64)", [&] {
        gather_unravel(memory.view(column_major({32, 64})), out.view({32, 64}));
    });
}

int lesson_of_the_day(const lesson::Options& options) {
    if (options.trace) {
        trace();
        return 0;
    }
    lesson::Report report(kTitle, kWhat, options);
    if (options.bench) {
        time_gather(report, 64);
        time_gather_of_matrices(report);
        time_pitched(report);
        time_sweep(report, kStrides);
        return report.finish("");
    }
    strides_from_a_shape(report);
    one_buffer_two_readers(report);
    gaps_and_backwards(report);
    three_questions(report);
    other_conventions(report);
    one_warp(report);
    gather_any_layout(report, options.timing);
    rows_with_room(report);
    price_of_a_stride(report);
    return report.finish(
        "in section 7 read the memory with strides of your own; in section 9 predict the line\n"
        "for a stride of 24, then add it to kStrides and run again.");
}

}  // namespace

int main(int argc, char** argv) {
    int status = 0;
    const auto options = lesson::parse(argc, argv, std::string(kTitle) + ". " + kWhat, {}, status);
    if (!options) return status;
    try {
        return lesson_of_the_day(*options);
    } catch (const std::exception& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "\n%s\n", error.what());
        return 1;
    }
}
