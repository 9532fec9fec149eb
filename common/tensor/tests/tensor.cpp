// The stride helpers, on all small cases against an independent formula, and against NumPy.

#include "common/tensor/index.hpp"
#include "common/tensor/packings.hpp"
#include "common/tensor/view.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::packings;

namespace {

struct GoldenStrides {
    Shape shape;
    Strides row_major, column_major;
};
struct GoldenNumber {
    Shape shape;
    Index index;
    std::int64_t number, column_major_number;
};
struct GoldenLayout {
    struct Probe {
        Index index;
        std::int64_t offset;
    };
    Shape shape;
    Strides strides;
    bool row_major, column_major;
    std::vector<Probe> probes;
};
#include "common/tensor/tests/golden.inc"

Layout reversed(const Layout& layout) {
    Shape shape = layout.shape;
    Strides strides = layout.strides;
    std::reverse(shape.value, shape.value + shape.rank);
    std::reverse(strides.value, strides.value + strides.rank);
    return Layout(shape, strides);
}

// Every index of every packing of every shape up to this rank and extent, against place().
void check_offsets(int rank, std::int64_t extent, std::int64_t pad, std::int64_t expected_cases) {
    Cases cases;
    for_each_shape(rank, extent, [&](const Shape& shape) {
        const std::vector<Index> indices = indices_of(shape);
        for_each_packing(shape.rank, pad, [&](const Packing& packing) {
            const Layout layout(shape, strides_of(packing, shape));
            const std::int64_t origin = place(packing, shape, Dims::filled(shape.rank, 0));
            for (const Index& index : indices) {
                cases.expect(offset(layout, index) == place(packing, shape, index) - origin,
                             layout);
            }
        });
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == expected_cases);
}

// Common properties of packings, and when they are contiguous, against enumerated offsets.
void check_packings(int rank, std::int64_t extent, std::int64_t pad, std::int64_t expected_cases) {
    Cases cases;
    for_each_shape(rank, extent, [&](const Shape& shape) {
        for_each_packing(shape.rank, pad, [&](const Packing& packing) {
            const Layout layout(shape, strides_of(packing, shape));
            const Enumerated found(layout);
            cases.expect(is_injective(layout) && found.each_once(), layout);
            cases.expect(is_contiguous(layout) == found.counts_up_from_0(), layout);
            const std::int64_t span =
                found.sorted.empty() ? 0 : found.sorted.back() - found.sorted.front() + 1;
            cases.expect(required_span(layout) == span, layout);
        });
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == expected_cases);
}

// One shape with all strides from low to high, against enumerated offsets.
void check_all_strides(Cases& cases, const Shape& shape, std::int64_t low, std::int64_t high) {
    for_each_dims(shape.rank, low, high, [&](const Strides& strides) {
        const Layout layout(shape, strides);
        const Enumerated found(layout);
        const Reach r = reach(layout);
        const bool empty = found.sorted.empty();
        cases.expect(layout.size() == static_cast<std::int64_t>(found.sorted.size()), layout);
        cases.expect(size(shape) == layout.size(), layout);
        cases.expect(r.lowest == (empty ? 0 : found.sorted.front()), layout);
        cases.expect(r.highest == (empty ? -1 : found.sorted.back()), layout);
        cases.expect(required_span(layout) == r.highest - r.lowest + 1, layout);
        cases.expect(is_injective(layout) == found.each_once(), layout);
        cases.expect(is_contiguous(layout) == found.counts_up_from_0(), layout);
    });
}

}  // namespace

TEST_CASE("row-major and column-major strides equal NumPy's", "[tensor][small]") {
    for (const GoldenStrides& golden : golden_strides) {
        CAPTURE(to_string(golden.shape));
        CHECK(row_major(golden.shape).strides == golden.row_major);
        CHECK(column_major(golden.shape).strides == golden.column_major);
    }
}

TEST_CASE("ravel and unravel equal NumPy's", "[tensor][small]") {
    for (const GoldenNumber& golden : golden_numbers) {
        CAPTURE(to_string(golden.shape), golden.number);
        CHECK(ravel(golden.index, golden.shape) == golden.number);
        CHECK(unravel(golden.number, golden.shape) == golden.index);
        CHECK(offset(row_major(golden.shape), golden.index) == golden.number);
        CHECK(offset(column_major(golden.shape), golden.index) == golden.column_major_number);
    }
}

TEST_CASE("transposed, sliced, flipped and broadcast layouts match NumPy's", "[tensor][small]") {
    for (const GoldenLayout& golden : golden_layouts) {
        const Layout layout(golden.shape, golden.strides);
        CAPTURE(to_string(layout));
        CHECK(is_contiguous(layout) == golden.row_major);
        CHECK(is_contiguous(reversed(layout)) == golden.column_major);
        for (const auto& probe : golden.probes) {
            CHECK(offset(layout, probe.index) == probe.offset);
        }
    }
}

// The expected case count shows that the enumeration is complete: (1 + ... + extent)^rank indices
// over all shapes of a rank, times rank! orders of dimensions, times 2^rank sets of flips.
TEST_CASE("every index has the offset found by walking through memory", "[tensor][small]") {
    for (const std::int64_t pad : {0, 1, 3}) {
        check_offsets(3, 4, pad, 1 + 10 * 2 + 100 * 8 + 1000 * 48);
        check_offsets(4, 2, pad, 1 + 3 * 2 + 9 * 8 + 27 * 48 + 81 * 384);
    }
}

TEST_CASE("every index has the offset found by walking through memory, all up to 4 x 4 x 4 x 4",
          "[tensor][full]") {
    for (const std::int64_t pad : {0, 1, 3}) {
        check_offsets(4, 4, pad, 1 + 10 * 2 + 100 * 8 + 1000 * 48 + 10000 * 384);
    }
}

TEST_CASE("packed, flipped and pitched layouts match enumerated offsets", "[tensor][small]") {
    for (const std::int64_t pad : {0, 2}) {
        check_packings(3, 3, pad, 3 * (1 + 4 * 2 + 16 * 8 + 64 * 48));
    }
}

TEST_CASE("packed, flipped and pitched layouts match enumerated offsets, all up to 4 x 4 x 4 x 4",
          "[tensor][full]") {
    for (const std::int64_t pad : {0, 2}) {
        check_packings(4, 4, pad, 3 * (1 + 5 * 2 + 25 * 8 + 125 * 48 + 625 * 384));
    }
}

TEST_CASE("layouts with zero and negative strides match enumerated offsets", "[tensor][small]") {
    Cases cases;
    for_each_shape(2, 4, [&](const Shape& shape) { check_all_strides(cases, shape, -5, 5); });
    for_each_dims(3, 0, 2, [&](const Shape& shape) { check_all_strides(cases, shape, -2, 3); });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 7 * (1 + 5 * 11 + 25 * 121 + 27 * 216));
}

TEST_CASE("layouts with any strides match enumerated offsets, rank 3 and 4", "[tensor][full]") {
    Cases cases;
    for_each_dims(3, 0, 4, [&](const Shape& shape) { check_all_strides(cases, shape, -5, 5); });
    for_each_dims(4, 1, 3, [&](const Shape& shape) { check_all_strides(cases, shape, -1, 3); });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 7 * (125 * 1331 + 81 * 625));
}

TEST_CASE("a broadcast dimension adds nothing to the span", "[tensor][small]") {
    Cases cases;
    for_each_dims(4, 1, 4, [&](const Shape& shape) {
        for (unsigned mask = 0; mask < 16; ++mask) {
            Shape kept = shape;
            Strides strides = row_major(shape).strides;
            for (int d = 0; d < 4; ++d) {
                if ((mask >> d & 1) == 0) continue;
                kept[d] = 1;
                strides[d] = 0;
            }
            const Layout layout(shape, strides);
            cases.expect(is_injective(layout) == (kept == shape), layout);
            cases.expect(required_span(layout) == required_span(Layout(kept, strides)), layout);
        }
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 256 * 16 * 2);
}

TEST_CASE("unravel inverts ravel, and numbers count in row-major order", "[tensor][small]") {
    Cases cases;
    for_each_shape(4, 4, [&](const Shape& shape) {
        std::int64_t number = 0;
        for (const Index& index : indices_of(shape)) {
            const Layout rows = row_major(shape);
            cases.expect(ravel(index, shape) == number, rows);
            cases.expect(unravel(number, shape) == index, rows);
            cases.expect(offset(rows, index) == number, rows);
            ++number;
        }
        cases.expect(number == size(shape), [&] { return to_string(shape); });
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 3 * (1 + 10 + 100 + 1000 + 10000) + (1 + 5 + 25 + 125 + 625));
}

TEST_CASE("two layouts are equivalent if every index has the same offset in both",
          "[tensor][small]") {
    Cases cases;
    for_each_dims(2, 1, 3, [&](const Shape& shape) {
        for_each_dims(4, -2, 2, [&](const Dims& s) {
            const Layout a(shape, {s[0], s[1]}), b(shape, {s[2], s[3]});
            cases.expect(equivalent(a, b) == (Enumerated(a).in_order == Enumerated(b).in_order), a);
        });
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == 9 * 625);
    CHECK_FALSE(equivalent(row_major({6}), row_major({6, 1})));
    CHECK_FALSE(equivalent(row_major({2, 3}), row_major({3, 2})));
}

TEST_CASE("rank 0 is one element and rank 8 works like any other", "[tensor][small]") {
    const Layout scalar;
    CHECK(scalar.size() == 1);
    CHECK(size(Shape{}) == 1);
    CHECK(offset(scalar, Index{}) == 0);
    CHECK(required_span(scalar) == 1);
    CHECK(is_contiguous(scalar));
    CHECK(is_injective(scalar));
    CHECK(to_string(scalar) == "shape (), strides ()");

    const Shape shape{2, 3, 1, 2, 2, 1, 3, 2};
    CHECK(size(shape) == 144);
    CHECK(is_contiguous(row_major(shape)));
    CHECK(is_contiguous(reversed(column_major(shape))));
    CHECK(is_injective(column_major(shape)));
    CHECK(offset(row_major(shape), 1, 2, 0, 1, 1, 0, 2, 1) == 143);
    CHECK(unravel(143, shape) == Index{1, 2, 0, 1, 1, 0, 2, 1});
}

TEST_CASE("an extent of 0 in any dimension leaves no elements", "[tensor][small]") {
    for (const Shape& shape : {Shape{0}, Shape{0, 5}, Shape{5, 0}, Shape{2, 0, 3}}) {
        CHECK(size(shape) == 0);
        CHECK(row_major(shape).size() == 0);
        CHECK(required_span(row_major(shape)) == 0);
        CHECK(required_span(Layout(shape, Dims::filled(shape.rank, -7))) == 0);
        CHECK(is_contiguous(row_major(shape)));
        CHECK(is_injective(Layout(shape, Dims::filled(shape.rank, 0))));
    }
    CHECK(row_major({2, 0, 3}).strides == Strides{3, 3, 1});  // counted as if it were 1
}

TEST_CASE("above 2^16 elements, a layout that is not provably injective counts as not injective",
          "[tensor][small]") {
    // Offsets 2 i + 3 j: (3, 0) collides with (0, 2), but no index collides if i < 3.
    CHECK(is_injective(Layout({3, 4}, {2, 3})));
    CHECK_FALSE(is_injective(Layout({4, 4}, {2, 3})));
    // Even offsets and even offsets + 7 never collide, but sorted strides do not prove it.
    CHECK(is_injective(Layout({2, 1 << 15}, {7, 2})));
    CHECK_FALSE(is_injective(Layout({2, (1 << 15) + 1}, {7, 2})));
    CHECK(is_injective(Layout({2, 1 << 20}, {(1 << 21) + 1, 2})));
}
