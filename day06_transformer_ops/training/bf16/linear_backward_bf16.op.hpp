/// @file
/// Test descriptor of a linear layer's backward pass from bf16
/// (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/training/backward/linear_backward.op.hpp"
#include "day06_transformer_ops/training/bf16/linear_backward_bf16.hpp"
#include "day06_transformer_ops/training/bf16/tests/near_bf16.hpp"

namespace sixdays::day06_transformer_ops {

/// Operands: in (rows, K), weight, grad (rows, N), d_in, d_weight.
/// @param rows  one dimension or more
/// @tparam In    of d_in
template <class In = float>
testing::Operation linear_backward_bf16_operation(const Shape& rows, std::int64_t K,
                                                  std::int64_t N) {
    using namespace testing;
    Shape in = rows, out = rows;
    in[in.rank++] = K, out[out.rank++] = N;
    Operation op{"linear_backward_bf16",
                 {reads<bf16>("in", in).with(taken_from(seeded<float>(in, 1, -1, 1))),
                  reads<bf16>("weight", {K, N}).with(taken_from(seeded<float>({K, N}, 2, -1, 1))),
                  reads<bf16>("grad", out).with(taken_from(seeded<float>(out, 3, -1, 1))),
                  writes<In>("d_in", in), updates<float>("d_weight", {K, N})}};
    op.cpu = [](const Call& c) {
        linear_backward_bf16_cpu(c.in<bf16>(0), c.in<bf16>(1), c.in<bf16>(2), c.out<In>(3),
                                 c.out<float>(4));
    };
    op.cuda = [](const Call& c) {
        linear_backward_bf16_cuda(c.in<bf16>(0), c.in<bf16>(1), c.in<bf16>(2), c.out<In>(3),
                                  c.out<float>(4));
    };
    op.exact = [=](const Inputs& inputs, int) {
        const View<const double> x = matrix_of(*inputs[0]), w = inputs[1]->view(),
                                 g = matrix_of(*inputs[2]);
        Tensor<Near> d_in(in), d_weight({K, N});
        for (std::int64_t k = 0; k < K; ++k) {
            for (std::int64_t m = 0; m < x.extent(0); ++m) {
                std::vector<Near> terms;
                for (std::int64_t n = 0; n < N; ++n) terms.push_back({g(m, n) * w(k, n)});
                d_in.data()[m * K + k] = total_by_tensor_cores(terms);
            }
            for (std::int64_t n = 0; n < N; ++n) {
                std::vector<Near> terms = {{(*inputs[4])(k, n)}};
                for (std::int64_t m = 0; m < x.extent(0); ++m) terms.push_back({x(m, k) * g(m, n)});
                d_weight(k, n) = total_by_tensor_cores(terms);
            }
        }
        return std::vector{expected<In>(d_in), expected(d_weight)};
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
