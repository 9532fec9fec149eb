// The standard tests of the block, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/block/block.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// One head divides any C, so that an operand with another C is rejected for its shape.
std::vector<Operation> operations(std::int64_t heads) {
    return {block_operation({2, 3, 4}, 8, heads), block_operation({1, 1, 2}, 1, 1),
            logits_operation({2, 3, 4}, 5), logits_operation({1, 1, 8}, 1),
            logits_operation({0, 3, 4}, 5)};
}

}  // namespace

TEST_CASE(
    "the set block: an invalid operand, an overlap or an unknown path is rejected before any write",
    "[day06][block][small]") {
    check_rejections(operations(1));
}

TEST_CASE("the set block: layouts, unused strides and NaNs do not make any path differ",
          "[day06][block][small][kernels]") {
    check_results(operations(2));
}

TEST_CASE("a block matches its formula, with every bias and every head", "[day06][block][small]") {
    const auto check = [](const Shape& x, std::int64_t F, std::int64_t heads) {
        CHECK(computes_its_result(block_operation(x, F, heads)));
    };
    check({2, 5, 12}, 20, 3);
    check({1, 1, 8}, 32, 2);
    check({2, 9, 16}, 64, 4);
    check({1, 7, 6}, 5, 1);
    check({1, 2, 128}, 8, 1);  // one head, the widest that attention's faster steps support
    check({1, 2, 132}, 4, 1);  // one wider than that
    CHECK(last_kernel() != "matmul_add_parts_kernel");
    check({1, 64, 64}, 128, 4);  // the last product is split along K
    CHECK(last_kernel() == "matmul_add_parts_kernel");
    CHECK(computes_its_result(logits_operation({2, 3, 8}, 37)));
}
