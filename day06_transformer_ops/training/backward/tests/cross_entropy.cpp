// Tests of cross-entropy's backward pass against results from outside the code: central
// differences, PyTorch's autograd, the losses of the logits; and targets out of range.
#include "common/testing/operation/cases.hpp"
#include "day06_transformer_ops/training/backward/cross_entropy_backward.op.hpp"
#include "day06_transformer_ops/training/backward/tests/outside.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

#include "day06_transformer_ops/training/backward/tests/golden_operations.inc"

constexpr int kBlock = static_cast<int>(CrossEntropyBackwardPath::block_per_row);

// The loss of row i.
double loss_of(const Tensor<double>& logits, const Tensor<double>& targets, std::int64_t i) {
    double sum = 0;
    for (std::int64_t j = 0; j < logits.shape()[1]; ++j) sum += std::exp(logits(i, j));
    return std::log(sum) - logits(i, static_cast<std::int64_t>(targets(i)));
}

// The same logits with their losses.
template <class T>
Operation with_losses(const Operation& op) {
    const Shape& shape = op.operands[0].shape;
    Operation made = cross_entropy_backward_operation<T>({shape[0]}, shape[1], true);
    const auto values = [&](std::size_t i) {
        Tensor<double> of(op.operands[i].shape);
        for (std::int64_t k = 0; k < of.size(); ++k) of.data()[k] = value_of(op, i, k);
        return of;
    };
    std::vector<double> losses;
    for (std::int64_t i = 0; i < shape[0]; ++i) losses.push_back(loss_of(values(0), values(1), i));
    for (std::size_t i = 0; i < 3; ++i) made.operands[i].with(taken_from(values(i)));
    made.operands[4].with(list(losses));
    return made;
}

TEST_CASE("cross-entropy's gradients match central differences", "[day06][training][small]") {
    for (const std::int64_t V : {1, 2, 5, 33, 128}) {
        CAPTURE(V);
        const Operation op = cross_entropy_backward_operation({3}, V);
        CHECK(is_slope(op, "out", "logits", [](const Doubles& in) {
            double all = 0;
            for (std::int64_t i = 0; i < 3; ++i) all += in[2](i) * loss_of(in[0], in[1], i);
            return all;
        }));
    }
}

TEST_CASE("cross-entropy's gradients match PyTorch's", "[day06][training][small]") {
    Operation op = cross_entropy_backward_operation({4}, 5);
    op.operands[0].with(list(cross_entropy_x));
    op.operands[2].with(list(cross_entropy_grad));
    know_golden(op, {cross_entropy_dx});
    CHECK(computes_its_result(op));
}

TEST_CASE("cross-entropy's backward pass from losses: few logits, and large ones",
          "[day06][training][small]") {
    for (const std::int64_t V : {1, 2, 5, 33, 128}) {
        for (const double more : {0, 64}) {
            CAPTURE(V, more);
            Operation op = cross_entropy_backward_operation({3}, V);
            op.operands[0].with([=](std::int64_t k) { return eighths(k) + more; });
            const Operation from = with_losses<float>(op);
            CHECK(computes_its_result(from));
            CHECK(computes_its_result(with_losses<bf16>(op)));
            // A loss rounded to float changes each p by half a unit of the loss.
            const Expected want = Caller(op).expected({}, 0)[0],
                           got = Caller(from).expected({}, kBlock)[0];
            CHECK(close(got.value, want.value, 6 * kU * 16));
        }
    }
}

TEST_CASE("target out of range: the CPU reference rejects it, the kernels fill its row with NaN",
          "[day06][training][small]") {
    for (const int none : {3, -1}) {
        Operation op = cross_entropy_backward_operation({2}, 3);
        op.operands[1].with(list({1, double(none)}));
        CHECK(contains(computes_its_result(op).text,
                       sentence("(CPU): cross_entropy: the target at (1) is ", none,
                                ", but there are 3 logits")));
        op.cpu = {};
        CHECK(computes_its_result(op));
    }
}

TEST_CASE("from losses: an invalid target, one at -infinity and a NaN stay in their rows",
          "[day06][training][small]") {
    const auto check = [](Operation op) {
        op.operands[0].with([](std::int64_t k) {
            return k == 11 ? -INFINITY : k == 16 ? NAN : eighths(k);
        });
        op.operands[1].with(list({2, 5, 1, 0, -1}));  // whatever the losses of 5 and -1 are
        op.operands[4].with(list({3, 3, INFINITY, NAN, 3}));
        op.cpu = {};
        op.paths.clear(), op.best = {};  // the best path is the one that uses losses
        op.exact = [exact = op.exact](const Inputs& inputs, int) { return exact(inputs, kBlock); };
        op.operands[4].optional = false;
        const Tensor<double> want = Caller(op).expected({}, 0)[0].value;
        for (std::int64_t k = 0; k < 25; ++k) CHECK(std::isnan(want.data()[k]) == (k >= 5));
        CHECK(computes_its_result(op));
        CHECK(takes_less_memory(op));
    };
    check(cross_entropy_backward_operation({5}, 5, true));
    check(cross_entropy_backward_operation<bf16>({5}, 5, true));
}

TEST_CASE("cross-entropy's backward pass rejects rows without logits, or not along memory",
          "[day06][training][small]") {
    Operation op = cross_entropy_backward_operation({3}, 1);
    op.operands[0].shape = op.operands[3].shape = {3, 0};
    CHECK(rejects_as_it_is(
        op, "logits have shape (3, 0), but need a last dim with at least one logit"));
    op = cross_entropy_backward_operation<bf16>({3}, 5);
    CHECK(Caller(op)(Where::cuda, {.path = 0}).rejected ==
          "cross_entropy_backward: the path 'row per thread' writes float, but out is bf16");
    const std::string rows = "the path 'block per row' needs rows along memory; logits have ",
                      apart = to_string(column_major({3, 5})), along = to_string(row_major({3, 5}));
    op.paths.clear(), op.best = {};
    op.operands[0].placed(column_major({3, 5}));
    CHECK(rejects_as_it_is(op, rows + apart + ", out " + along));
    op.operands[0].placed(row_major({3, 5}));
    op.operands[3].placed(column_major({3, 5}));
    CHECK(rejects_as_it_is(op, rows + along + ", out " + apart));
}

}  // namespace
