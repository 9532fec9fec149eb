// What must hold for every operation of Day 02, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day02_strides/pack.hpp"
#include "day02_strides/pitched.hpp"
#include "day02_strides/sweep.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;
using namespace sixdays::testing;

namespace {

Operation pack_of(const Shape& shape) {
    Operation op{"pack", {reads<float>("in", shape), writes<float>("out", shape)}};
    op.cpu = [](const Call& c) { pack_cpu(c.in<float>(0), c.out<float>(1)); };
    op.cuda = [](const Call& c) { pack_cuda(c.in<float>(0), c.out<float>(1), c.how<PackPath>()); };
    op.paths = paths_of<PackPath>();
    op.in_place = {{"in", "out"}};
    return op;
}

Operation pitched_of(const Shape& shape) {
    Operation op{"pitched", {reads<float>("in", shape), writes<float>("out", shape)}};
    op.cpu = [](const Call& c) { pitched_cpu(c.in<float>(0), c.out<float>(1)); };
    op.cuda = [](const Call& c) {
        pitched_cuda(c.in<float>(0), c.out<float>(1), c.how<PitchedPath>());
    };
    op.paths = paths_of<PitchedPath>();
    op.in_place = {{"in", "out"}};
    return op;
}

Operation sum_columns_of(std::int64_t M, std::int64_t K) {
    Operation op{"sum_columns",
                 {reads<float>("in", {M, K}).free_dims({0}), writes<float>("out", {K})}};
    op.cpu = [](const Call& c) { sum_columns_cpu(c.in<float>(0), c.out<float>(1)); };
    op.cuda = [](const Call& c) {
        sum_columns_cuda(c.in<float>(0), c.out<float>(1), c.how<SumColumnsPath>());
    };
    op.paths = paths_of<SumColumnsPath>();
    return op;
}

Operation ramp_of(const Shape& shape) {
    Operation op{"ramp", {writes<float>("out", shape)}};
    op.operands[0].free_dims({0, 1});
    op.cpu = [](const Call& c) { ramp_cpu(c.out<float>(0)); };
    op.cuda = [](const Call& c) { ramp_cuda(c.out<float>(0)); };
    return op;
}

std::vector<Operation> operations() {
    std::vector<Operation> all = {sum_columns_of(3, 5), sum_columns_of(9, 4), sum_columns_of(1, 1),
                                  sum_columns_of(3, 0), ramp_of({3, 5}),      ramp_of({1, 1})};
    for (const Shape& shape : {Shape{3, 5}, {2, 16}, {1, 8}, {4, 1}, {0, 4}, {3, 0}}) {
        all.push_back(pack_of(shape));
        all.push_back(pitched_of(shape));
    }
    all.push_back(pack_of({2, 1, 8}));
    return all;
}

}  // namespace

TEST_CASE("Day 02: an invalid operand, an overlap or an unknown path is rejected before any write",
          "[day02][small]") {
    check_rejections(operations());
}

TEST_CASE("Day 02: layouts, unused strides and NaNs make no path differ",
          "[day02][small][kernels]") {
    check_results(operations());
}
