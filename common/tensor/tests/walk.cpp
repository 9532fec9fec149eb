// A Walk gives the same offsets as unravel() and offset() for every small shape and layout, and
// in_pieces() visits every element exactly once.
#include <vector>

#include "common/tensor/index.hpp"
#include "common/tensor/packings.hpp"
#include "common/tensor/walk.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::packings;

namespace {

template <int RANK>
void check_walk(const Layout& a, const Layout& b, Cases& cases) {
    const Walk<RANK, 2> walk({a, b});
    const Walk<RANK, 1> alone({b});
    cases.expect(walk.size == static_cast<std::uint32_t>(a.size()), a);
    for (std::uint32_t k = 0; k < walk.size; ++k) {
        const Index index = unravel(k, a.shape);
        const Offsets<2> at = walk.offsets(k);
        cases.expect(at.of[0] == offset(a, index) && at.of[1] == offset(b, index), a);
        cases.expect(alone.offsets(k).of[0] == offset(b, index), b);
    }
}

TEST_CASE("a walk computes the offsets of two layouts together", "[tensor][walk][small]") {
    Cases cases;
    for_each_shape(3, 3, [&](const Shape& shape) {
        if (size(shape) == 0) return;
        const Layout straight = row_major(shape);
        for_each_packing(shape.rank, 1, [&](const Packing& packing) {
            const Layout other(shape, strides_of(packing, shape));
            if (shape.rank <= 1) check_walk<1>(straight, other, cases);
            if (shape.rank <= 2) check_walk<2>(other, straight, cases);
            check_walk<3>(straight, other, cases);
            check_walk<8>(other, straight, cases);
        });
    });
    CHECK(cases.failure() == "");
    CHECK(cases.count() > 10000);
}

TEST_CASE("the offsets of a walk may exceed 32 bits", "[tensor][walk][small]") {
    const std::int64_t far = std::int64_t{1} << 40;
    const Walk<2, 1> walk({Layout({3, 1000}, {far, -far / 4096})});
    CHECK(walk.offsets(2999).of[0] == 2 * far - 999 * (far / 4096));
    const Walk<2, 1> longest({Layout({(std::int64_t{1} << 31) - 1}, {5})});
    CHECK(longest.size == 0x7fffffffu);
    CHECK(longest.offsets(0x7ffffffeu).of[0] == 5 * std::int64_t{0x7ffffffe});
}

TEST_CASE("ranks become compile-time constants, and 5 to 8 share one", "[tensor][walk][small]") {
    const int wanted[] = {1, 1, 2, 3, 4, 8, 8, 8, 8};
    for (int rank = 0; rank <= kMaxRank; ++rank) {
        int got = 0;
        with_rank(rank, [&](auto constant) {
            constexpr int RANK = constant;
            got = RANK;
        });
        CHECK(got == wanted[rank]);
    }
}

TEST_CASE("pieces stay below the limit and cover each element once", "[tensor][walk][small]") {
    for (const Shape& shape : {Shape{}, Shape{17}, Shape{3, 5}, Shape{2, 1, 9}, Shape{1, 16, 1}}) {
        for (const std::int64_t limit : {2, 3, 7, 16, 1000}) {
            const Layout out = row_major(shape), in = column_major(shape);
            std::vector<std::pair<std::int64_t, std::int64_t>> seen, wanted;
            in_pieces(
                limit,
                [&](const Cut& to, const Cut& from) {
                    CHECK(to.layout.size() < limit);
                    CHECK(to.layout.shape == from.layout.shape);
                    for (const Index& index : indices_of(to.layout.shape)) {
                        seen.emplace_back(to.first + offset(to.layout, index),
                                          from.first + offset(from.layout, index));
                    }
                },
                Cut{out}, Cut{in});
            for (const Index& index : indices_of(shape)) {
                wanted.emplace_back(offset(out, index), offset(in, index));
            }
            std::sort(seen.begin(), seen.end());
            std::sort(wanted.begin(), wanted.end());
            CAPTURE(to_string(shape), limit);
            CHECK(seen == wanted);
        }
    }
}

TEST_CASE("a tensor below the limit is passed on whole, as a view", "[tensor][walk][small]") {
    float x[6] = {};
    int calls = 0;
    in_pieces(
        kWalkable,
        [&](View<float> piece) {
            ++calls;
            CHECK(piece.data == x);
            CHECK(equivalent(piece.layout, row_major({2, 3})));
        },
        View<float>(x, Shape{2, 3}));
    CHECK(calls == 1);
    // A tensor of exactly the limit is split.
    std::vector<std::int64_t> sizes;
    const auto note = [&](const Cut& piece) { sizes.push_back(piece.layout.size()); };
    in_pieces(6, note, Cut{row_major({2, 3})});
    CHECK(sizes == std::vector<std::int64_t>{2, 4});
    sizes.clear();
    in_pieces(7, note, Cut{row_major({2, 3})});
    CHECK(sizes == std::vector<std::int64_t>{6});
}

}  // namespace
