// What must hold for every operation of Day 04, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/reduce.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

Shape reduced(const Shape& in, int dim) {
    return without(row_major(in), {dim}).shape;
}

Operation argmax_of(const Shape& in, int dim) {
    Operation op{"argmax", {reads<float>("in", in), writes<std::int64_t>("out", reduced(in, dim))}};
    op.operands[0].free_dims({dim});
    op.cpu = [=](const Call& c) { argmax_cpu(c.in<float>(0), dim, c.out<std::int64_t>(1)); };
    op.cuda = [=](const Call& c) {
        argmax_cuda(c.in<float>(0), dim, c.out<std::int64_t>(1), c.how<ArgmaxPath>());
    };
    op.paths = paths_of<ArgmaxPath>();
    op.workspace_bytes = 1 << 16;
    return op;
}

Operation argmin_of(const Shape& in, int dim) {
    Operation op = argmax_of(in, dim);
    op.name = "argmin";
    op.cpu = [=](const Call& c) { argmin_cpu(c.in<float>(0), dim, c.out<std::int64_t>(1)); };
    op.cuda = [=](const Call& c) {
        argmin_cuda(c.in<float>(0), dim, c.out<std::int64_t>(1), c.how<ReducePath>());
    };
    if (size(reduced(in, dim)) > 0) op.not_taken = {"shared tree"};
    return op;
}

Operation reduce_of(Reduction what, const Shape& in, int dim) {
    Operation op = argmin_of(in, dim);
    op.name = name(what);
    op.operands[1] = writes<float>("out", reduced(in, dim));
    op.cpu = [=](const Call& c) { reduce_cpu(what, c.in<float>(0), {dim}, c.out<float>(1)); };
    op.cuda = [=](const Call& c) {
        reduce_cuda(what, c.in<float>(0), {dim}, c.out<float>(1), c.how<ReducePath>());
    };
    return op;
}

std::vector<Operation> operations() {
    std::vector<Operation> all;
    const auto add = [&](const Shape& in, int dim) {
        all.push_back(argmax_of(in, dim));
        all.push_back(argmin_of(in, dim));
        for (const Reduction what : {Reduction::max, Reduction::min, Reduction::sum,
                                     Reduction::mean, Reduction::product}) {
            all.push_back(reduce_of(what, in, dim));
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

TEST_CASE("Day 04: layouts, unused strides and NaNs make no path differ",
          "[day04][small][kernels]") {
    check_results(operations());
}
