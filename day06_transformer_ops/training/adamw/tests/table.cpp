// The standard tests of AdamW, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/adamw/adamw.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

double positive(std::int64_t k) {
    return static_cast<double>(k % 7) / 8 + 0.25;
}

Operation adamw_of(const Shape& shape) {
    Operation op{"adamw",
                 {reads<float>("gradient", shape), updates<float>("first", shape),
                  updates<float>("second", shape).with(positive),
                  updates<float>("parameters", shape), writes<bf16>("rounded", shape).may_be_null(),
                  reads<double>("norm", {}).with([](std::int64_t) { return 2.0; })}};
    const auto options_of = [](const Call& c) {
        AdamWOptions options;
        options.most = 1;
        options.norm = c.in<double>(5);
        return options;
    };
    op.cpu = [=](const Call& c) {
        adamw_cpu(options_of(c), c.in<float>(0), c.out<float>(1), c.out<float>(2), c.out<float>(3),
                  c.out<bf16>(4));
    };
    op.cuda = [=](const Call& c) {
        adamw_cuda(options_of(c), c.in<float>(0), c.out<float>(1), c.out<float>(2), c.out<float>(3),
                   c.out<bf16>(4));
    };
    return op;
}

Operation gradient_norm_of(const Shape& shape) {
    Operation op{"gradient_norm", {reads<float>("gradient", shape), writes<double>("out", {})}};
    op.operands[0].broadcasts().free_dims({0, 1});  // of any shape
    op.workspace_bytes = 1 << 16;
    op.cpu = [](const Call& c) { gradient_norm_cpu(c.in<float>(0), c.out<double>(1)); };
    op.cuda = [](const Call& c) {
        gradient_norm_cuda(c.in<float>(0), c.out<double>(1), c.workspace);
    };
    return op;
}

std::vector<Operation> operations() {
    return {adamw_of({3, 5}), adamw_of({1, 1}), adamw_of({0, 4}), gradient_norm_of({3, 5}),
            gradient_norm_of({1, 1})};
}

}  // namespace

TEST_CASE(
    "the set adamw: an invalid operand, an overlap or an unknown path is rejected before any write",
    "[day06][training][small]") {
    check_rejections(operations());
}

TEST_CASE("the set adamw: layouts, unused strides and NaNs do not make any path differ",
          "[day06][training][small][kernels]") {
    check_results(operations());
}
