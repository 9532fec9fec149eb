// What must hold for every operation of the set block, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/block/block.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

Operation block_of(const Shape& x, std::int64_t F) {
    const std::int64_t C = x[2];
    Operation op{"block",
                 {updates<float>("x", x), reads<float>("norm1: weight", {C}).may_be_null(),
                  reads<float>("norm1: bias", {C}).may_be_null(), reads<float>("qkv", {C, 3 * C}),
                  reads<float>("qkv_bias", {3 * C}), reads<float>("attention_output", {C, C}),
                  reads<float>("attention_output_bias", {C}),
                  reads<float>("norm2: weight", {C}).may_be_null(),
                  reads<float>("norm2: bias", {C}).may_be_null(), reads<float>("up", {C, F}),
                  reads<float>("up_bias", {F}), reads<float>("down", {F, C}),
                  reads<float>("down_bias", {C})}};
    op.operands[0].free_dims({0, 1});
    op.workspace_bytes = 1 << 18;
    const auto parameters = [](const Call& c) {
        const auto in = [&](int i) { return c.in<float>(i); };
        return BlockParameters{{in(1), in(2), 0.25f},
                               in(3),
                               in(4),
                               in(5),
                               in(6),
                               {in(7), in(8), 0.25f},
                               in(9),
                               in(10),
                               in(11),
                               in(12),
                               1,
                               Activation::gelu_tanh};
    };
    op.cpu = [=](const Call& c) { block_cpu(parameters(c), c.out<float>(0)); };
    op.cuda = [=](const Call& c) { block_cuda(parameters(c), c.out<float>(0), c.workspace); };
    return op;
}

Operation logits_of(const Shape& x, std::int64_t V) {
    const std::int64_t C = x[2];
    Operation op{"logits",
                 {reads<float>("x", x), reads<float>("norm: weight", {C}).may_be_null(),
                  reads<float>("norm: bias", {C}).may_be_null(), reads<float>("tokens", {V, C}),
                  writes<float>("out", {x[0], x[1], V})}};
    op.workspace_bytes = 1 << 16;
    const auto norm = [](const Call& c) {
        return NormParameters{c.in<float>(1), c.in<float>(2), 0.25f};
    };
    op.cpu = [=](const Call& c) {
        logits_cpu(c.in<float>(0), norm(c), c.in<float>(3), c.out<float>(4));
    };
    op.cuda = [=](const Call& c) {
        logits_cuda(c.in<float>(0), norm(c), c.in<float>(3), c.out<float>(4), c.workspace);
    };
    return op;
}

std::vector<Operation> operations() {
    return {block_of({2, 3, 4}, 8), block_of({1, 1, 2}, 1), logits_of({2, 3, 4}, 5),
            logits_of({1, 1, 8}, 1), logits_of({0, 3, 4}, 5)};
}

}  // namespace

TEST_CASE(
    "the set block: an invalid operand, an overlap or an unknown path is rejected before any write",
    "[day06][block][small]") {
    check_rejections(operations());
}

TEST_CASE("the set block: layouts, unused strides and NaNs make no path differ",
          "[day06][block][small][kernels]") {
    check_results(operations());
}
