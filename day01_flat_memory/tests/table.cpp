// Properties of every operation of Day 01, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day01_flat_memory/elementwise.op.hpp"
#include "day01_flat_memory/indices.op.hpp"
#include "day01_flat_memory/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using testing::check_rejections, testing::check_results, testing::check_values;

namespace {

std::vector<testing::Operation> elementwise(const std::vector<Shape>& shapes) {
    std::vector<testing::Operation> all;
    for (const Shape& shape : shapes) {
        for (const Elementwise what : kElementwise) {
            all.push_back(elementwise_operation(what, shape));
        }
    }
    return all;
}

std::vector<testing::Operation> small() {
    std::vector<testing::Operation> all = elementwise({{3, 5}, {64}, {1, 1}, {2, 1, 8}, {0, 4}});
    for (const Shape& shape : {Shape{3, 5}, {2, 16}, {1, 1, 4}, {2, 3, 5}, {1, 2, 1, 8}, {0, 4}}) {
        all.push_back(indices_operation(10, shape));
    }
    return all;
}

// Elements before the first of each operand: addresses that are not multiples of 16 bytes.
testing::Operation with_leads(testing::Operation op, const std::vector<std::int64_t>& leads) {
    for (std::size_t i = 0; i < leads.size(); ++i) op.operands[i].lead = leads[i];
    return op;
}

testing::Operation invert(std::int64_t n, std::int64_t lead_in, std::int64_t lead_out) {
    return with_leads(elementwise_operation(Elementwise::invert, {n}), {lead_in, lead_out});
}

}  // namespace

TEST_CASE("Day 01: an invalid operand, an overlap or an unknown path is rejected before any write",
          "[day01][small]") {
    check_rejections(small());
}

TEST_CASE("Day 01: every path is correct at any operand address, or rejects the operands",
          "[day01][small][kernels]") {
    check_results(small());
}

TEST_CASE("elementwise operations support ranks 0 to 8 at any address",
          "[day01][elementwise][small]") {
    check_values(elementwise({{}, {1, 2, 3, 4, 5, 1, 2, 3}, {4, 0, 3}}));
    std::vector<testing::Operation> all;
    for (std::int64_t lead = 0; lead < 4 * 4 * 4; ++lead) {
        all.push_back(with_leads(elementwise_operation(Elementwise::add, {261}),
                                 {lead / 16, lead / 4 % 4, lead % 4}));
    }
    check_values(all);
}

TEST_CASE("invert supports every size and address", "[day01][elementwise][small]") {
    std::vector<testing::Operation> all;
    for (std::int64_t lead = 0; lead < 17; ++lead) {
        all.push_back(invert(261, lead, lead));
        all.push_back(invert(261, lead, 0));
        all.push_back(invert(261, 0, lead));
    }
    std::vector<std::int64_t> sizes = kSizes;
    // One below, at and one above a block of 256 vectors of 16 bytes, and four blocks.
    for (const std::int64_t n :
         {15, 16, 17, 29, 30, 4095, 8191, 8207, 16383, 16384, 16385, 70001}) {
        sizes.push_back(n);
    }
    for (const std::int64_t n : sizes) {
        all.push_back(invert(n, 0, 0));
        all.push_back(invert(n, 9, 9));
    }
    check_values(all);
}

TEST_CASE("invert is correct on a million bytes", "[day01][elementwise][full]") {
    check_values({invert(1000003, 5, 5)});
}

TEST_CASE("indices is correct at extents around its block size, and for 64-bit values",
          "[day01][indices][small]") {
    std::vector<testing::Operation> all;
    const auto add = [&](std::int64_t base, const Shape& shape) {
        all.push_back(indices_operation(base, shape));
        all.push_back(with_leads(indices_operation(base, shape), {1}));
    };
    for (const Shape& shape :
         {Shape{1, 1},       Shape{1, 7},       Shape{7, 1},       Shape{8, 32},
          Shape{7, 31},      Shape{9, 33},      Shape{17, 61},     Shape{61, 17},
          Shape{0, 5},       Shape{5, 0},       Shape{1, 1, 1},    Shape{3, 8, 32},
          Shape{2, 9, 33},   Shape{5, 7, 31},   Shape{31, 7, 5},   Shape{4, 0, 2},
          Shape{1, 1, 1, 1}, Shape{2, 3, 5, 7}, Shape{7, 5, 3, 2}, Shape{3, 1, 17, 16},
          Shape{2, 2, 0, 2}, Shape{3, 4},       Shape{9, 36},      Shape{1, 8},
          Shape{5, 7, 8},    Shape{2, 9, 1028}, Shape{2, 3, 5, 4}, Shape{3, 1, 7, 16}}) {
        add(64, shape);
    }
    add(1, {3, 4, 4});                                // elements share values
    const std::int64_t base = std::int64_t{1} << 40;  // powers of two are exact in float
    add(base, {3, 5});
    add(base >> 10, {2, 3, 5});
    add(base >> 20, {2, 1, 2, 3});
    // 2^24 + 1 + 1 is a float, 2^24 + 1 is not: the sum must be rounded at the end, not in between.
    for (const Shape& shape : {Shape{2, 4}, Shape{1, 2, 4}, Shape{1, 1, 2, 4}}) {
        add((std::int64_t{1} << 24) + 1, shape);
    }
    add((std::int64_t{1} << 62) - 3, {2, 4});        // the largest value is 2^62
    add((std::int64_t{1} << 62) - 3, {1, 1, 2, 4});  // larger powers of the base, never used
    check_values(all);
}

TEST_CASE("indices covers the tallest matrix, and more rows in 3-D", "[day01][indices][full]") {
    // 16 million threads each.
    for (const Shape& shape : {Shape{kMostRows, 1}, {1, kMostRows + 3, 1}, {65537, 1, 2}}) {
        testing::Operation op = indices_operation(2, shape);
        op.paths.clear();  // only the default path
        op.best = {};
        CHECK(computes_its_result(op));
    }
}
