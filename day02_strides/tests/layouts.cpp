// Layouts as numbers: strides of a shape, slices, and the properties of any layout.
#include "common/tensor/index.hpp"
#include "day02_strides/conventions.hpp"
#include "day02_strides/pack.hpp"
#include "day02_strides/static_row_major.hpp"
#include "day02_strides/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

TEST_CASE("a view's pointer, extents and strides can be read and set", "[day02][layout][small]") {
    // [by example]
    float memory[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110};
    View<float> x(memory, row_major({3, 4}));  // a pointer and a layout
    CHECK(x.shape() == Shape{3, 4});
    CHECK(x.strides() == Strides{4, 1});
    CHECK(x.extent(1) == 4);  // one number of the shape: columns
    CHECK(x.stride(0) == 4);  // one of the strides: from row to row
    CHECK(x(2, 1) == memory[2 * 4 + 1 * 1]);
    CHECK(&x(0, 0) == x.data);  // the pointer is at index 0

    View<float> y(memory, Layout({3, 2}, {4, 2}));  // any strides
    CHECK(y(1, 1) == 60);                           // every other column

    View<float> z = x;      // copies pointer and layout, not the elements
    z.data += x.stride(0);  // begin one row later,
    z.extent(0) = 2;        // so one row fewer is left
    z(1, 3) = -1;
    CHECK(x(2, 3) == -1);  // seen through x as well
    z.stride(0) = 0;       // the same row again and again
    CHECK(z(1, 3) == 70);
    // [by example]
    CHECK(z.shape() == Shape{2, 4});
    CHECK(z.strides() == Strides{0, 1});
    CHECK(memory[11] == -1);
    CHECK(std::as_const(z).extent(1) + std::as_const(z).stride(1) == 5);
    Layout layout = row_major({3, 4});
    layout.stride(0) = -4;
    layout.extent(1) = 1;
    CHECK(equivalent(layout, Layout({3, 1}, {-4, 7})));
}

TEST_CASE("one buffer is two matrices: row-major and column-major", "[day02][layouts][small]") {
    // Writer and reader must agree on the layout; the memory does not record it.
    const Tensor<int> memory({6}, {1, 2, 3, 4, 5, 6});
    const View<const int> rows(memory.data(), row_major({2, 3}));
    const View<const int> columns(memory.data(), column_major({2, 3}));
    CHECK(rows.strides() == Strides{3, 1});
    CHECK(columns.strides() == Strides{1, 2});
    CHECK(rows(1, 0) == 4);
    CHECK(columns(1, 0) == 2);
    // A transposed matrix is the same memory read the other way.
    const View<const int> transposed(memory.data(), column_major({3, 2}));
    for (std::int64_t m = 0; m < 2; ++m) {
        for (std::int64_t k = 0; k < 3; ++k) CHECK(rows(m, k) == transposed(k, m));
    }
    CHECK(row_major({3, 4}).strides == Strides{4, 1});
    CHECK(column_major({3, 4}).strides == Strides{1, 3});
    // And both rules for rank 4: products to the right, products to the left.
    CHECK(row_major({2, 3, 4, 5}).strides == Strides{60, 20, 5, 1});
    CHECK(column_major({2, 3, 4, 5}).strides == Strides{1, 2, 6, 24});
}

TEST_CASE("strides are products of the extents to the right, and unravel divides by them",
          "[day02][layouts][small]") {
    const Shape shape{2, 3, 4, 5, 6};
    CHECK(row_major(shape).strides == Strides{360, 120, 30, 6, 1});
    CHECK(size(shape) == 720);
    const struct {
        std::int64_t number;
        Index index;
    } cases[] = {{0, {0, 0, 0, 0, 0}},   {1, {0, 0, 0, 0, 1}},   {132, {0, 1, 0, 2, 0}},
                 {269, {0, 2, 0, 4, 5}}, {360, {1, 0, 0, 0, 0}}, {629, {1, 2, 0, 4, 5}},
                 {719, {1, 2, 3, 4, 5}}};
    for (const auto& c : cases) {
        CAPTURE(c.number);
        CHECK(unravel(c.number, shape) == c.index);
        CHECK(offset(row_major(shape), c.index) == c.number);
    }
}

TEST_CASE("a slice is an offset, and transposing it swaps its strides",
          "[day02][layouts][pack][small]") {
    // (4, 5), element k holding k. Its block (3, 2) from (1, 2) on: offset 1*5 + 2 = 7.
    Tensor<float> x({4, 5});
    for (std::int64_t k = 0; k < 20; ++k) x.data()[k] = static_cast<float>(k);
    const std::int64_t first = offset(x.view().layout, 1, 2);
    CHECK(first == 7);
    const Layout block({3, 2}, x.view().strides()), transposed({2, 3}, {1, 5});
    CHECK(block.strides == Strides{5, 1});
    CHECK(!is_contiguous(block));
    const DeviceIn<float> device(x);
    const struct {
        Layout layout;
        Tensor<float> want;
    } cases[] = {{block, {{3, 2}, {7, 8, 12, 13, 17, 18}}},
                 {transposed, {{2, 3}, {7, 12, 17, 8, 13, 18}}}};
    for (const auto& c : cases) {
        HostOut<float> loop(c.layout.shape);
        pack_cpu({x.data() + first, c.layout}, loop.view());
        CHECK(loop.matches(c.want));
        DeviceOut<float> port(c.layout.shape);
        pack_cuda({device.view().data + first, c.layout}, port.view());
        CHECK(port.matches(c.want));
    }
}

TEST_CASE("six layouts by hand: injective, contiguous, required span", "[day02][layouts][small]") {
    const struct {
        const char* what;
        Layout layout;
        bool injective, contiguous;
        std::int64_t span;
    } rows[] = {
        {"row-major", row_major({3, 4}), true, true, 12},
        {"column-major", column_major({3, 4}), true, false, 12},
        {"pitch 6", pitched_rows(3, 4, 6), true, false, 16},
        {"rows reversed", Layout({3, 4}, {-4, 1}), true, false, 12},
        {"one row, three times", Layout({3, 4}, {0, 1}), false, false, 4},
        {"windows of 4, 2 apart", Layout({3, 4}, {2, 1}), false, false, 8},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        CHECK(is_injective(row.layout) == row.injective);
        CHECK(is_contiguous(row.layout) == row.contiguous);
        CHECK(required_span(row.layout) == row.span);
    }
    // Strides of extents of 1 are never used: any value is valid.
    CHECK(equivalent(Layout({3}, {1}), Layout({3}, {1})));
    CHECK(equivalent(Layout({1, 3}, {3, 1}), Layout({1, 3}, {777, 1})));
    CHECK(is_contiguous(Layout({1, 3}, {777, 1})));
    // A span of 16 does not fit into 15 elements.
    gpu::Buffer<float> small(15);
    CHECK(rejection([&] { (void)small.view(pitched_rows(3, 4, 6)); }).find("has 15 elements") !=
          std::string::npos);
    // A negative stride reaches below index 0: the base must be the last row.
    CHECK(rejection([&] { (void)small.view(Layout({3, 4}, {-4, 1})); }) != "");
    CHECK_NOTHROW(small.view(Layout({3, 4}, {-4, 1}), 8));
}

// Static extents are checked at compile time.
using Tile = StaticRowMajor<2, 3, 4>;
static_assert(Tile::kRank == 3 && Tile::size() == 24);
static_assert(Tile::stride(0) == 12 && Tile::stride(1) == 4 && Tile::stride(2) == 1);
static_assert(Tile::offset(1, 2, 3) == 23 && Tile::offset(1, 0, 2) == 14);
static_assert(StaticRowMajor<>::size() == 1 && StaticRowMajor<>::offset() == 0);
static_assert(StaticRowMajor<3, 0, 2>::size() == 0 && StaticRowMajor<3, 0, 2>::stride(0) == 2);

TEST_CASE("compile-time strides equal those of row_major()", "[day02][layouts][small]") {
    const Layout layout = Tile::layout();
    CHECK(equivalent(layout, row_major({2, 3, 4})));
    for (std::int64_t number = 0; number < 24; ++number) {
        const Index index = unravel(number, layout.shape);
        CHECK(Tile::offset(index[0], index[1], index[2]) == offset(layout, index));
    }
    CHECK(equivalent(StaticRowMajor<1, 7>::layout(), row_major({1, 7})));
    CHECK(StaticRowMajor<3, 0, 2>::layout().strides == Strides{2, 2, 1});
}

}  // namespace
