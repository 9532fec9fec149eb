// Properties of every operation of Day 03, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day03_views/broadcast.op.hpp"
#include "day03_views/copy.op.hpp"
#include "day03_views/transpose.op.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;
using namespace sixdays::testing;

namespace {

// Contiguous.
Place tight(const Shape& shape) {
    return row_major(shape);
}
Operation add(const Shape& a, const Shape& b, const Shape& out) {
    return add_operation(tight(a), tight(b), tight(out));
}
Operation where(const Shape& mask, const Shape& a, const Shape& b, const Shape& out) {
    return where_operation(tight(mask), tight(a), tight(b), tight(out));
}
Operation pad(const Shape& in, const Dims& before, const Shape& out) {
    return pad_operation(tight(in), before, 7, tight(out));
}
Operation concat(const Shape& first, const Shape& second, int dim, const Shape& out) {
    return concat_operation({tight(first), tight(second)}, dim, tight(out));
}

std::vector<Operation> operations() {
    std::vector<Operation> all = {pad({2, 3}, {1, 1}, {4, 5}), pad({1, 1}, {0, 0}, {1, 1}),
                                  pad({0, 3}, {0, 0}, {1, 2}), concat({2, 3}, {2, 4}, 1, {2, 7}),
                                  concat({1, 1}, {1, 1}, 1, {1, 2})};
    for (const Shape& shape : {Shape{3, 5}, {2, 16}, {1, 8}, {2, 1, 8}, {1, 1}, {0, 4}}) {
        const Shape row = {shape[shape.rank - 1]};
        all.push_back(add(shape, row, shape));
        all.push_back(where(row, shape, shape, shape));
        for (const int bytes : {1, 2, 4, 8, 16}) {
            if (bytes != 2 && bytes != 4 && shape != Shape{3, 5}) continue;
            all.push_back(copy_operation(bytes, shape));
            all.push_back(transpose_operation(bytes, shape));
        }
    }
    return all;
}

}  // namespace

TEST_CASE("Day 03: an invalid operand, an overlap or an unknown path is rejected before any write",
          "[day03][small]") {
    check_rejections(operations());
}

TEST_CASE("Day 03: every path is correct for all layouts, unused strides and NaNs",
          "[day03][small][kernels]") {
    check_results(operations());
    for (const Shape& shape : {Shape{36, 40}, {1, 33, 1}, {4, 40}}) {
        const Operation op = transpose_operation(shape[0] == 1 ? 2 : 4, shape);
        CHECK(takes_or_rejects_placements(op));
        CHECK(takes_operands_placed_alike(op));
        CHECK(ignores_unused_strides(op));
    }
}

TEST_CASE("small shapes are correct in every order, flipped and with gaps", "[day03][small]") {
    for (const Shape& shape : {Shape{2, 3}, {1, 4}, {2, 3, 4}, {3, 1, 2}}) {
        CHECK(takes_every_order(copy_operation(4, shape)));
    }
    const Shape cube = {2, 3, 4};
    CHECK(takes_every_order(copy_operation(1, cube)));
    CHECK(takes_every_order(transpose_operation(4, cube)));
    CHECK(takes_every_order(add({2, 3, 5}, {3, 1}, {2, 3, 5})));
    CHECK(takes_every_order(add({3, 4, 8}, {8}, {3, 4, 8})));
    CHECK(takes_every_order(where({3, 1}, cube, {4}, cube)));
    CHECK(takes_every_order(pad(cube, {1, -1, 2}, {4, 3, 7})));
    for (int dim = 0; dim < 3; ++dim) {
        Shape first = cube, second = cube, out = cube;
        first[dim] = 3, second[dim] = 2, out[dim] = 5;
        CHECK(takes_every_order(concat(first, second, dim - 3 * (dim % 2), out)));
    }
}
