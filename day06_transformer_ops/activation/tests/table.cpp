// The standard tests of the activations, over a table of calls
// (common/testing/operation/operation.hpp).
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/activation/activation.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// The cases cycle through the activations, since the choice does not affect the layout.
template <class T>
void append(std::vector<Operation>& all, const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) {
        for (const Activate kind : kActivates) {
            all.push_back(activate_operation<T>(kind,
                                                kActivations[all.size() % std::size(kActivations)],
                                                shape, {shape[shape.rank - 1]}));
        }
    }
}

std::vector<Operation> operations(const std::vector<Shape>& shapes) {
    std::vector<Operation> all;
    append<float>(all, shapes);
    append<bf16>(all, shapes);
    return all;
}

std::vector<Operation> small() {
    std::vector<Operation> all = operations({{3, 5}, {2, 16}, {2, 1, 8}, {0, 4}, {3, 0}});
    for (const Shape& bias : {Shape{2, 16}, {2, 1}}) {
        all.push_back(activate_operation<float>(Activate::biased, Activation::silu, {2, 16}, bias));
    }
    return all;
}

}  // namespace

TEST_CASE(
    "the set activation: an invalid operand, an overlap or an unknown path is rejected before any "
    "write",
    "[day06][activation][small]") {
    check_rejections(small());
}

TEST_CASE("the set activation: every path gives its result wherever operands are, or rejects them",
          "[day06][activation][small][kernels]") {
    check_results(small());
    CHECK(
        takes_every_order(activate_operation<float>(Activate::gated, Activation::silu, {2, 3, 8})));
    const Shape eight = {2, 1, 2, 2, 1, 2, 1, 8};  // more dimensions than tiles have
    CHECK(takes_or_rejects_placements(
        activate_operation<bf16>(Activate::biased, Activation::relu, eight, {2, 1, 2, 1, 8})));
}

TEST_CASE("activations accept sizes around their blocks, in float and in bf16",
          "[day06][activation][small]") {
    check_values(operations({{3, 1}, {3, 4}, {3, 7}, {3, 8}, {3, 1000}, {3, 1024}}));
    std::vector<Operation> all;
    for (const Activation what : kActivations) {
        for (const Activate kind : kActivates) {
            all.push_back(activate_operation<float>(kind, what, {5, 36}, {36}));
            all.push_back(activate_operation<bf16>(kind, what, {5, 40}, {40}));
        }
    }
    // Tiles are 8 rows of 256: several along each of four dimensions, vectorized and not.
    for (const std::int64_t n : {257, 260}) {
        all.push_back(
            activate_operation<float>(Activate::biased, Activation::silu, {2, 3, 9, n}, {3, 1, n}));
    }
    check_values(all);
}

TEST_CASE("a million elements, and a bias for each column", "[day06][activation][full]") {
    const Shape shape = {257, 3072};
    check_values(
        {activate_operation<float>(Activate::biased, Activation::gelu_erf, shape, {3072}),
         activate_operation<bf16>(Activate::gated, Activation::gelu_tanh, shape),
         activate_operation<bf16>(Activate::biased, Activation::gelu_tanh, shape, {3072})});
}
