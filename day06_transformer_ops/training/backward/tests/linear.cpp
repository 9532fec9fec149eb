// Tests of a linear layer's backward pass against results from outside the code: central
// differences and PyTorch's autograd; what its bound rejects; and arguments that only it has.
#include <bit>

#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.op.hpp"
#include "day06_transformer_ops/training/backward/tests/outside.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

TEST_CASE("a linear layer's gradients match central differences", "[day06][training][small]") {
    const std::int64_t shapes[][3] = {{1, 1, 1}, {5, 3, 4}, {4, 4, 4}, {3, 17, 9}, {33, 2, 5}};
    for (const auto& [M, K, N] : shapes) {
        CAPTURE(M, K, N);
        const auto loss = [&, n = N, k = K](const Doubles& in) {
            double sum = 0;
            for (std::int64_t r = 0; r < in[2].size(); ++r) {
                const std::int64_t m = r / n, j = r % n;
                double out = in[5](j);
                for (std::int64_t i = 0; i < k; ++i) out += in[0](m, i) * in[1](i, j);
                sum += in[2](m, j) * out;
            }
            return sum;
        };
        const Operation op = linear_backward_operation({M}, K, N);
        CHECK(is_slope(op, "d_in", "in", loss));
        CHECK(is_slope(op, "d_weight", "weight", loss));
        CHECK(is_slope(op, "d_bias", "d_bias", loss));  // in place of the bias
    }
}

TEST_CASE("a linear layer's bound rejects operands of 15 bits, and a missing term",
          "[day06][training][small]") {
    Operation op = linear_backward_operation({5}, 3, 4);
    const std::vector<Expected> want = Caller(op).expected({}, 0);
    op.exact = [=](const Inputs&, int) { return want; };
    CHECK(computes_its_result(op));
    for (const std::size_t i : {0, 1, 2}) {
        Operation cut = op, missing = op;
        cut.operands[i].with([=](std::int64_t k) {
            const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value_of(op, i, k)));
            return double{std::bit_cast<float>(bits & ~std::uint32_t{0x1ff})};
        });
        CHECK_FALSE(computes_its_result(cut));
        missing.operands[i].with([=](std::int64_t k) { return k == 4 ? 0 : value_of(op, i, k); });
        CHECK_FALSE(computes_its_result(missing));
    }
}

TEST_CASE("a linear layer's gradients match PyTorch's", "[day06][training][small]") {
    Operation op = linear_backward_operation({4}, 4, 4);
    op.operands[0].with(list(linear_x)), op.operands[1].with(list(linear_weight));
    op.operands[2].with(list(linear_grad));
    op.operands[4].with(all_equal_to(0)), op.operands[5].with(all_equal_to(0));
    know_golden(op, {linear_dx, linear_dweight, linear_dbias});
    CHECK(computes_its_result(op));
}

TEST_CASE("the workspace of a linear layer's backward pass needs shapes that match",
          "[day06][training][small]") {
    const auto said = [](const Shape& in, const Shape& weight, const Shape& grad,
                         const Shape& d_weight) {
        const auto of = [](const Shape& shape) { return View<float>(nullptr, shape); };
        return rejection([&] {
            (void)linear_backward_workspace_bytes(of(in), of(weight), of(grad),
                                                  {of(d_weight), of({5})});
        });
    };
    const Shape in = {2, 3, 4}, weight = {4, 5}, grad = {2, 3, 5};
    CHECK(said(in, weight, grad, weight).empty());
    CHECK(contains(said({}, weight, grad, weight), "in has shape ()"));
    CHECK(contains(said({6, 5}, weight, grad, weight), "in has shape (6, 5)"));
    CHECK(contains(said(in, {5}, grad, weight), "weight has shape"));
    CHECK(contains(said(in, weight, {}, weight), "grad has shape ()"));
    CHECK(contains(said(in, weight, grad, {5, 4}), "d_weight has shape (5, 4)"));
}

}  // namespace
