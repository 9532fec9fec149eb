// The proof of the set copy: the loop against answers from outside the code, every path against the
// loop, over every element.
#include "common/testing/testing.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"
#include "common/gpu/trace.hpp"
#include "common/tensor/transform.hpp"
#include "common/tensor/walk.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/tests/helpers.hpp"
#include "day03_views/transpose.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// --- what goes wrong where a view is made by hand; Day 03's page shows these lines ---------------

TEST_CASE("views made by hand, and what is wrong with them", "[day03][copy][small]") {
    // [by hand]
    float memory[] = {0, 1, 2, 3, 4, 5};
    const View<float> x(memory, row_major({2, 3}));  // rows 0 1 2 and 3 4 5

    View<float> flipped = x;
    flipped.stride(0) = -x.stride(0);             // rows backwards. But the pointer stayed:
    CHECK(offset(flipped.layout, {1, 0}) == -3);  // row 1 would lie before the buffer
    CHECK(flip(x, 0).data == memory + 3);         // right: begin at the last row

    const View<float> turned(memory, Layout({3, 2}, {3, 1}));  // the shape turned, the strides not
    CHECK(turned(0, 1) == 1);
    CHECK(transpose(x)(0, 1) == 3);  // right: strides (1, 3)

    const View<float> run(transpose(x).data, row_major({6}));  // a transpose is no run of memory
    CHECK(run(1) == 1);
    CHECK(transpose(x)(0, 1) == 3);  // its second element

    const View<float> rows = broadcast_to(select(x, 0, 0), {2, 3});
    CHECK(&rows(0, 1) == &rows(1, 1));  // two indices, one place: do not write
    // [by hand]
}

// --- copy: the loop ------------------------------------------------------------------------------

TEST_CASE("copies worked by hand", "[day03][copy][small]") {
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

TEST_CASE("a row is assigned through a view of it", "[day03][copy][small]") {
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

TEST_CASE("bits arrive as they are, those of NaNs too", "[day03][copy][small]") {
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

// --- copy: port against loop ---------------------------------------------------------------------

// Values that `in` can hold: where it shows an element twice, both are the same.
template <class T>
Tensor<T> values_for(const Layout& in) {
    const Tensor<T> memory = patterns<T>({required_span(in)});
    Tensor<T> values(in.shape);
    if (in.size() == 0) return values;
    copy_cpu(View<const T>(memory.data() - reach(in).lowest, in), values.view());
    return values;
}

// By tiles; or refused, for some of these layouts walk backwards.
template <class T>
void check_copy_tiles(const DeviceIn<T>& from, const Tensor<T>& values, const Layout& out,
                      Lead lead_out) {
    if (!gpu::has_tile()) return;
    DeviceOut<T> got(out, lead_out);
    const CopyPlan plan = plan_copy(from.view(), got.view(), CopyPath::tile);
    const auto by_tiles = [&] { copy_cuda(from.view(), got.view(), {.path = CopyPath::tile}); };
    if (plan.path == CopyPath::tile &&
        !(sizeof(T) <= 8 && takes_tiles(plan.in.layout) && takes_tiles(plan.out.layout))) {
        REQUIRE(refusal(by_tiles).find("copy: the path 'tile' needs elements of 8 bytes") == 0);
        REQUIRE(got.untouched());
        return;
    }
    by_tiles();
    REQUIRE(got.matches(values));
    if (plan.path == CopyPath::tile) REQUIRE(last_kernel() == "copy_tile");
}

// By the path that copy_cuda chooses, and by tiles.
template <class T>
void check_copy_port(const Layout& in, const Layout& out, Lead lead_in = {}, Lead lead_out = {}) {
    CAPTURE(sizeof(T), to_string(in), to_string(out), lead_in.elements, lead_out.elements);
    const Tensor<T> values = values_for<T>(in);
    DeviceIn<T> from(values, in, lead_in);
    check_copy_tiles(from, values, out, lead_out);
    DeviceOut<T> got(out, lead_out);
    copy_cuda(from.view(), got.view());
    REQUIRE(got.matches(values));
    REQUIRE(from.unchanged());
}

// By the paths that take any two layouts as well.
template <class T>
void check_copy_ports(const Layout& in, const Layout& out) {
    check_copy_port<T>(in, out);
    const Tensor<T> values = values_for<T>(in);
    DeviceIn<T> from(values, in);
    for (const CopyPath path : {CopyPath::one_element, CopyPath::any_layout}) {
        CAPTURE(name(path), sizeof(T), to_string(in), to_string(out));
        DeviceOut<T> got(out);
        copy_cuda(from.view(), got.view(), {.path = path});
        REQUIRE(got.matches(values));
        const bool twin = path == CopyPath::one_element && values.size() > 0;
        if (twin) REQUIRE(last_kernel() == "copy_kernel");
    }
}

TEST_CASE("a copy in tiles: more of them than one along every dim, at any address",
          "[day03][copy][small]") {
    // A tile is a run of 4,096 elements, or 64 x 64 of the last two dims. None of these dims merge.
    const auto all = [](auto element) {
        using T = decltype(element);
        const Shape matrix{65, 130}, cube{3, 130, 65}, four{2, 3, 65, 66};
        for (const std::int64_t lead : {0, 1}) {
            check_copy_port<T>(Layout({5000}, {1}), Layout({5000}, {1}), {lead}, {0});
            check_copy_port<T>(Layout({8193}, {2}), Layout({8193}, {1}), {0}, {lead});
            for (const std::int64_t gap : {0, 1}) {
                check_copy_port<T>(pitched(matrix, 130 + gap), pitched(matrix, 144), {lead}, {0});
                check_copy_port<T>(pitched(matrix, 144), pitched(matrix, 130 + gap), {0}, {lead});
            }
            check_copy_port<T>(column_major(matrix), row_major(matrix), {lead}, {lead});
            check_copy_port<T>(column_major(cube), row_major(cube), {0}, {lead});
            check_copy_port<T>(column_major(four), pitched(four, 67), {lead}, {0});
            check_copy_port<T>(Layout(four, {3 * 65 * 80, 65 * 80, 80, 1}),
                               Layout(four, {3 * 70 * 96, 70 * 96, 96, 1}), {0}, {lead});
        }
        // Of whole quads, which may be promised: three tiles across, and two down.
        check_copy_port<T>(pitched({2, 3, 72, 144}, 160), pitched({2, 3, 72, 144}, 176));
        check_copy_port<T>(row_major({8192 + 16}), row_major({8192 + 16}));
    };
    all(std::uint8_t{});
    all(bf16{});
    all(float{});
    all(double{});
}

TEST_CASE("a copy in tiles: each condition is false alone", "[day03][copy][small]") {
    alignas(16) static std::uint8_t memory[2][1 << 15];
    const auto refused = [&](int element, const Layout& in, const Layout& out) {
        return refusal([&] {
            check_copy({memory[0] + 4096, element, in}, {memory[1] + 4096, element, out},
                       CopyPath::tile);
        });
    };
    const Shape matrix{4, 8}, four{2, 3, 2, 3}, five{2, 3, 2, 3, 2};
    const Layout plain = row_major(matrix);
    for (const int element : {1, 2, 4, 8}) {
        CHECK(refused(element, column_major(matrix), plain) == "");
        CHECK(refused(element, column_major(four), row_major(four)) == "");
    }
    CHECK(refused(4, Layout({4, 1}, {1, -9}), Layout({4, 1}, {2, 1})) == "");
    CHECK(refused(4, Layout(matrix, {-16, 2}), Layout(matrix, {-8, 1})) == "");  // both turned
    CHECK(refused(16, column_major(matrix), plain) ==
          "copy: the path 'tile' needs elements of 8 bytes at most and, after simplifying, 4 dims "
          "at most with no negative stride, for CUDA Tile C++ takes strides for sizes; in has "
          "elements of 16 bytes, simplified shape (4, 8), strides (1, 4), out shape (4, 8), "
          "strides (8, 1)");
    const std::string needs = "with no negative stride, for CUDA Tile C++ takes strides for sizes";
    CHECK(contains(refused(4, column_major(five), row_major(five)), needs));
    CHECK(contains(refused(4, Layout(matrix, {-16, 2}), plain), needs));
    CHECK(contains(refused(4, Layout(matrix, {16, -2}), plain), needs));
    CHECK(contains(refused(4, Layout(matrix, {1, 4}), Layout(matrix, {-8, 1})), needs));
    CHECK(contains(refused(4, Layout(matrix, {1, 4}), Layout(matrix, {8, -1})), needs));
}

TEST_CASE("small shapes in every order, flipped or not, with gaps or not", "[day03][copy][small]") {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{5}, Shape{2, 3}, Shape{3, 0},
                               Shape{1, 4}, Shape{2, 3, 4}, Shape{3, 1, 2}}) {
        for_each_layout(shape, [&](const Layout& layout) {
            check_copy_ports<float>(layout, row_major(shape));
            check_copy_ports<float>(row_major(shape), layout);
            check_copy_ports<std::uint8_t>(layout, column_major(shape));
        });
    }
}

// Around a tile, and with a short dim: all paths.
TEST_CASE("a larger shape in every order, flipped or not, with gaps or not",
          "[day03][copy][small]") {
    for (const Shape& shape : {Shape{34, 3, 37}, Shape{65, 48}}) {
        for_each_layout(
            shape, [&](const Layout& layout) { check_copy_port<float>(layout, row_major(shape)); });
    }
}

template <class T>
void check_many_layouts() {
    for (const Shape& shape :
         {Shape{34, 3, 37}, Shape{64, 48}, Shape{17, 70}, Shape{2, 36, 3, 40}}) {
        for_each_layout(shape, [&](const Layout& layout) {
            const bool some = sizeof(T) == 4 && layout.strides[0] > 0 && layout.strides[2] > 0;
            if (shape.rank == 4 && !some) return;  // of 768 layouts, a quarter
            check_copy_port<T>(layout, row_major(shape));
        });
    }
    const Shape small{34, 3, 36};
    for_each_layout(small, [&](const Layout& out) {
        check_copy_port<T>(row_major(small), out);
        check_copy_port<T>(column_major(small), out);
    });
}

TEST_CASE("every layout, elements of 1 and 2 bytes", "[day03][copy][full]") {
    check_many_layouts<std::uint8_t>();
    check_many_layouts<bf16>();
}
TEST_CASE("every layout, elements of 4, 8 and 16 bytes", "[day03][copy][full]") {
    check_many_layouts<float>();
    check_many_layouts<double>();
    check_many_layouts<Bytes16>();
}

TEST_CASE("pairs of layouts of a small shape", "[day03][copy][full]") {
    const Shape shape{4, 3, 5};
    for_each_layout(shape, [&](const Layout& in) {
        for_each_layout(shape, [&](const Layout& out) { check_copy_port<float>(in, out); });
    });
}

TEST_CASE("any two addresses", "[day03][copy][small]") {
    for (std::int64_t a = 0; a < 17; ++a) {
        for (const std::int64_t b : {0, 1, 5, 16}) {
            for (const std::int64_t n : {1, 15, 16, 17, 47, 100}) {
                check_copy_port<std::uint8_t>(row_major({n}), row_major({n}), {a}, {b});
            }
            check_copy_port<bf16>(row_major({5, 33}), pitched({5, 33}, 35), {a}, {b});
        }
    }
    for (const std::int64_t n : {1023, 4096, 4097, 5000}) {
        check_copy_port<float>(row_major({n}), row_major({n}));
        check_copy_port<float>(row_major({n}), row_major({n}), {3}, {3});
        check_copy_port<float>(row_major({n}), row_major({n}), {3}, {2});
    }
}

TEST_CASE("rows of every width between two pitches", "[day03][copy][small]") {
    for (const std::int64_t K : {1, 2, 3, 4, 5, 7, 8, 16, 30, 32, 64}) {
        for (const std::int64_t pitch : {64, 65, 66, 68}) {
            check_copy_port<float>(pitched({9, K}, pitch), row_major({9, K}));
            check_copy_port<std::uint8_t>(row_major({9, K}), pitched({9, K}, pitch));
        }
    }
}

template <class T>
void check_broadcasts() {
    const std::int64_t n = 48;
    check_copy_ports<T>(Layout({37, n}, {0, 1}), row_major({37, n}));          // a row, repeated
    check_copy_ports<T>(Layout({37, n}, {1, 0}), row_major({37, n}));          // a column
    check_copy_ports<T>(Layout({37, n}, {0, 0}), row_major({37, n}));          // one element
    check_copy_ports<T>(Layout({37, n + 1}, {1, 0}), row_major({37, n + 1}));  // rows of odd length
    check_copy_ports<T>(Layout({3, 5, n}, {-2, 1, 0}), row_major({3, 5, n}));
    check_copy_ports<T>(Layout({3, 5, n}, {n, 0, 1}), row_major({3, 5, n}));
    check_copy_ports<T>(Layout({2, 2, 3, 2, 2, 32}, {6, 0, 1, 0, 3, 0}),
                        row_major({2, 2, 3, 2, 2, 32}));
    check_copy_ports<T>(Layout({6, 9, 5}, {2, 1, 1}), row_major({6, 9, 5}));  // overlapping windows
}
TEST_CASE("broadcast views are written out", "[day03][copy][small]") {
    check_broadcasts<std::uint8_t>();
    check_broadcasts<bf16>();
    check_broadcasts<float>();
    check_broadcasts<double>();
    check_broadcasts<Bytes16>();
}

TEST_CASE("grouped heads: each key head is seen by two query heads", "[day03][copy][small]") {
    // Keys (B, T, 3, d) for 6 query heads: (B, 6, T, d), where heads 2 g and 2 g + 1 read head g.
    const std::int64_t B = 2, T = 5, d = 8;
    const Tensor<float> keys = distinct<float>({B, T, 3, d});
    const auto grouped = [&](const View<const float>& k) {
        return broadcast_to(unsqueeze(permute(k, {0, 2, 1, 3}), 2), {B, 3, 2, T, d});
    };
    Tensor<float> want({B, 3, 2, T, d});
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < 6; ++h) {
            for (std::int64_t t = 0; t < T; ++t) {
                for (std::int64_t c = 0; c < d; ++c)
                    want(b, h / 2, h % 2, t, c) = keys(b, t, h / 2, c);
            }
        }
    }
    DeviceIn<float> from(keys);
    DeviceOut<float> got({B, 3, 2, T, d});
    copy_cuda(grouped(from.view()), got.view());
    CHECK(got.matches(want));
    CHECK(is_contiguous(reshape(got.view(), {B, 6, T, d}).layout));
    if (!gpu::has_tile()) return;
    DeviceOut<float> by_tiles({B, 3, 2, T, d});  // five dims are too many: a sequence at a time
    for (std::int64_t b = 0; b < B; ++b) {
        copy_cuda(select(grouped(from.view()), 0, b), select(by_tiles.view(), 0, b),
                  {.path = CopyPath::tile});
    }
    CHECK(by_tiles.matches(want));
}

TEST_CASE("tiles and windows of a matrix are copied into their places", "[day03][copy][small]") {
    // Cut into ragged tiles, and put together again tile by tile.
    const Tensor<float> in = distinct<float>({37, 45});
    DeviceIn<float> from(in);
    const Shape shape{16, 16};
    const Dims tiles = tiles_per_dim({37, 45}, shape);
    CHECK(tiles == Dims{3, 3});
    for (const auto& path : chosen_and_tile<CopyPath>()) {
        DeviceOut<float> got({37, 45});
        for (std::int64_t i = 0; i < tiles[0]; ++i) {
            for (std::int64_t j = 0; j < tiles[1]; ++j) {
                copy_cuda(tile(from.view(), shape, {i, j}), tile(got.view(), shape, {i, j}),
                          {.path = path});
            }
        }
        CHECK(got.matches(in));
    }
}

TEST_CASE("A + A^T in place depends on the order; every copy of it is refused",
          "[day03][copy][small]") {
    // By hand: in order, a(1, 0) adds an a(0, 1) that is a sum already.
    Tensor<float> a({2, 2}, {1, 2, 10, 20});
    const View<float> x = a.view(), t = transpose(a.view());
    for (int m = 0; m < 2; ++m) {
        for (int n = 0; n < 2; ++n) x(m, n) += t(m, n);
    }
    CHECK(equal(a, Tensor<float>({2, 2}, {2, 12, 22, 40})));  // not 2, 12, 12, 40
    CHECK(refusal([&] { copy_cpu(t, x); }) != "");
    // Cautious: even and odd columns share no element, but their spans overlap.
    Tensor<float> b({2, 4});
    CHECK(refusal([&] { copy_cpu(slice(b.view(), 1, 0, 4, 2), slice(b.view(), 1, 1, 4, 2)); }) !=
          "");
}

TEST_CASE("one short dim: 2 to 32, on either side", "[day03][copy][small]") {
    for (std::int64_t S = 2; S <= 33; ++S) {
        check_copy_port<float>(column_major({S, 333}), row_major({S, 333}));
        check_copy_port<float>(column_major({333, S}), row_major({333, S}));
    }
    for (const std::int64_t S : {2, 3, 17, 32}) {
        check_copy_port<std::uint8_t>(column_major({S, 700}), row_major({S, 700}));
        check_copy_port<bf16>(column_major({700, S}), row_major({700, S}), {1}, {1});
        check_copy_port<double>(column_major({700, S}), row_major({700, S}));
        check_copy_port<Bytes16>(column_major({S, 700}), row_major({S, 700}));
    }
    // The short dim is a part of a longer one, so its rows have gaps; and there is a stack of them.
    check_copy_port<float>(permute(pitched({2, 100, 3}, 4), {0, 2, 1}), row_major({2, 3, 100}));
}

// Rows of S without gaps to columns of n, `gap` elements between the columns, and back.
template <class T>
void check_flat(std::int64_t S, std::int64_t n, std::int64_t gap) {
    CAPTURE(S, n, gap, sizeof(T));
    const Layout columns = pitched({S, n}, n + gap), rows = column_major({S, n});
    check_copy_port<T>(rows, columns);
    CHECK(last_kernel() == "transpose_rows_to_columns_kernel");
    check_copy_port<T>(columns, rows);
    CHECK(last_kernel() == "transpose_columns_to_rows_kernel");
}

TEST_CASE("short rows without gaps move as they lie, quad by quad", "[day03][copy][small]") {
    for (std::int64_t S = 2; S <= 32; ++S) check_flat<float>(S, 1040, 0);
    for (const std::int64_t S : {2, 3, 17, 31, 32}) {
        check_flat<std::uint8_t>(S, 2064, 0);
        check_flat<bf16>(S, 2056, 0);
        // The last 16 bytes of a column are not whole.
        check_flat<float>(S, 1037, 3);
        check_flat<std::uint8_t>(S, 2049, 15);
        check_flat<bf16>(S, 37, 3);
        // One element is missing, and with it ends the memory.
        check_flat<float>(S, 1039, 1);
        check_flat<std::uint8_t>(S, 2063, 1);
        check_flat<bf16>(S, 39, 1);
    }
}

TEST_CASE("short rows of even width do not pile up in a few banks", "[day03][copy][small]") {
    // Padded, lanes that take 16 bytes of a column each, a group apart, meet in 8 banks: 4 passes
    // for 1, and beside the run, where nobody waits, 3 for 1 at most. Lanes that take an element
    // each wrap round at most once: 2 for 1 on one side. Unpadded it would be up to 32 for 1.
    gpu::Buffer<float> a(1 << 14), b(1 << 14);
    a.fill_bytes(1);
    for (const std::int64_t S : {2, 4, 8, 16, 32}) {
        for (const std::int64_t lead : {0, 1}) {  // flat, and not
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

TEST_CASE("a copy too large for 31 bits is cut into pieces", "[day03][copy][small]") {
    const Layout in = permute(row_major({5, 7, 3}), {2, 0, 1});
    const Tensor<float> values = values_for<float>(in);
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
