/// @file
/// Test descriptors of a linear layer's backward pass (common/testing/operation/operation.hpp).
#pragma once

#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/tests/rows.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

namespace sixdays::day06_transformer_ops {

/// The product of (M, K) and (K, N), added to `before`, (M, N), if that is given.
inline Tensor<Near> product(const View<const double>& a, const View<const double>& b,
                            const Tensor<double>* before = nullptr) {
    const std::int64_t M = a.extent(0), K = a.extent(1), N = b.extent(1);
    Tensor<Near> made({M, N});
    for (std::int64_t i = 0; i < M; ++i) {
        for (std::int64_t j = 0; j < N; ++j) {
            std::vector<Near> terms;
            if (before != nullptr) terms.push_back({(*before)(i, j)});
            for (std::int64_t k = 0; k < K; ++k) terms.push_back(Near{a(i, k)} * Near{b(k, j)});
            made(i, j) = total(terms);
        }
    }
    return made;
}

/// The sums of the columns of (M, N), added to `before`, (N).
inline Tensor<Near> sums_of_columns(const View<const double>& g,
                                    const std::optional<Tensor<double>>& before) {
    Tensor<Near> made({g.extent(1)});
    for (std::int64_t n = 0; n < g.extent(1); ++n) {
        std::vector<Near> terms = {{before ? (*before)(n) : 0}};
        for (std::int64_t m = 0; m < g.extent(0); ++m) terms.push_back({g(m, n)});
        made(n) = total(terms);
    }
    return made;
}

/// The rows of (..., C) as a matrix.
inline View<const double> matrix_of(const Tensor<double>& x) {
    const std::int64_t C = x.shape()[x.shape().rank - 1];
    return {x.data(), Shape{x.size() / C, C}};
}

/// Operands: in (rows, K), weight, grad (rows, N), d_in, d_weight, d_bias.
/// @param rows  one dimension or more
inline testing::Operation linear_backward_operation(const Shape& rows, std::int64_t K,
                                                    std::int64_t N) {
    using namespace testing;
    Shape in = rows, out = rows;
    in[in.rank++] = K, out[out.rank++] = N;
    Operation op{
        "linear_backward",
        {reads<float>("in", in).with(taken_from(random(in, 15))),
         reads<float>("weight", {K, N}).with(taken_from(random({K, N}, 16))),
         reads<float>("grad", out).with(taken_from(random(out, 17))), writes<float>("d_in", in),
         updates<float>("d_weight", {K, N}), updates<float>("d_bias", {N}).may_be_null()}};
    op.needed_bytes = [](const Call& c) {
        return linear_backward_workspace_bytes(c.in<float>(0), c.in<float>(1), c.in<float>(2),
                                               {c.out<float>(4), c.out<float>(5)});
    };
    op.cpu = [](const Call& c) {
        linear_backward_cpu(c.in<float>(0), c.in<float>(1), c.in<float>(2), c.out<float>(3),
                            {c.out<float>(4), c.out<float>(5)});
    };
    op.cuda = [](const Call& c) {
        linear_backward_cuda(c.in<float>(0), c.in<float>(1), c.in<float>(2), c.out<float>(3),
                             {c.out<float>(4), c.out<float>(5)}, c.workspace);
    };
    op.exact = [=](const Inputs& inputs, int) {
        const View<const double> x = matrix_of(*inputs[0]), w = inputs[1]->view(),
                                 g = matrix_of(*inputs[2]);
        const Tensor<Near> d_rows = product(g, transpose(w));
        Tensor<Near> d_in(in);
        std::copy_n(d_rows.data(), d_in.size(), d_in.data());
        return std::vector{expected(d_in), expected(product(transpose(x), g, &*inputs[4])),
                           expected(sums_of_columns(g, inputs[5]))};
    };
    return op;
}

/// The bias alone, which has no CPU reference. Operands: grad (..., N), d_bias (N).
template <class T = float>
testing::Operation bias_backward_operation(const Shape& grad) {
    using namespace testing;
    const Shape row = {grad[grad.rank - 1]};
    Operation op{
        "bias_backward",
        {reads<T>("grad", grad).with(taken_from(random(grad, 17))), updates<float>("d_bias", row)}};
    op.operands[0].broadcasts();  // any number of dimensions of rows
    for (int d = 0; d + 1 < grad.rank; ++d) op.operands[0].free.push_back(d);
    op.needed_bytes = [](const Call& c) { return bias_backward_workspace_bytes(c.in<T>(0)); };
    op.cuda = [](const Call& c) { bias_backward_cuda(c.in<T>(0), c.out<float>(1), c.workspace); };
    op.exact = [](const Inputs& inputs, int) {
        return std::vector{expected(sums_of_columns(matrix_of(*inputs[0]), inputs[1]))};
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
