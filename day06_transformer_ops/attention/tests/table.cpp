// The standard tests of attention, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/attention/attention.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// Heads that share keys; rows of whole vectors or not; one token, one key; split keys.
std::vector<Operation> operations() {
    const Shape one = {1, 1};
    return {attention_operation({{1, 2}, 3, 4, 8, true, 0, 4, one}),
            attention_operation({{2}, 2, 2, 8, false, 0, 2}),
            attention_operation({{1, 2}, 1, 5, 5, false, 0, -1, one}),
            attention_operation({{1, 1}, 1, 1, 4, true, 0, 1}),
            attention_operation({{2}, 1, 130, 4}),
            attention_operation({{2}, 2, 3, 132}),
            attention_operation({{2}, 0, 4, 8}),
            attention_operation({{2, 0}, 3, 3, 4}),
            attention_operation({{1, 3}, 2, 3, 8, true, 0, 2, one}, true),
            attention_operation({{1, 3}, 1, 1, 8, true, 0, -1, one}, true)};
}

}  // namespace

TEST_CASE(
    "the set attention: an invalid operand, an overlap or an unknown path is rejected before any "
    "write",
    "[day06][attention][small]") {
    check_rejections(operations());
}

TEST_CASE("the set attention: every path gives its result wherever operands are, or rejects them",
          "[day06][attention][small][kernels]") {
    check_results(operations());
}

TEST_CASE("attention accepts every order and direction of dimensions", "[day06][attention][full]") {
    CHECK(takes_every_order(attention_operation({{2}, 3, 4, 5})));
}
