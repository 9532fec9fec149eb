// Properties of every product, over a table of calls (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day05_matmul/matmul.op.hpp"
#include "day05_matmul/structured.op.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

const Epilogue kAll = {.alpha = 2, .beta = 3, .relu = true};

std::vector<Operation> of_floats(const std::vector<Product>& products) {
    std::vector<Operation> all;
    for (const Product& p : products) all.push_back(matmul_operation(p));
    return all;
}
template <class T = bf16>
std::vector<Operation> of_16_bits(const std::vector<Product>& products) {
    std::vector<Operation> all;
    for (const Product& p : products) all.push_back(matmul_bf16_operation<T>(p));
    return all;
}

// Rows of vectors and others; then K in parts; stacks; a row and a column, whose strides are
// unused.
const std::vector<Product> kSmall = {{4, 8, 12, kAll}, {3, 7, 5}};
const std::vector<Product> kMore = {
    {5, 16, 128, kAll},
    {8, 8, 8, {.beta = 3}, 1, {}, {}, {}, {2}, {2}},
    {4, 8, 24, {}, 0, {}, {}, {}, {2, 1}, {3}},
    {1, 8, 16, {.relu = true}},
    {8, 1, 1},
};
const std::vector<Product> kEmpty = {
    {0, 5, 4}, {4, 0, 5}, {0, 0, 3}, {2, 4, 4, {}, 1, {}, {}, {}, {0}}};
// An empty sum, so that a and b are not read.
const std::vector<Product> kNoSums = {{5, 12, 0, {.alpha = INFINITY, .beta = 2}},
                                      {5, 16, 0},
                                      {4, 8, 16, {.alpha = 0, .beta = 2}},
                                      {40, 72, 16, {.alpha = 0}}};

}  // namespace

TEST_CASE("Day 05: an invalid operand, an overlap or an unknown path is rejected before any write",
          "[day05][small]") {
    for (const std::vector<Product>& products : {kSmall, kMore}) {
        check_rejections(of_floats(products));
        check_rejections(of_16_bits(products));
    }
    check_rejections({structured_operation(Structure::upper, 3, 4)});
}

TEST_CASE("matmul: every path is correct at any operand address, or rejects the operands",
          "[day05][small][kernels]") {
    const std::vector<Operation> all = of_floats(kSmall);
    CHECK(takes_or_rejects_placements(all[0]));
    CHECK(takes_operands_placed_alike(all[0]));
    CHECK(takes_less_memory(all[0]));
    check_values(all);
    check_values(of_floats(kMore));
    for (const Operation& op : of_floats(kNoSums)) CHECK(spreads_nans_alike(op));
    for (const Operation& op : of_floats(kEmpty)) CHECK(takes_empty_outputs(op));
}

TEST_CASE("matmul: every path is correct for stacks, rows and columns", "[day05][full]") {
    for (const Operation& op : of_floats(kMore)) CHECK(ignores_unused_strides(op));
    CHECK(takes_or_rejects_placements(matmul_operation(kSmall[1])));
    CHECK(takes_or_rejects_placements(
        matmul_operation({2, 4, 4, {.beta = 3}, 0, {}, {}, {}, {2}, {2}})));
}

TEST_CASE("matmul: whole tiles and parts of K are correct at any operand address",
          "[day05][full]") {
    const Product whole = {33, 132, 16, {.beta = 2}, 1, {}, {}, {}, {2}, {2}};
    std::vector<Operation> all = {by_path(matmul_operation(whole), P::whole_tiles)};
    for (const Product& p : std::vector<Product>{{65, 70, 128}, {5, 68, 128, {.beta = 2}}}) {
        all.push_back(by_path(matmul_operation(p), P::split_k));
    }
    for (const Operation& op : all) {
        CHECK(takes_or_rejects_placements(op));
        CHECK(takes_operands_placed_alike(op));
    }
}

TEST_CASE("matmul_bf16: every path is correct at any operand address, or rejects the operands",
          "[day05][matmul_bf16][small][kernels]") {
    check_results(of_16_bits({{8, 16, 24, kAll}}));
    check_values(of_16_bits({{3, 7, 5}, {5, 16, 8, {}, 0, {}, {}, {}, {2, 1}, {3}}}));
    for (const Operation& op : of_16_bits(kNoSums)) CHECK(spreads_nans_alike(op));
    for (const Operation& op : of_16_bits(kEmpty)) CHECK(takes_empty_outputs(op));
}

TEST_CASE("matmul_bf16: every path is correct for rows, and for f16",
          "[day05][matmul_bf16][full]") {
    for (const Operation& op : of_16_bits(kMore)) CHECK(ignores_unused_strides(op));
    CHECK(takes_or_rejects_placements(matmul_bf16_operation<bf16>(kSmall[1])));
    CHECK(takes_or_rejects_placements(matmul_bf16_operation<f16>({16, 16, 16, {}, 0})));
    CHECK(takes_operands_placed_alike(matmul_bf16_operation<f16>({16, 16, 16, {}, 0})));
}

TEST_CASE("structured products: reference and kernel equal the product of the whole matrix",
          "[day05][structured][small]") {
    std::vector<Operation> all;
    for (const Structure structure : kStructures) {
        all.push_back(structured_operation(structure, 9, 33));
        for (const auto& [M, N] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                   {7, 31},
                                   {8, 32},
                                   {17, 1},
                                   {0, 3},
                                   {3, 0}}) {
            all.push_back(structured_operation(structure, M, N));
        }
    }
    check_results(all);
}

TEST_CASE("products share one workspace in any order of calls", "[day05][kernels][small]") {
    std::vector<Operation> all = of_floats({{20, 20, 20}, {64, 64, 128}});
    for (const Product& p : std::vector<Product>{
             {64, 64, 128}, {33, 132, 256}, {5, 64, 192}, {64, 65, 130}, {1, 68, 256}}) {
        all.push_back(by_path(matmul_operation(p), P::split_k));
    }
    CHECK(shares_a_workspace(all, 24));
}
