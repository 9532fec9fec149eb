// The lesson program of Day 02: every line marked "ok" has just been checked.
#include <cstdio>
#include <stdexcept>
#include <string>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/lesson/lesson.hpp"
#include "day02_strides/bench/bench.hpp"
#include "day02_strides/conventions.hpp"
#include "day02_strides/pack.hpp"
#include "day02_strides/pitched.hpp"
#include "day02_strides/run/timed.hpp"
#include "day02_strides/stride_cost.hpp"
#include "day02_strides/sweep.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace std::string_literals;

namespace {

void strides_from_a_shape(lesson::Report& report) {
    report.heading("1. From a shape to its strides: products from the right or from the left");
    std::puts(
        R"(   A stride says how many elements apart neighbours along a dimension are. Row-major: the
   last dimension has stride 1, and every other stride is the product of the extents to its
   right. Column-major: it is the product of the extents to its left.

       shape                     2             3             4
       row-major        3 * 4 = 12     4 * 1 = 4             1     right to left
       column-major              1     2 * 1 = 2     3 * 2 = 6     left to right
)");
    const Layout rows = row_major({2, 3, 4}), columns = column_major({2, 3, 4});
    report.check(rows.strides == Strides{12, 4, 1} && columns.strides == Strides{1, 2, 6},
                 "row_major() and column_major() give these strides");
    report.check(offset(rows, 1, 0, 2) == 14 && offset(columns, 1, 0, 2) == 13,
                 "(1, 0, 2) is at 1*12 + 0*4 + 2*1 = 14, or at 1*1 + 0*2 + 2*6 = 13");
    try {
        check_index({1, 3, 0}, rows.shape);
        report.check(false, "at() checks every index");
    } catch (const std::invalid_argument& rejected) {
        report.check(true, std::string("at() checks every index: \"") + rejected.what() + "\"");
    }
}

void one_buffer_two_readers(lesson::Report& report) {
    report.heading("2. One buffer, two readers: the memory does not record its layout");
    std::puts(R"(   The memory:  10 20 30 40 50 60

       (2, 3) row-major, strides (3, 1)      10  20  30
                                             40  50  60

       (2, 3) column-major, strides (1, 2)   10  30  50
                                             20  40  60

       (3, 2) column-major, strides (1, 3)   10  40
                                             20  50
                                             30  60
)");
    const int memory[] = {10, 20, 30, 40, 50, 60};
    const View<const int> rows(memory, row_major({2, 3})), columns(memory, column_major({2, 3}));
    const View<const int> transposed(memory, column_major({3, 2}));
    bool as_shown = true, same = true;
    for (int i = 0; i < 6; ++i) {
        const int m = i / 3, k = i % 3;
        as_shown &= rows(m, k) == 10 + 30 * m + 10 * k && columns(m, k) == 10 + 10 * m + 20 * k;
        same &= rows(m, k) == transposed(k, m);
    }
    report.check(as_shown, "(1, 0) is at offset 3 for the first reader, at 1 for the second");
    report.check(same, "the third is the transpose of the first, and no element was moved");
}

void gaps_and_backwards(lesson::Report& report) {
    report.heading("3. Strides that do not follow from the shape: a pitch, and a negative stride");
    std::puts(R"(   Pitch 4, shape (3, 3), strides (4, 1): rows of 3 with room for 4.
       offset    0  1  2  3  4  5  6  7  8  9 10
       holds    00 01 02  . 10 11 12  . 20 21 22)");
    const Layout pitched = pitched_rows(3, 3, 4), backwards({5}, {-1});
    report.check(offset(pitched, 2, 1) == 9, "(2, 1): offset 2*4 + 1 = 9, not 2*3 + 1");
    report.check(required_span(pitched) == 11,
                 "it spans (3-1)*4 + (3-1)*1 + 1 = 11 elements and holds 9");
    std::puts(R"(
   Shape (5), stride (-1): the pointer is at index 0, at the far end.
       offset   -4 -3 -2 -1  0
       index     4  3  2  1  0)");
    report.check(reach(backwards).lowest == -4 && reach(backwards).highest == 0,
                 "offsets range from -4 to 0: in a buffer of 5, index 0 must be element 4");
    const Layout filled = cache_filled_to(5, 2, 3, 8, 4);
    std::puts(
        "\n   A cache (B, H, capacity, D) = (2, 3, 8, 4) of which T = 5 positions are filled:");
    std::printf("       %s\n", to_string(filled).c_str());
    report.check(offset(filled, 0, 1, 0, 0) == 32,
                 "the next head is 8 * 4 = 32 elements away, however many positions are filled");
}

void three_questions(lesson::Report& report) {
    report.heading("4. Three of the four questions, for six layouts of shape (3, 4)");
    std::puts(R"(                              strides   injective?           contiguous?  needs
       row-major              (4, 1)    yes                  yes          12 elements
       column-major           (1, 3)    yes                  no           12 elements
       a pitch of 6           (6, 1)    yes                  no           16 elements
       rows reversed          (-4, 1)   yes                  no           12 elements
       one row, three times   (0, 1)    no, read only        no            4 elements
       rows of 4, 2 apart     (2, 1)    no, read only        no            8 elements
)");
    std::string answers;
    for (const Strides& strides : {Strides{4, 1}, {1, 3}, {6, 1}, {-4, 1}, {0, 1}, {2, 1}}) {
        const Layout l({3, 4}, strides);
        answers += std::string(is_injective(l) ? "yes" : "no") +
                   (is_contiguous(l) ? " yes " : " no ") + std::to_string(required_span(l)) + ", ";
    }
    report.check(answers == "yes yes 12, yes no 12, yes no 16, yes no 12, no no 4, no no 8, ",
                 "as computed by hand: (3-1)*|stride| + (4-1)*|stride| + 1 elements");
}

void other_conventions(lesson::Report& report) {
    report.heading("5. The same numbers in other libraries' terms");
    const Layout x = row_major({2, 3, 4}), pitched = pitched_rows(3, 4, 6);
    report.check(byte_strides(x, 4) == Strides{48, 16, 4} &&
                     equivalent(from_byte_strides({2, 3, 4}, {48, 16, 4}, 4), x),
                 "NumPy counts bytes: float32 strides (12, 4, 1) are (48, 16, 4)");
    const Dims listed = innermost_first({50257, 768});
    report.check(listed == Dims{768, 50257},
                 "GGUF, a file format for models, lists the dimension of stride 1 first: a table "
                 "(50257, 768) is stored as (768, 50257)");
    report.check(column_major(listed).stride(1) == 768,
                 "its rows still have 768 elements, so a reader must reverse the list");
    report.check(matrix_strides(pitched).row == 6 && leading_dimension(pitched) == 6,
                 "BLAS: rows of 4 with pitch 6 have row stride 6, column stride 1, and lda 6");
}

// A 64 x 32 matrix for sums of its rows: dimension 0 is j, the column; dimension 1 is t, the row.
const Layout kRowMajor({32, 64}, {1, 32}), kColumnMajor({32, 64}, {64, 1});

void one_warp(lesson::Report& report) {
    report.heading("6. What one warp requests: does adding 1 to threadIdx.x add 1 to the offset?");
    std::puts(
        R"(   A matrix of 64 rows of 32 floats. sum_columns gets its transposed view, so
   thread t adds up row t. Its first load, in bytes:

       lane               0     1     2     3   ...    31    sectors of 32 bytes
       row-major          0   128   256   384   ...  3968    32
       column-major       0     4     8    12   ...   124    4
)");
    const std::int64_t requests = 64;  // one per warp load: 64 * 32 elements, 32 lanes
    report.check(offset(kRowMajor, 0, 31) * 4 == 3968 && offset(kColumnMajor, 0, 31) * 4 == 124 &&
                     sectors_asked_for(kRowMajor) == 32 * requests &&
                     sectors_asked_for(kColumnMajor) == 4 * requests,
                 "32 sectors row-major, 4 column-major");
    Pair sums(sum_columns_cpu, kRowMajor, row_major({64}));
    sum_columns_cuda(sums.in(), sums.out());
    report.check(sums.is_right() && sums.written()[1] == 1520,
                 "row 1 holds 32 to 63, whose sum is 1,520; the kernel equals the CPU reference");
    report.note(
        R"(There are two fixes: let t run along the dimension of stride 1, or store the
   matrix transposed. `common/learn trace day02` shows both.)");
}

void pack_any_layout(lesson::Report& report) {
    report.heading("7. pack: one kernel that takes any layout; out(i, j, ...) = in(i, j, ...)");
    const std::pair<const char*, Layout> cases[] = {
        {"(B, T, H, D) as (B, H, T, D)  ", Layout({2, 3, 5, 8}, {120, 8, 24, 1})},
        {"rows of 9 with pitch 11       ", pitched_rows(50, 9, 11)},
        {"column-major                  ", column_major({30, 41})},
        {"rows in reverse               ", Layout({30, 40}, {-40, 1})},
        {"one row, 30 times             ", Layout({30, 40}, {0, 1})},
        {"rank 6, contiguous            ", row_major({2, 3, 2, 5, 1, 7})}};
    for (const auto& [what, layout] : cases) {
        Pair pair(pack_cpu, layout, row_major(layout.shape));
        pack_cuda(pair.in(), pair.out());
        report.check(pair.is_right(), what + "the kernel equals the CPU reference; path: "s +
                                          name(choose_pack(pair.in(), pair.out())));
    }
    report.note(
        R"(simplify() runs first. It leaves the rank-6 tensor one dimension, a contiguous run. The
   first case keeps four, and its innermost extent of 8 allows float4 (the path vectorized).
   Heads like these, by every optimization step:
)");
    pack_ladder(report, 32);
}

void rows_with_room(lesson::Report& report) {
    report.heading("8. pitched: copy padded rows, and leave the padding alone");
    const int cases[][4] = {{7, 33, 36, 40}, {7, 33, 33, 35}, {100, 7, 8, 12}};
    for (const auto& [M, K, in_pitch, out_pitch] : cases) {
        Pair pair(pitched_cpu, pitched_rows(M, K, in_pitch), pitched_rows(M, K, out_pitch));
        pitched_cuda(pair.in(), pair.out());
        char text[120];
        std::snprintf(text, sizeof text,
                      "(%d, %d), pitch %d to %d: rows equal, gaps untouched; path: %s", M, K,
                      in_pitch, out_pitch, name(choose_pitched(pair.in(), pair.out())));
        report.check(pair.is_right(), text);
    }
}

void price_of_a_stride(lesson::Report& report) {
    report.heading("9. The cost of a stride: reading every s-th element of a buffer");
    std::puts(
        R"(   A warp loads 32 floats that are s elements apart. How many 32-byte sectors hold them,
   and what fraction of the moved bytes is used, if memory moves 32 or 64 bytes at once?

       stride    sectors per warp    used, 32 B    used, 64 B)");
    const std::int64_t J = 4, T = 256;
    gpu::Buffer<float> out(J * T * 129);
    bool right = true, as_counted = true;
    for (const std::int64_t s : kStrides) {
        const Layout layout({J, T}, {T * s, s});
        Pair sums(sum_columns_cpu, layout, row_major({T}));
        sum_columns_cuda(sums.in(), sums.out());
        right &= sums.is_right();
        const std::int64_t asked = sectors_asked_for(layout);
        const auto read = gpu::touched([&] { sum_columns_cuda(sums.in(), sums.out()); });
        const auto wrote = gpu::touched([&] { ramp_cuda(out.view(layout)); });
        // sum_columns also writes T sums, 8 per sector.
        as_counted &= !read || (read->sectors == asked + T / 8 && wrote->sectors == asked);
        std::printf("       %6d   %17d   %9.1f %%   %9.1f %%\n", static_cast<int>(s),
                    static_cast<int>(asked / (J * T / 32)),
                    100 * useful_fraction(layout, moved_by_reading(layout, {32})),
                    100 * useful_fraction(layout, moved_by_reading(layout, {64})));
    }
    std::puts("");
    report.check(right,
                 "sum_columns: the kernel equals the CPU reference at every stride, bit for bit");
    if (gpu::is_emulated()) {
        report.check(as_counted,
                     "the emulator counts the same sectors, for sum_columns and for ramp");
    }
    time_sweep(report, {1, 2, 4, 8, 16, 32, 33});
}

}  // namespace

int main(int argc, char** argv) {
    return lesson::run(
        argc, argv,
        {.title = "Day 02, strides",
         .shows =
             "A layout is a shape and a stride per dimension. A kernel that takes both runs on "
             "any layout.",
         .sections = {strides_from_a_shape, one_buffer_two_readers, gaps_and_backwards,
                      three_questions, other_conventions, one_warp, pack_any_layout, rows_with_room,
                      price_of_a_stride},
         .trace = trace_all,
         .bench = bench_all,
         .try_this =
             "in section 7, read the memory with strides that you choose. In section 9, predict "
             "the line\n"
             "for a stride of 24, then add it to kStrides (run/timed.hpp) and run again."});
}
