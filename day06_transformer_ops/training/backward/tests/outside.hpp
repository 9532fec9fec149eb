/// @file
/// For descriptions (`<set>.op.hpp`): their exact results against results from outside the code.
#pragma once

#include "common/testing/operation/call.hpp"
#include "day06_transformer_ops/training/tests/slopes.hpp"

namespace sixdays::day06_transformer_ops {

/// Sets the expected values of all outputs, in their order, to PyTorch's. They are doubles written
/// with 12 digits, and 1 - erf(9) has no digit of erfc(9).
inline void know_golden(testing::Operation& op, const std::vector<std::vector<double>>& outputs) {
    op.exact = [outputs, exact = op.exact](const testing::Inputs& inputs, int path) {
        std::vector<testing::Expected> all = exact(inputs, path);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            for (std::size_t k = 0; k < outputs[i].size(); ++k) {
                const double value = all[i].value.data()[k] = outputs[i][k];
                if (std::isfinite(value))
                    all[i].error.data()[k] += std::fabs(value) * 1e-12 + 1e-16;
            }
        }
        return all;
    };
}

/// The values of a description's operands, in their order.
using Doubles = std::vector<Tensor<double>>;

/// Is what a description adds to the output `to`, or sets it to, the derivative of f by the operand
/// `by`? By central differences, which are accurate to 1e-7 of the largest element.
inline testing::Comparison is_slope(const testing::Operation& op, const std::string& to,
                                    const std::string& by,
                                    const std::function<double(const Doubles&)>& f) {
    Doubles all;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        Tensor<double>& x = all.emplace_back(op.operands[i].shape);
        for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = testing::value_of(op, i, k);
    }
    const auto output = static_cast<std::size_t>(testing::index_of(op, to));
    const auto input = static_cast<std::size_t>(testing::index_of(op, by));
    std::size_t written = 0;  // outputs before `to`
    for (std::size_t i = 0; i < output; ++i) {
        written += op.operands[i].use == testing::Use::reads ? 0 : 1;
    }
    Tensor<double> got = testing::Caller(op).expected({}, 0)[written].value;
    const bool adds = op.operands[output].use == testing::Use::updates;
    double largest = 1;
    for (std::int64_t k = 0; k < got.size(); ++k) {
        if (adds) got.data()[k] -= all[output].data()[k];
        largest = std::max(largest, std::fabs(got.data()[k]));
    }
    return testing::close(got, slopes(all[input], [&] { return f(all); }), 1e-7 * largest);
}

}  // namespace sixdays::day06_transformer_ops
