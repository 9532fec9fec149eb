// simplify() keeps corresponding elements together: checked over all pairs of small layouts.
#include <array>
#include <cstdlib>

#include "common/tensor/packings.hpp"
#include "common/tensor/simplify.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::packings;
using sixdays::testing::rejection;

namespace {

// The corresponding offsets, one tuple per element, in any order.
template <std::size_t N>
std::vector<std::array<std::int64_t, N>> pairing(const std::array<Layout, N>& layouts) {
    std::vector<std::array<std::int64_t, N>> tuples;
    for (const Index& index : indices_of(layouts[0].shape)) {
        std::array<std::int64_t, N> tuple;
        for (std::size_t i = 0; i < N; ++i) tuple[i] = offset(layouts[i], index);
        tuples.push_back(tuple);
    }
    std::sort(tuples.begin(), tuples.end());
    return tuples;
}

// No dimension of extent 1; sorted by the first layout's strides, ties by the next layout's; and no
// adjacent dimensions left that all layouts could merge.
template <std::size_t N>
bool is_simple(const std::array<Layout, N>& layouts) {
    const Layout& first = layouts[0];
    for (int d = 0; d < first.rank(); ++d) {
        if (first.extent(d) == 1) return false;
        if (d == 0) continue;
        for (const Layout& l : layouts) {
            const std::int64_t outer = std::abs(l.stride(d - 1)), inner = std::abs(l.stride(d));
            if (outer < inner) return false;
            if (outer > inner) break;
        }
        bool mergeable = true;
        for (const Layout& l : layouts) {
            mergeable = mergeable && l.stride(d - 1) == l.stride(d) * l.extent(d);
        }
        if (mergeable) return false;
    }
    return true;
}

template <class... L>
void check(Cases& cases, const L&... layouts) {
    const std::array<Layout, sizeof...(L)> before{layouts...};
    const auto after = simplify(layouts...);
    for (const Layout& l : after) cases.expect(l.shape == after[0].shape, before[0]);
    cases.expect(pairing(after) == pairing(before), before[0]);
    cases.expect(is_simple(after), before[0]);
}

// All pairs of packings of all shapes.
void check_pairs(int rank, std::int64_t extent, std::int64_t expected_cases) {
    Cases cases;
    for_each_shape(rank, extent, [&](const Shape& shape) {
        for_each_packing(shape.rank, 0, [&](const Packing& first) {
            for_each_packing(shape.rank, 0, [&](const Packing& second) {
                check(cases, Layout(shape, strides_of(first, shape)),
                      Layout(shape, strides_of(second, shape)));
            });
        });
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == expected_cases);
}

// A packed layout, a pitched one of the same order, and a broadcast one, in two orders.
void check_triples(int rank, std::int64_t extent, std::int64_t expected_cases) {
    Cases cases;
    for_each_shape(rank, extent, [&](const Shape& shape) {
        for_each_packing(shape.rank, 0, [&](const Packing& packing) {
            Packing pitched = packing;
            std::fill(pitched.pad.begin(), pitched.pad.end(), 1);
            const Layout a(shape, strides_of(packing, shape)), b(shape, strides_of(pitched, shape));
            Layout broadcast = row_major(shape);
            for (int d = 0; d < shape.rank; ++d) {
                if (packing.backwards[static_cast<std::size_t>(d)]) broadcast.strides[d] = 0;
            }
            check(cases, a, b, broadcast);
            check(cases, broadcast, a, b);
        });
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() == expected_cases);
}

}  // namespace

TEST_CASE("simplify keeps every pair of offsets", "[tensor][small]") {
    check_pairs(3, 2, 4 * (1 + 3 * 4 + 9 * 64 + 27 * 2304));
}

TEST_CASE("simplify keeps every pair of offsets, all up to 3 x 3 x 3", "[tensor][full]") {
    check_pairs(3, 3, 4 * (1 + 4 * 4 + 16 * 64 + 64 * 2304));
}

TEST_CASE("simplify keeps every triple of offsets, broadcast and pitched", "[tensor][small]") {
    check_triples(3, 3, 2 * 5 * (1 + 4 * 2 + 16 * 8 + 64 * 48));
}

TEST_CASE("simplify keeps every triple of offsets, all up to 3 x 3 x 3 x 3", "[tensor][full]") {
    check_triples(4, 3, 2 * 5 * (1 + 4 * 2 + 16 * 8 + 64 * 48 + 256 * 384));
}

TEST_CASE("simplify merges and drops dimensions as in its worked example", "[tensor][small]") {
    const auto [out, in] = simplify(row_major({2, 1, 3, 4}), Layout({2, 1, 3, 4}, {24, 12, 4, 1}));
    CHECK(out.shape == Shape{2, 12});
    CHECK(out.strides == Strides{12, 1});
    CHECK(in.shape == Shape{2, 12});
    CHECK(in.strides == Strides{24, 1});
}

TEST_CASE("contiguous tensors of any rank become one-dimensional", "[tensor][small]") {
    for (const Shape& shape : {Shape{24}, Shape{2, 3, 4}, Shape{1, 2, 1, 3, 4, 1}}) {
        const auto rows = simplify(row_major(shape), row_major(shape));
        CHECK(rows[0].shape == Shape{24});
        CHECK(rows[1].strides == Strides{1});
        const auto columns = simplify(column_major(shape));
        CHECK(columns[0].shape == Shape{24});
        CHECK(columns[0].strides == Strides{1});
    }
    const auto flipped = simplify(Layout({2, 3}, {-3, -1}), Layout({2, 3}, {-3, -1}));
    CHECK(flipped[0].shape == Shape{6});
    CHECK(flipped[0].strides == Strides{-1});
    CHECK(simplify(row_major({2, 3}), column_major({2, 3}))[0].shape == Shape{2, 3});
}

TEST_CASE("ties between strides are broken by the next layout", "[tensor][small]") {
    // The first layout repeats one element; the second is column-major, so contiguous once its
    // dimensions are swapped.
    const auto [first, second] = simplify(Layout({2, 3}, {0, 0}), column_major({2, 3}));
    CHECK(first.shape == Shape{6});
    CHECK(second.strides == Strides{1});
    const Layout ones({2, 3}, {0, 0});
    CHECK(simplify(ones, ones, Layout({2, 3}, {1, -9}))[2].strides == Strides{-9, 1});
}

TEST_CASE("simplify handles scalars, empty tensors and extents of 64 bits", "[tensor][small]") {
    CHECK(simplify(row_major({1, 1}))[0].rank() == 0);
    CHECK(simplify(Layout())[0].size() == 1);
    CHECK(simplify(row_major({3, 0, 2}), column_major({3, 0, 2}))[1].shape == Shape{0});
    const std::int64_t large = std::int64_t{1} << 31;
    CHECK(simplify(row_major({large, large}))[0].shape == Shape{large * large});
    // Extent 2 times stride 2^62 is beyond 64 bits, though no offset is.
    const Layout steep({2, 2}, {0, std::int64_t{1} << 62});
    const auto both = simplify(row_major({2, 2}), steep);
    CHECK(both[0].shape == Shape{2, 2});
    CHECK(both[1].strides == steep.strides);
    CHECK(rejection([] {
              (void)simplify(row_major({2, 3}), row_major({3, 2}));
          }) == "layouts walked together have shapes (2, 3) and (3, 2)");
}
