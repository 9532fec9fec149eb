// Tests of the set copy: independently derived answers, and every path against the exact result,
// over every element.
#include "common/testing/testing.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "common/tensor/walk.hpp"
#include "day03_views/copy.op.hpp"
#include "day03_views/tests/helpers.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// --- mistakes in hand-made views; Day 03's page shows these lines --------------------------------

TEST_CASE("hand-made views are wrong where the transforms are right", "[day03][copy][small]") {
    // [by hand]
    float memory[] = {0, 1, 2, 3, 4, 5};
    const View<float> x(memory, row_major({2, 3}));  // rows 0 1 2 and 3 4 5

    View<float> flipped = x;
    flipped.stride(0) = -x.stride(0);             // rows reversed, but the pointer has not moved:
    CHECK(offset(flipped.layout, {1, 0}) == -3);  // row 1 would be before the buffer
    CHECK(flip(x, 0).data == memory + 3);         // right: begin at the last row

    const View<float> turned(memory, Layout({3, 2}, {3, 1}));  // shape transposed, strides not
    CHECK(turned(0, 1) == 1);
    CHECK(transpose(x)(0, 1) == 3);  // right: strides (1, 3)
    // [by hand]

    const View<float> run(transpose(x).data, row_major({6}));  // a transpose is not contiguous
    CHECK(run(1) == 1);
    CHECK(transpose(x)(0, 1) == 3);  // its second element

    const View<float> rows = broadcast_to(select(x, 0, 0), {2, 3});
    CHECK(&rows(0, 1) == &rows(1, 1));  // two indices, one address: do not write
}

// --- copy: the CPU reference ---------------------------------------------------------------------

TEST_CASE("copies equal the results worked by hand", "[day03][copy][small]") {
    const Tensor<float> in({2, 3}, {1, 2, 3, 4, 5, 6});
    const auto expect = [&](const View<const float>& view, const Tensor<float>& want) {
        HostOut<float> out(view.shape());
        copy_cpu(view, out.view());
        CHECK(out.matches(want));
    };
    const View<const float> v = in.view();
    expect(transpose(v), Tensor<float>({3, 2}, {1, 4, 2, 5, 3, 6}));
    expect(flip(v, 1), Tensor<float>({2, 3}, {3, 2, 1, 6, 5, 4}));
    expect(columns(v, 1, 3), Tensor<float>({2, 2}, {2, 3, 5, 6}));
    expect(select(v, 0, 1), Tensor<float>({3}, {4, 5, 6}));
    expect(broadcast_to(column(v, 2), {2, 2}), Tensor<float>({2, 2}, {3, 6, 3, 6}));
    expect(windows(row(v, 0), 0, 2, 1), Tensor<float>({2, 2}, {1, 2, 2, 3}));
    expect(View<const float>(in.data(), Layout()), Tensor<float>(Shape{}, {1}));
}

TEST_CASE("a copy to a view of a row assigns the row", "[day03][copy][small]") {
    const Tensor<float> row_of({3}, {7, 8, 9});
    auto loop = HostOut<float>::holding(Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
    copy_cpu(row_of.view(), row(loop.view(), 1));
    CHECK(loop.matches(Tensor<float>({2, 3}, {1, 2, 3, 7, 8, 9})));
    DeviceIn<float> from(row_of);
    for (const auto& path : chosen_and_tile<CopyPath>()) {
        auto port = DeviceOut<float>::holding(Tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
        copy_cuda(from.view(), row(port.view(), 1), {.path = path});
        CHECK(port.matches(Tensor<float>({2, 3}, {1, 2, 3, 7, 8, 9})));
    }
}

TEST_CASE("a copy preserves every bit, also of NaNs", "[day03][copy][small]") {
    const Tensor<std::uint32_t> bits({5},
                                     {0x7FA00001, 0xFFC12345, 0x80000000, 0x00000001, 0x7F800000});
    DeviceIn<std::uint32_t> from(bits);
    const View<const float> in(reinterpret_cast<const float*>(from.view().data), Shape{5});
    for (const auto& path : chosen_and_tile<CopyPath>()) {
        DeviceOut<std::uint32_t> got(Shape{5});
        copy_cuda(in, View<float>(reinterpret_cast<float*>(got.view().data), Shape{5}),
                  {.path = path});
        CHECK(got.matches(bits));
    }
    for (const auto& path : chosen_and_tile<TransposePath>()) {
        DeviceOut<std::uint32_t> column({5, 1});
        const View<const float> row(in.data, Shape{1, 5});
        transpose_cuda(row, View<float>(reinterpret_cast<float*>(column.view().data), Shape{5, 1}),
                       {.path = path});
        CHECK(column.matches(Tensor<std::uint32_t>(
            {5, 1}, {0x7FA00001, 0xFFC12345, 0x80000000, 0x00000001, 0x7F800000})));
    }
}

// --- every path against the exact result ---------------------------------------------------------

void check_copy_of(int bytes, const Place& in, const Place& out) {
    CHECK(computes_its_result(copy_operation(bytes, in, out)));
}

TEST_CASE("the path tile copies several tiles along every dimension, at any address",
          "[day03][copy][small]") {
    // A tile is a run of 4,096 elements, or 64 x 64 of the last two dimensions. None of these
    // dimensions merge.
    const Shape matrix{65, 130}, cube{3, 65, 66}, four{2, 3, 65, 66};
    for (const int bytes : {1, 2, 4, 8}) {
        for (const std::int64_t lead : {0, 1}) {
            if (lead == 0 && bytes != 4) continue;
            check_copy_of(bytes, Place(row_major({5000}), lead), row_major({5000}));
            check_copy_of(bytes, Layout({8193}, {2}), Place(row_major({8193}), lead));
            check_copy_of(bytes, Place(pitched(matrix, 130 + lead)), pitched(matrix, 144));
            check_copy_of(bytes, pitched(matrix, 144), Place(pitched(matrix, 131), lead));
            check_copy_of(bytes, Place(column_major(cube), lead), row_major(cube));
        }
        check_copy_of(bytes, column_major(four), pitched(four, 67));
        // Rows of whole float4, whose alignment may be guaranteed: three tiles across, and two
        // down.
        check_copy_of(bytes, pitched({2, 72, 144}, 160), pitched({2, 72, 144}, 176));
    }
}

TEST_CASE("the path tile reports what it needs", "[day03][copy][small]") {
    alignas(16) static std::uint8_t memory[2][1 << 10];
    CHECK(rejection([&] {
              check_copy({memory[0], 16, column_major({4, 8})}, {memory[1], 16, row_major({4, 8})},
                         CopyPath::tile);
          }) ==
          "copy: the path 'tile' needs at most 8 bytes per element and, simplified, at most 4 "
          "dimensions with no negative stride, for CUDA Tile C++ takes strides for sizes; in has "
          "elements of 16 bytes, simplified shape (4, 8), strides (1, 4), out shape (4, 8), "
          "strides (8, 1)");
    for (const Shape& shape : {Shape{2, 3, 2, 3}, {2, 3, 2, 3, 2}}) {
        check_copy_of(4, column_major(shape), row_major(shape));
    }
}

TEST_CASE("copies of larger shapes are correct in every layout", "[day03][copy][full]") {
    for (const int bytes : {1, 2, 4, 8}) {
        CHECK(takes_every_order(copy_operation(bytes, {34, 3, 36})));
        CHECK(takes_every_order(copy_operation(bytes, {64, 48})));
        CHECK(takes_every_order(copy_operation(bytes, {17, 70})));
    }
    const Shape four{2, 33, 3, 34};
    int number = 0;
    for_each_layout(four, [&](const Layout& layout) {
        if (++number % 11 == 0) check_copy_of(4, layout, row_major(four));  // 69 of 768
    });
}

TEST_CASE("copies of a small shape are correct for pairs of layouts", "[day03][copy][full]") {
    int number = 0;
    for_each_layout({4, 3, 5}, [&](const Layout& in) {
        for_each_layout({4, 3, 5}, [&](const Layout& out) {
            if (++number % 5 == 0) check_copy_of(4, in, out);
        });
    });
}

TEST_CASE("copies between any two addresses are correct", "[day03][copy][small]") {
    for (std::int64_t a = 0; a < 17; ++a) {
        for (const std::int64_t b : {0, 1, 5}) {
            for (const std::int64_t n : {1, 15, 16, 47}) {
                check_copy_of(1, Place(row_major({n}), a), Place(row_major({n}), b));
            }
            check_copy_of(2, Place(row_major({5, 33}), a), Place(pitched({5, 33}, 35), b));
        }
    }
    for (const std::int64_t n : {1023, 4096, 4097, 5000}) {
        for (const auto& [a, b] : {std::pair{0, 0}, {3, 3}, {3, 2}, {2, 0}}) {
            check_copy_of(4, Place(row_major({n}), a), Place(row_major({n}), b));
        }
    }
}

TEST_CASE("rows of every width are copied between any two pitches", "[day03][copy][small]") {
    for (const std::int64_t K : {1, 2, 3, 4, 5, 7, 8, 16, 30, 32, 64}) {
        for (const std::int64_t pitch : {64, 65, 66, 68}) {
            check_copy_of(4, pitched({9, K}, pitch), row_major({9, K}));
            check_copy_of(1, row_major({9, K}), pitched({9, K}, pitch));
        }
    }
    // Copied in elements as wide as the pitch, address and length of both allow.
    const Layout rows = pitched({9, 32}, 36);
    for (const Place& odd : {Place(pitched({9, 32}, 40)), Place(pitched({9, 32}, 38)),
                             Place(pitched({9, 32}, 37)), Place(rows, 2), Place(rows, 1)}) {
        check_copy_of(4, odd, rows);
        check_copy_of(4, rows, odd);
    }
    check_copy_of(4, Layout({3, 2, 32}, {37, 112, 1}), Layout({3, 2, 32}, {40, 120, 1}));
    check_copy_of(2, Layout({9, 32}, {-32, 1}), row_major({9, 32}));
}

TEST_CASE("broadcast views are written out in full", "[day03][copy][small]") {
    const std::int64_t n = 48;
    for (const int bytes : {1, 2, 4, 8, 16}) {
        for (const Layout& in : {
                 Layout({37, n}, {0, 1}),      // a row, repeated
                 Layout({37, n}, {1, 0}),      // a column
                 Layout({37, n}, {0, 0}),      // one element
                 Layout({37, n + 1}, {1, 0}),  // rows of odd length
                 Layout({3, 5, n}, {-2, 1, 0}), Layout({3, 5, n}, {n, 0, 1}),
                 Layout({2, 2, 3, 2, 2, 32}, {6, 0, 1, 0, 3, 0}),
                 Layout({6, 9, 5}, {2, 1, 1}),  // overlapping windows
             }) {
            check_copy_of(bytes, in, row_major(in.shape));
        }
    }
    const Layout column({9, 32}, {1, 0});
    check_copy_of(4, Place(column, 1), row_major({9, 32}));
    check_copy_of(4, column, Place(row_major({9, 32}), 1));
    check_copy_of(4, column, pitched({9, 32}, 33));
    check_copy_of(4, Layout({9, 33}, {1, 0}), pitched({9, 33}, 36));
}

TEST_CASE("contiguous along different dimensions: transposed where one of them is longer than 32",
          "[day03][copy][small]") {
    for (const auto& [M, N] : {std::pair{40, 36}, {65, 41}, {33, 2}, {2, 33}, {32, 32}, {33, 33}}) {
        check_copy_of(4, column_major({M, N}), row_major({M, N}));
        check_copy_of(1, column_major({M, N}), row_major({M, N}));
    }
    check_copy_of(4, Layout({40, 36}, {2, 80}), row_major({40, 36}));  // no stride of 1 in in
    check_copy_of(4, Layout({3, 40, 36}, {1440, 1, 40}), row_major({3, 40, 36}));
    check_copy_of(4, Layout({40, 3, 36}, {1, 40, 120}), row_major({40, 3, 36}));
    for (const int bytes : {4, 8}) {
        check_copy_of(bytes, column_major({100, 17}), row_major({100, 17}));
        check_copy_of(bytes, column_major({17, 100}), row_major({17, 100}));
    }
    check_copy_of(4, Place(column_major({100, 17}), 1), row_major({100, 17}));
    check_copy_of(4, column_major({17, 100}), Place(row_major({17, 100}), 1));
    check_copy_of(4, permute(pitched({100, 17}, 20), {1, 0}), row_major({17, 100}));
    check_copy_of(4, permute(row_major({3, 10, 20}), {1, 2, 0}), row_major({10, 20, 3}));
    const Layout stack({2, 17, 100}, {1700, 1, 17});
    check_copy_of(4, stack, row_major({2, 17, 100}));
    check_copy_of(4, Layout({2, 17, 100}, {1701, 1, 17}), row_major({2, 17, 100}));
    check_copy_of(4, stack, Layout({2, 17, 100}, {1702, 100, 1}));
    for (const std::int64_t pair : {2, 4}) {  // of 8 and of 16 bytes
        const Layout in = permute(row_major({40, 50, pair}), {1, 0, 2});
        check_copy_of(4, in, row_major({50, 40, pair}));
    }
}

TEST_CASE("grouped heads: two query heads read each key head", "[day03][copy][small]") {
    // Keys (B, T, 3, d) for 6 query heads: (B, 6, T, d), where heads 2 g and 2 g + 1 read head g.
    const std::int64_t B = 2, T = 5, d = 8;
    const Layout heads = permute(row_major({B, T, 3, d}), {0, 2, 1, 3});
    const Layout grouped = broadcast_to(unsqueeze(heads, 2), {B, 3, 2, T, d});
    CHECK(offset(grouped, {1, 2, 0, 4, 7}) == offset(row_major({B, T, 3, d}), {1, 4, 2, 7}));
    CHECK(offset(grouped, {1, 2, 1, 4, 7}) == offset(grouped, {1, 2, 0, 4, 7}));
    check_copy_of(4, grouped, row_major(grouped.shape));
    check_copy_of(4, select(grouped, 0, 0).layout,
                  row_major({3, 2, T, d}));  // few enough for tiles
}

TEST_CASE("A + A^T in place depends on the loop order, and copying A^T to A is rejected",
          "[day03][copy][small]") {
    // By hand: in this order, a(1, 0) adds an a(0, 1) that is already a sum.
    Tensor<float> a({2, 2}, {1, 2, 10, 20});
    const View<float> x = a.view(), t = transpose(a.view());
    for (int m = 0; m < 2; ++m) {
        for (int n = 0; n < 2; ++n) x(m, n) += t(m, n);
    }
    CHECK(equal(a, Tensor<float>({2, 2}, {2, 12, 22, 40})));  // not 2, 12, 12, 40
    CHECK(rejection([&] { copy_cpu(t, x); }) != "");
    // Conservative: even and odd columns share no element, but their spans overlap.
    Tensor<float> b({2, 4});
    CHECK(rejection([&] { copy_cpu(slice(b.view(), 1, 0, 4, 2), slice(b.view(), 1, 1, 4, 2)); }) !=
          "");
}

// Columns of n, `gap` elements apart, to rows of S without gaps, and back.
void check_short_rows(int bytes, std::int64_t S, std::int64_t n, std::int64_t gap) {
    const Layout columns = pitched({S, n}, n + gap), rows = column_major({S, n});
    check_copy_of(bytes, rows, columns);
    check_copy_of(bytes, columns, rows);
}

TEST_CASE("one short dimension: copies are correct from 2 to 32, on either side",
          "[day03][copy][small]") {
    // 16 bytes more than the longest piece of S columns, padded to odd, in 16 KiB of shared memory.
    const auto long_enough = [](int bytes, std::int64_t S) {
        const auto most = static_cast<std::uint64_t>(16384 / bytes / (S | 1));
        return static_cast<std::int64_t>(std::bit_floor(most)) + 16 / bytes;
    };
    for (std::int64_t S = 2; S <= 33; ++S) {
        if (S % 8 < 4) check_short_rows(4, S, 133, 0);
        check_short_rows(4, S, long_enough(4, S), 0);  // moved unchanged, vector by vector
    }
    for (const std::int64_t S : {2, 3, 17, 31, 32}) {
        check_short_rows(8, S, 150, 0);
        check_short_rows(16, S, 80, 0);
        check_short_rows(1, S, long_enough(1, S), 0);
        check_short_rows(2, S, long_enough(2, S), 0);
        for (const int bytes : {1, 2, 4}) {
            const std::int64_t vector = 16 / bytes, n = bytes == 4 ? long_enough(4, S) : 5 * vector;
            check_short_rows(bytes, S, n + 1, vector - 1);  // the last vector is partial
            check_short_rows(bytes, S, n - 1, 1);           // and is the end of the memory
        }
    }
    // A slice: the short dimension is part of a longer one, so the rows have gaps. Also a stack.
    check_copy_of(4, permute(pitched({2, 100, 3}, 4), {0, 2, 1}), row_major({2, 3, 100}));
    check_copy_of(2, Place(column_major({700, 17}), 1), Place(row_major({700, 17}), 1));
}

TEST_CASE("short rows of even width cause few bank conflicts", "[day03][copy][small]") {
    // Padded: lanes that each take 16 bytes of a column, a group apart, share 8 banks: 4 wavefronts
    // instead of 1, and with the conflict-free run at most 3. Lanes that take one element each wrap
    // around at most once: 2 instead of 1 on one side. Unpadded: up to 32.
    gpu::Buffer<float> a(1 << 14), b(1 << 14);
    a.fill_bytes(1);
    for (const std::int64_t S : {2, 4, 8, 16, 32}) {
        for (const std::int64_t lead : {0, 1}) {  // short_rows_vectorized, then short_rows
            CAPTURE(S, lead);
            const Layout rows = column_major({S, 256}), columns = row_major({S, 256});
            for (const bool there : {true, false}) {
                const auto touched = gpu::touched([&] {
                    copy_untyped_cuda({a.data() + lead, 4, there ? rows : columns},
                                      {b.data(), 4, there ? columns : rows});
                });
                CHECK(touched.has_value() == gpu::is_emulated());
                if (!touched) continue;
                CHECK(2 * touched->passes <= (lead == 0 ? 6 : 3) * touched->fewest_passes);
            }
        }
    }
}

TEST_CASE("a copy too large for 31-bit indices is cut into pieces", "[day03][copy][small]") {
    const Layout in = permute(row_major({5, 7, 3}), {2, 0, 1});
    const Tensor<float> whole = distinct<float>({5, 7, 3});
    Tensor<float> values(in.shape);
    copy_cpu(View<const float>(whole.data(), in), values.view());
    DeviceIn<float> from(values, in);
    for (const std::int64_t most : {1, 2, 8, 34, 104, 105}) {
        CAPTURE(most);
        DeviceOut<float> got({3, 5, 7});
        int pieces = 0;
        const auto move = [&](const UntypedOut& to, const UntypedIn& part) {
            CHECK(to.layout.size() <= most);
            copy_untyped_cuda(part, to, {.path = CopyPath::any_layout});
            ++pieces;
        };
        in_pieces(most + 1, move, UntypedOut(got.view()), UntypedIn(from.view()));
        CHECK(got.matches(values));
        CHECK(pieces >= 105 / most);
    }
}

}  // namespace
