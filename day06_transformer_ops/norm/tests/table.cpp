// What must hold for every operation of the set norm, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/norm/norm.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

NormParameters parameters_of(const Call& c) {
    return {c.in<float>(1), c.in<float>(2), 0.25f};
}

template <class T>
Operation layer_norm_of(const Shape& shape) {
    const Shape row = {shape[shape.rank - 1]};
    Operation op{"layer_norm",
                 {reads<T>("in", shape), reads<float>("weight", row).may_be_null(),
                  reads<float>("bias", row).may_be_null(), writes<T>("out", shape)}};
    op.cpu = [](const Call& c) { layer_norm_cpu<T>(c.in<T>(0), parameters_of(c), c.out<T>(3)); };
    op.cuda = [](const Call& c) {
        layer_norm_cuda<T>(c.in<T>(0), parameters_of(c), c.out<T>(3), c.how<NormPath>());
    };
    op.paths = paths_of<NormPath>();
    op.in_place = {{"in", "out"}};
    return op;
}

template <class T>
Operation rms_norm_of(const Shape& shape) {
    Operation op = layer_norm_of<T>(shape);
    op.name = "rms_norm";
    op.cpu = [](const Call& c) { rms_norm_cpu<T>(c.in<T>(0), parameters_of(c), c.out<T>(3)); };
    op.cuda = [](const Call& c) {
        rms_norm_cuda<T>(c.in<T>(0), parameters_of(c), c.out<T>(3), c.how<NormPath>());
    };
    return op;
}

template <class T>
Operation add_layer_norm_of(const Shape& shape) {
    Operation op = layer_norm_of<T>(shape);
    op.name = "add_layer_norm";
    op.operands.push_back(updates<T>("residual", shape));
    op.cpu = [](const Call& c) {
        add_layer_norm_cpu<T>(c.in<T>(0), parameters_of(c), c.out<T>(4), c.out<T>(3));
    };
    op.cuda = [](const Call& c) {
        add_layer_norm_cuda<T>(c.in<T>(0), parameters_of(c), c.out<T>(4), c.out<T>(3),
                               c.how<NormPath>());
    };
    op.not_taken = {"tile"};
    return op;
}

template <class T>
void append(std::vector<Operation>& all) {
    for (const Shape& shape : {Shape{3, 5}, {2, 64}, {1, 8}, {4, 1}, {2, 1, 16}, {0, 4}, {3, 0}}) {
        all.push_back(layer_norm_of<T>(shape));
        all.push_back(rms_norm_of<T>(shape));
        all.push_back(add_layer_norm_of<T>(shape));
    }
}

std::vector<Operation> operations() {
    std::vector<Operation> all;
    append<float>(all);
    append<bf16>(all);
    return all;
}

}  // namespace

TEST_CASE(
    "the set norm: an invalid operand, an overlap or an unknown path is rejected before any write",
    "[day06][norm][small]") {
    check_rejections(operations());
}

TEST_CASE("the set norm: layouts, unused strides and NaNs make no path differ",
          "[day06][norm][small][kernels]") {
    check_results(operations());
}
