// A linear layer's backward pass from bf16: the standard tests over a table of calls, and what its
// bound rejects.
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/bf16/linear_backward_bf16.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// Rows that are whole vectors, or not; a stride that is never used, and not a multiple of 8.
std::vector<Operation> operations() {
    return {linear_backward_bf16_operation({2, 3}, 8, 16),
            linear_backward_bf16_operation({3}, 5, 7),
            linear_backward_bf16_operation({1}, 1, 1),
            linear_backward_bf16_operation({1}, 8, 3),
            linear_backward_bf16_operation<bf16>({3}, 5, 7),
            linear_backward_bf16_operation<bf16>({2, 3}, 8, 16)};
}

TEST_CASE("linear_backward_bf16: an invalid operand or overlap is rejected before any write",
          "[day06][training][small]") {
    check_rejections(operations());
}

TEST_CASE("linear_backward_bf16: the result is right wherever operands are, or they are rejected",
          "[day06][training][small][kernels]") {
    check_results(operations());
}

TEST_CASE("a linear layer's backward pass from bf16", "[day06][training][small]") {
    const std::int64_t shapes[][3] = {{5, 8, 16}, {40, 24, 8}, {16, 32, 1}, {9, 1, 8}};
    for (const auto& [M, K, N] : shapes) {
        Operation op = linear_backward_bf16_operation({M}, K, N);
        CHECK(computes_its_result(op));
        CHECK(computes_its_result(linear_backward_bf16_operation<bf16>({M}, K, N)));
        // Models store matrices as (out, in) or as (in, out).
        for (const std::size_t i : {1, 4}) op.operands[i].placed(column_major({K, N}));
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("the bound rejects a gradient that is summed in bf16", "[day06][training][small]") {
    Operation op = linear_backward_bf16_operation({40}, 3, 4);
    op.cuda = {};
    op.cpu = [cpu = op.cpu](const Call& c) {
        const View<const bf16> in = c.in<bf16>(0), grad = c.in<bf16>(2);
        Tensor<float> worse = converted<float>(c.in<float>(4));
        for (std::int64_t i = 0; i < 12; ++i) {
            float& sum = worse.data()[i];
            for (std::int64_t m = 0; m < 40; ++m) {
                sum = float(bf16(sum + float(in(m, i / 4)) * float(grad(m, i % 4))));
            }
        }
        cpu(c);
        std::copy_n(worse.data(), 12, c.out<float>(4).data);
    };
    CHECK(contains(computes_its_result(op).text, "d_weight: "));
}

}  // namespace
