// What must hold for every operation of Day 05, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day05_matmul/matmul.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

// b serves every matrix of a's stack.
Operation matmul_of(const Shape& a, std::int64_t N, bool relu) {
    const std::int64_t K = a[a.rank - 1];
    Shape out = a;
    out[out.rank - 1] = N;
    Operation op{"matmul",
                 {reads<float>("a", a), reads<float>("b", {K, N}),
                  reads<float>("bias", {N}).may_be_null(), updates<float>("out", out)}};
    op.operands[1].broadcasts();  // a stack of one
    const auto epilogue = [relu](const Call& c) { return Epilogue{2, 3, c.in<float>(2), relu}; };
    op.cpu = [=](const Call& c) {
        matmul_cpu(c.in<float>(0), c.in<float>(1), epilogue(c), c.out<float>(3));
    };
    op.cuda = [=](const Call& c) {
        matmul_cuda(c.in<float>(0), c.in<float>(1), epilogue(c), c.out<float>(3),
                    c.how<MatmulPath>());
    };
    op.paths = paths_of<MatmulPath>();
    op.workspace_bytes = 1 << 16;
    return op;
}

std::vector<Operation> operations() {
    return {matmul_of({3, 5}, 7, false), matmul_of({4, 16}, 8, true), matmul_of({1, 1}, 1, false),
            matmul_of({1, 192}, 4, true), matmul_of({0, 4}, 5, false)};
}

}  // namespace

TEST_CASE("Day 05: an invalid operand, an overlap or an unknown path is rejected before any write",
          "[day05][small]") {
    check_rejections(operations());
}

TEST_CASE("Day 05: layouts, unused strides and NaNs make no path differ", "[day05][full]") {
    check_results(operations());
}
