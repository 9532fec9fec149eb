/// @file
/// Test descriptor of the sinusoidal positions (common/testing/operation/operation.hpp).
#pragma once

#include <utility>
#include <vector>

#include "day06_transformer_ops/embedding/sinusoidal.hpp"
#include "day06_transformer_ops/tests/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// Operand: out.
inline testing::Operation sinusoidal_operation(const Shape& shape, double base = 10000) {
    using namespace testing;
    Operation op{"sinusoidal_positions", {writes<float>("out", shape).free_dims({0, 1})}};
    op.cpu = [=](const Call& c) { sinusoidal_positions_cpu(c.out<float>(0), base); };
    op.cuda = [=](const Call& c) { sinusoidal_positions_cuda(c.out<float>(0), base); };
    // Advancing one position rotates each pair by a fixed angle.
    op.exact = [=](const Inputs&, int) {
        std::vector<Expected> all = {Expected(shape)};
        const std::int64_t C = shape[1];
        for (std::int64_t k = 0; k < size(shape); ++k) {
            const std::int64_t p = k / C, c = k % C;
            const long double step =
                std::exp(-std::log(static_cast<long double>(base)) *
                         static_cast<long double>(c - c % 2) / static_cast<long double>(C));
            const long double angle = step * static_cast<long double>(p);
            const double y = static_cast<double>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
            all[0].value.data()[k] = y;
            // One rounding to float, and the error of large angles in double.
            all[0].error.data()[k] = std::fabs(y) * 1.01 * kU + 1e-9;
        }
        return all;
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
