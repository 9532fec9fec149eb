// The standard tests of the norms, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/norm/norm.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

template <class T>
void append(std::vector<Operation>& all, const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) {
        for (const Norm norm : kNorms) all.push_back(norm_operation<T>(norm, shape));
    }
}

std::vector<Operation> operations(const std::vector<Shape>& floats,
                                  const std::vector<Shape>& bf16s) {
    std::vector<Operation> all;
    append<float>(all, floats);
    append<bf16>(all, bf16s);
    return all;
}

std::vector<Operation> small() {
    const std::vector<Shape> shapes = {{3, 5}, {2, 16}, {4, 1}, {2, 1, 16}, {0, 4}, {3, 0}};
    return operations(shapes, shapes);
}

}  // namespace

TEST_CASE(
    "the set norm: an invalid operand, an overlap or an unknown path is rejected before any write",
    "[day06][norm][small]") {
    check_rejections(small());
}

TEST_CASE("the set norm: every path is correct wherever its operands are, or rejects them",
          "[day06][norm][small][kernels]") {
    check_results(small());
    for (const Operation& op : operations({{2, 3, 4}}, {})) CHECK(takes_every_order(op));
    for (const Operation& op : operations({{2, 1, 2, 2, 1, 2, 1, 3}}, {})) {
        CHECK(takes_or_rejects_placements(op));  // rows in more dimensions than a kernel indexes
    }
}

TEST_CASE("norms accept lengths around their vectors, warps and blocks", "[day06][norm][small]") {
    std::vector<Shape> floats = {
        {1, 1024}, {1, 2048}, {1, 4096}, {2, 2052}, {1, 8192}, {1, 8193}, {2, 1, 2, 2, 1, 2, 1, 3}};
    std::vector<Shape> bf16s;
    for (const std::int64_t n : {1, 2, 4, 31, 33, 60, 64, 127, 128, 508, 512, 516, 769, 1600}) {
        floats.push_back({5, n});
        bf16s.push_back({3, n});
    }
    // One vector more than fits in 32, 64, ... lanes.
    for (const std::int64_t held : {32, 64, 96, 128, 160, 192, 224}) {
        floats.push_back({2, 4 * held + 4});
    }
    check_values(operations(floats, bf16s));
    for (const Operation& op : operations({{5, 7}, {5, 64}, {5, 300}}, {})) {
        CHECK(takes_less_memory(op));
    }
}

TEST_CASE("norms accept long rows", "[day06][norm][full]") {
    check_values(operations({{1, 4100}, {1, 16384}, {1, 16388}, {1, 50257}}, {{1, 16384}}));
}

TEST_CASE("norms accept more rows than a grid has blocks in y", "[day06][norm][huge]") {
    check_values(operations({{65537, 4}}, {}));
}
