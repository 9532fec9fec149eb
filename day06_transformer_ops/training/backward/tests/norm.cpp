// Tests of the norms' backward passes against results from outside the code: central differences,
// PyTorch's autograd, rows far from 0; and arguments that only they have.
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.op.hpp"
#include "day06_transformer_ops/training/backward/tests/outside.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

// The sum of grad times the norm of (rows, C).
double loss_of(bool centred, double eps, const Doubles& in) {
    const Tensor<double>&x = in[0], &w = in[1], &b = in[2], &grad = in[3];
    const std::int64_t rows = x.shape()[0], C = x.shape()[1];
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        double mean = 0, squares = 0;
        for (std::int64_t i = 0; centred && i < C; ++i) mean += x(r, i) / double(C);
        for (std::int64_t i = 0; i < C; ++i) squares += std::pow(x(r, i) - mean, 2) / double(C);
        const double scale = 1 / std::sqrt(squares + eps);
        for (std::int64_t i = 0; i < C; ++i) {
            sum += grad(r, i) * ((x(r, i) - mean) * scale * w(i) + b(i));
        }
    }
    return sum;
}

void check_slopes(const Operation& op, bool centred) {
    const auto loss = [&](const Doubles& in) { return loss_of(centred, 0.25, in); };
    CHECK(is_slope(op, "d_in", "in", loss));
    CHECK(is_slope(op, "d_weight", "weight", loss));
    CHECK(is_slope(op, "d_bias", "bias", loss));
}

TEST_CASE("layer norm's gradients match central differences", "[day06][training][small]") {
    for (const std::int64_t C : {1, 2, 3, 8, 33, 132}) {
        for (const std::int64_t rows : {1, 5}) {
            check_slopes(layer_norm_backward_operation({rows, C}), true);
        }
    }
}

TEST_CASE("RMS norm's gradients match central differences", "[day06][training][small]") {
    for (const Shape& shape : {Shape{5, 1}, {150, 3}, {5, 8}, {5, 130}, {5, 132}}) {
        check_slopes(rms_norm_backward_operation(shape), false);
    }
}

Operation golden(Operation op, const std::vector<double>& x, const std::vector<double>& weight,
                 const std::vector<double>& grad) {
    op.operands[0].with(list(x)), op.operands[1].with(list(weight));
    op.operands[3].with(list(grad));
    for (const std::size_t i : {4, 5, 6}) op.operands[i].with(all_equal_to(0));
    return op;
}

TEST_CASE("both norms' gradients match PyTorch's", "[day06][training][small]") {
    Operation op = golden(layer_norm_backward_operation({3, 6}, 1e-5f), layer_norm_x,
                          layer_norm_weight, layer_norm_grad);
    know_golden(op, {layer_norm_dx, layer_norm_dweight, layer_norm_dbias});
    CHECK(computes_its_result(op));
    op = golden(rms_norm_backward_operation({3, 6}, 1e-5f), rms_norm_x, rms_norm_weight,
                rms_norm_grad);
    know_golden(op, {rms_norm_dx, rms_norm_dweight, rms_norm_dbias});
    CHECK(computes_its_result(op));
}

TEST_CASE("a row near 10240 keeps its gradient, and hundreds of rows sum to the weight's gradient",
          "[day06][training][small]") {
    Operation op = layer_norm_backward_operation({300, 4});
    op.operands[0].with([](std::int64_t k) { return eighths(k) + 10240; });
    // The bound of the same rows near 0: the differences of eighths are exact.
    op.exact = [exact = op.exact](Inputs inputs, int path) {
        for (std::int64_t k = 0; k < 1200; ++k) inputs[0]->data()[k] -= 10240;
        return exact(inputs, path);
    };
    CHECK(computes_its_result(op));
}

TEST_CASE("a norm's bound rejects a one-pass variance", "[day06][training][small]") {
    Operation op = layer_norm_backward_operation({2, 8});
    const Tensor<float> near = random({2, 8}, 36);
    op.operands[0].with([near](std::int64_t k) { return double{near.data()[k] + 1000}; });
    CHECK(computes_its_result(op));
    const auto input = [&](std::size_t i, std::int64_t k) {
        return static_cast<float>(value_of(op, i, k));
    };
    // E[x^2] - E[x]^2: two numbers near a million, whose difference is 1.
    const auto one_pass = [&](std::int64_t r, std::int64_t at) {
        const auto x = [&](std::int64_t i) { return input(0, 8 * r + i); };
        float sum = 0, squares = 0, of_mean = 0, of_scale = 0;
        for (std::int64_t i = 0; i < 8; ++i) sum += x(i), squares += x(i) * x(i);
        const float mean = sum / 8, scale = 1 / std::sqrt(squares / 8 - mean * mean + 0.25f);
        const auto h = [&](std::int64_t i) { return input(3, 8 * r + i) * input(1, i); };
        const auto z = [&](std::int64_t i) { return (x(i) - mean) * scale; };
        for (std::int64_t i = 0; i < 8; ++i) of_mean += h(i), of_scale += h(i) * z(i);
        return scale * (h(at) - of_mean / 8 - z(at) * (of_scale / 8));
    };
    const Expected want = Caller(op).expected({}, 0)[0];
    for (std::int64_t r = 0; r < 2; ++r) {
        double worst = 0;  // relative to the bounds
        for (std::int64_t i = 0; i < 8; ++i) {
            const double off = std::fabs(double{one_pass(r, i)} - want.value(r, i));
            worst = std::max(worst, off / want.error(r, i));
        }
        CHECK(worst > 3);
    }
}

TEST_CASE("RMS norm's backward pass copies the next row ahead if rows are whole vectors",
          "[day06][training][small]") {
    for (const std::int64_t C : {130, 132}) {
        CHECK(computes_its_result(rms_norm_backward_operation({5, C})));
        CHECK(last_kernel() == (C == 132 ? "add_parts_kernel" : "norm_columns_kernel"));
    }
}

TEST_CASE("both norms' backward passes reject a bad eps and rank 0", "[day06][training][small]") {
    for (const float eps : {-1.0f, NAN, INFINITY}) {
        const std::string words = sentence("eps is ", eps, ", but must be 0 or more, and finite");
        CHECK(rejects_as_it_is(layer_norm_backward_operation({3, 5}, eps), words));
        CHECK(rejects_as_it_is(rms_norm_backward_operation({3, 5}, eps), words));
    }
    const View<const float> none(nullptr, Shape{});
    const std::string words = ": in has rank 0, but rows run along the last dimension";
    CHECK(rejection([&] { (void)layer_norm_backward_workspace_bytes(none); }) ==
          "layer_norm_backward" + words);
    CHECK(rejection([&] { (void)rms_norm_backward_workspace_bytes(none); }) ==
          "rms_norm_backward" + words);
}

}  // namespace
