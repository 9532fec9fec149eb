/// @file
/// Test descriptors of cross-entropy's backward pass (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/tests/rows.hpp"
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

namespace sixdays::day06_transformer_ops {

/// The gradients of a row's logits.
///
/// A probability p = exp(x - m) / sum, with m the row's maximum: rounding x - m makes a relative
/// error of |x - m| units in exp, which adds at most 4 units; the sum of V terms adds V more. p - 1
/// and the product are rounded. So the error of a gradient g (p - [j = t]) is |g| times p's units,
/// and two of the result.
inline std::vector<Near> logit_gradients(const std::vector<double>& row, std::int64_t target,
                                         double grad) {
    const auto [least, largest] = std::minmax_element(row.begin(), row.end());
    double sum = 0;
    for (const double x : row) sum += std::exp(x - *largest);
    const double units = 2 * (*largest - *least) + static_cast<double>(row.size()) + 10;
    std::vector<Near> made;
    for (std::size_t j = 0; j < row.size(); ++j) {
        const double p = std::exp(row[j] - *largest) / sum;
        const double left = static_cast<std::int64_t>(j) == target ? p - 1 : p;
        made.push_back({grad * left, kU * std::fabs(grad) * (units * p + 2 * std::fabs(left))});
    }
    return made;
}

/// The same from the row's loss: p = exp(x - (loss + x(target))).
inline std::vector<Near> logit_gradients(const std::vector<double>& row, std::int64_t target,
                                         double grad, double loss) {
    const Near log_sum = Near{loss} + Near{row[static_cast<std::size_t>(target)]}, g{grad};
    std::vector<Near> made;
    for (std::size_t j = 0; j < row.size(); ++j) {
        const Near p = g * exp_of(Near{row[j]} - log_sum);
        made.push_back(static_cast<std::int64_t>(j) == target ? p - g : p);
    }
    return made;
}

/// Operands: logits (..., V), targets (...), grad (...), out (..., V) and, if wanted, losses (...),
/// which are not those of the logits: only 'block per row' uses them. The gradient of a target out
/// of range is NaN, as by the CUDA version.
template <class T = float>
testing::Operation cross_entropy_backward_operation(const Shape& rows, std::int64_t V,
                                                    bool losses = false) {
    using namespace testing;
    using Path = CrossEntropyBackwardPath;
    Shape logits = rows;
    logits[logits.rank++] = V;
    const int last = rows.rank;
    constexpr bool is_float = std::is_same_v<T, float>;
    Operation op{"cross_entropy_backward",
                 {reads<float>("logits", logits).with(taken_from(random(logits, 1))),
                  reads<std::int64_t>("targets", rows).with([V](std::int64_t k) {
                      return static_cast<double>((k * 7 + V - 1) % V);
                  }),
                  reads<float>("grad", rows).broadcasts().with(taken_from(random(rows, 2))),
                  writes<T>("out", logits)}};
    if (losses) {
        op.operands.push_back(reads<float>("losses", rows).may_be_null().with([](std::int64_t k) {
            return 4 + static_cast<double>(k % 3) / 3;
        }));
    }
    const auto losses_of = [=](const Call& c) {
        return losses ? c.in<float>(4) : View<const float>();
    };
    if (is_float) op.in_place = {{"logits", "out"}};
    op.cpu = [=](const Call& c) {
        cross_entropy_backward_cpu(c.in<float>(0), c.in<std::int64_t>(1), c.in<float>(2),
                                   c.out<T>(3), losses_of(c));
    };
    op.cuda = [=](const Call& c) {
        cross_entropy_backward_cuda(c.in<float>(0), c.in<std::int64_t>(1), c.in<float>(2),
                                    c.out<T>(3), losses_of(c), c.how<Path>());
    };
    op.exact = [=](const Inputs& inputs, int path) {
        Tensor<Near> all(logits);
        const Tensor<double>& grad = *inputs[2];  // (...), or one for all rows
        const bool from_losses =
            losses && inputs[4] && static_cast<Path>(path) == Path::block_per_row;
        for (std::int64_t r = 0; r < size(rows); ++r) {
            const auto target = static_cast<std::int64_t>(inputs[1]->data()[r]);
            const double g = grad.data()[grad.size() == 1 ? 0 : r];
            const std::vector<double> x = row_at(*inputs[0], last, unravel(r * V, logits));
            const std::vector<Near> made =
                target < 0 || target >= V ? std::vector<Near>(x.size(), {NAN, 0})
                : from_losses             ? logit_gradients(x, target, g, inputs[4]->data()[r])
                                          : logit_gradients(x, target, g);
            std::copy(made.begin(), made.end(), all.data() + r * V);
        }
        return std::vector{expected<T>(all)};
    };
    const auto along = [=](const Call& c) {
        return has_rows_along_memory(c.arguments[0], last) &&
               has_rows_along_memory(c.arguments[3], last);
    };
    op.takes(Path::row_per_thread, "cross_entropy_backward_kernel",
             [](const Call&) { return is_float; });
    op.takes(Path::block_per_row, "cross_entropy_backward_block_kernel", along);
    op.best = [along](const Call& c) {
        return static_cast<int>(!is_float || along(c) ? Path::block_per_row : Path::row_per_thread);
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
