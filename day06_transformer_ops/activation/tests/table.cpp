// What must hold for every operation of the set activation, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/activation/activation.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

template <class T>
Operation activate_of(Activation what, const Shape& shape) {
    Operation op{"activate", {reads<T>("in", shape), writes<T>("out", shape)}};
    op.cpu = [=](const Call& c) { activate_cpu<T>(what, c.in<T>(0), c.out<T>(1)); };
    op.cuda = [=](const Call& c) {
        activate_cuda<T>(what, c.in<T>(0), c.out<T>(1), c.how<ActivationPath>());
    };
    op.paths = paths_of<ActivationPath>();
    op.in_place = {{"in", "out"}};
    return op;
}

template <class T>
Operation activate_biased_of(Activation what, const Shape& shape, const Shape& bias) {
    Operation op = activate_of<T>(what, shape);
    op.name = "activate_biased";
    op.operands.push_back(reads<T>("bias", bias).broadcasts());
    op.in_place.emplace_back("bias", "out");
    op.cpu = [=](const Call& c) {
        activate_biased_cpu<T>(what, c.in<T>(0), c.in<T>(2), c.out<T>(1));
    };
    op.cuda = [=](const Call& c) {
        activate_biased_cuda<T>(what, c.in<T>(0), c.in<T>(2), c.out<T>(1), c.how<ActivationPath>());
    };
    return op;
}

template <class T>
Operation activate_gated_of(Activation what, const Shape& shape) {
    Operation op = activate_of<T>(what, shape);
    op.name = "activate_gated";
    op.operands.push_back(reads<T>("gate", shape));
    op.in_place.emplace_back("gate", "out");
    op.cpu = [=](const Call& c) {
        activate_gated_cpu<T>(what, c.in<T>(2), c.in<T>(0), c.out<T>(1));
    };
    op.cuda = [=](const Call& c) {
        activate_gated_cuda<T>(what, c.in<T>(2), c.in<T>(0), c.out<T>(1), c.how<ActivationPath>());
    };
    return op;
}

template <class T>
void append(std::vector<Operation>& all) {
    for (const Activation what :
         {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu}) {
        for (const Shape& shape : {Shape{3, 5}, {1, 16}, {2, 1, 8}, {0, 4}}) {
            all.push_back(activate_of<T>(what, shape));
            all.push_back(activate_biased_of<T>(what, shape, {shape[shape.rank - 1]}));
            all.push_back(activate_gated_of<T>(what, shape));
        }
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
    "the set activation: an invalid operand, an overlap or an unknown path is rejected before any "
    "write",
    "[day06][activation][small]") {
    check_rejections(operations());
}

TEST_CASE("the set activation: layouts, unused strides and NaNs make no path differ",
          "[day06][activation][small][kernels]") {
    check_results(operations());
}
