/// @file
/// Descriptors of sum_columns and ramp, for tests (common/testing/operation/operation.hpp).
#pragma once

#include <vector>

#include "common/testing/inputs.hpp"
#include "common/testing/operation/operation.hpp"
#include "day02_strides/sweep.hpp"

namespace sixdays::day02_strides {

/// Operands: in, out. Every path adds in the CPU reference's order, so all sums have the same bits.
inline testing::Operation sum_columns_operation(std::int64_t M, std::int64_t K) {
    using namespace testing;
    Operation op{"sum_columns",
                 {reads<float>("in", {M, K})
                      .free_dims({0})
                      .with(taken_from(seeded<float>({M, K}, 5, -1, 1))),
                  writes<float>("out", {K})}};
    op.cpu = [](const Call& c) { sum_columns_cpu(c.in<float>(0), c.out<float>(1)); };
    op.cuda = [](const Call& c) {
        sum_columns_cuda(c.in<float>(0), c.out<float>(1), c.how<SumColumnsPath>());
    };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(Shape{K})};
        for (std::int64_t k = 0; k < K; ++k) {
            float sum = 0;
            for (std::int64_t m = 0; m < M; ++m) sum += static_cast<float>((*inputs[0])(m, k));
            all[0].value(k) = static_cast<double>(sum);
        }
        return all;
    };
    const auto contiguous = [](const Call& c) { return is_contiguous(c.arguments[1].layout); };
    op.takes(SumColumnsPath::one_load, "sum_columns_kernel", contiguous);
    op.takes(SumColumnsPath::in_flight, "sum_columns_in_flight_kernel", contiguous);
    op.best = [=](const Call&) {
        return static_cast<int>(M < 8 ? SumColumnsPath::one_load : SumColumnsPath::in_flight);
    };
    return op;
}

/// Operands: out.
inline testing::Operation ramp_operation(std::int64_t M, std::int64_t K) {
    using namespace testing;
    Operation op{"ramp", {writes<float>("out", {M, K})}};
    op.operands[0].free_dims({0, 1});
    op.cpu = [](const Call& c) { ramp_cpu(c.out<float>(0)); };
    op.cuda = [](const Call& c) { ramp_cuda(c.out<float>(0)); };
    op.exact = [=](const Inputs&, int) {
        std::vector<Expected> all = {Expected(Shape{M, K})};
        for (std::int64_t k = 0; k < M * K; ++k) {
            all[0].value.data()[k] = static_cast<double>(static_cast<float>(k));
        }
        return all;
    };
    return op;
}

}  // namespace sixdays::day02_strides
