// The standard tests of attention_bf16, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// Not causal, since a NaN among masked values may reach any query.
std::vector<Operation> operations() {
    const Shape one = {1, 1};
    return {attention_bf16_operation<bf16>({{1, 2}, 3, 4, 16, false, 0, 4, one}),
            attention_bf16_operation<f16>({{2}, 2, 2, 64, false}),
            attention_bf16_operation<bf16>({{2}, 3, 4, 12, false}, false),
            attention_bf16_operation<bf16>({{1, 1}, 1, 1, 64, false}),
            attention_bf16_operation<bf16>({{2}, 0, 4, 8}),
            attention_bf16_operation<bf16>({{0}, 3, 3, 136})};
}

}  // namespace

TEST_CASE(
    "attention_bf16: an invalid operand, an overlap or an unknown path is rejected before any "
    "write",
    "[day06][attention_bf16][small]") {
    check_rejections(operations());
}

TEST_CASE("attention_bf16: every path gives its result wherever operands are, or rejects them",
          "[day06][attention_bf16][small][kernels]") {
    std::vector<Operation> all = operations();
    // A single row: 'tile' rejects it where its stride, which is never used, is 2^40.
    all[3].paths.pop_back();
    check_results(all);
}
