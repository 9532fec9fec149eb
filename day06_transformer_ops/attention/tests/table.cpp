// What must hold for every operation of the set attention, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/attention/attention.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

std::vector<Operand> operands(std::int64_t H, std::int64_t T, std::int64_t S, std::int64_t D) {
    return {reads<float>("q", {1, H, T, D}), reads<float>("k", {1, 1, S, D}).broadcasts(),
            reads<float>("v", {1, 1, S, D}).broadcasts(),
            reads<std::int64_t>("length", {}).may_be_null().with([=](std::int64_t) {
                return static_cast<double>(S);
            }),
            writes<float>("out", {1, H, T, D})};
}

AttentionOptions options_of(const Call& c, bool causal) {
    AttentionOptions options;
    options.causal = causal;
    options.length = c.in<std::int64_t>(3);
    return options;
}

Operation attention_of(std::int64_t H, std::int64_t T, std::int64_t S, std::int64_t D,
                       bool causal) {
    Operation op{"attention", operands(H, T, S, D)};
    op.cpu = [=](const Call& c) {
        attention_cpu(c.in<float>(0), c.in<float>(1), c.in<float>(2), options_of(c, causal),
                      c.out<float>(4));
    };
    op.cuda = [=](const Call& c) {
        attention_cuda(c.in<float>(0), c.in<float>(1), c.in<float>(2), options_of(c, causal),
                       c.out<float>(4), c.how<AttentionPath>());
    };
    op.paths = paths_of<AttentionPath>();
    op.workspace_bytes = 1 << 18;
    return op;
}

Operation with_log_sums(std::int64_t T, std::int64_t S) {
    Operation op{"attention", operands(3, T, S, 8)};
    op.operands.push_back(writes<float>("log_sums", {1, 3, T}));
    op.cuda = [](const Call& c) {
        attention_and_log_sums_cuda(c.in<float>(0), c.in<float>(1), c.in<float>(2),
                                    options_of(c, true), c.out<float>(4), c.out<float>(5));
    };
    return op;
}

std::vector<Operation> operations() {
    return {attention_of(2, 3, 4, 8, true),
            attention_of(2, 1, 5, 5, false),
            attention_of(1, 1, 1, 4, true),
            attention_of(2, 0, 4, 8, true),
            with_log_sums(2, 3),
            with_log_sums(1, 1)};
}

}  // namespace

TEST_CASE(
    "the set attention: an invalid operand, an overlap or an unknown path is rejected before any "
    "write",
    "[day06][attention][small]") {
    check_rejections(operations());
}

TEST_CASE("the set attention: layouts, unused strides and NaNs make no path differ",
          "[day06][attention][small][kernels]") {
    check_results(operations());
}
