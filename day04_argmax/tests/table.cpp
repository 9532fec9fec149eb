// Properties of every operation of Day 04, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day04_argmax/reduce.op.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

std::vector<Operation> operations() {
    std::vector<Operation> all;
    const auto add = [&](const Shape& in, int dim) {
        all.push_back(argmax_operation(in, dim));
        all.push_back(argmax_operation(in, dim, false));
        for (const Reduction what : {Reduction::max, Reduction::min, Reduction::sum,
                                     Reduction::mean, Reduction::product}) {
            all.push_back(reduce_operation(what, in, {dim}));
        }
    };
    add({3, 5}, 1);
    add({5, 6}, 0);
    add({2, 1, 64}, 2);
    add({1, 4}, 0);
    add({4, 1}, 1);
    add({1}, 0);
    add({0, 4}, 1);
    return all;
}

}  // namespace

TEST_CASE("Day 04: an invalid operand, an overlap or an unknown path is rejected before any write",
          "[day04][small]") {
    check_rejections(operations());
}

TEST_CASE("Day 04: every path is correct at any operand address, or rejects the operands",
          "[day04][small][kernels]") {
    check_results(operations());
}
