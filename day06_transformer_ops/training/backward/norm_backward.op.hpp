/// @file
/// Test descriptors of the norms' backward passes (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/tests/rows.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

namespace sixdays::day06_transformer_ops {

/// The gradients of one row of a layer norm (`centred`) or an RMS norm.
struct NormRow {
    std::vector<Near> in;      ///< of each element
    std::vector<Near> weight;  ///< the row's term in the gradient of each weight
};
/// @param weights  of the norm
inline NormRow norm_row(bool centred, const std::vector<double>& row,
                        const std::vector<double>& weights, double eps,
                        const std::vector<double>& grad) {
    const Near count = constant(1 / static_cast<double>(row.size())), first{row[0]};
    std::vector<Near> from, squares, a, z, h, hz;
    for (const double x : row) from.push_back(Near{x} - first);
    const Near mean = centred ? first + total(from) * count : Near{};
    for (const double x : row) {
        a.push_back(centred ? Near{x} - mean : Near{x});
        squares.push_back(a.back() * a.back());
    }
    const Near scale = Near{1} / root(total(squares) * count + Near{eps});
    NormRow made;
    for (std::size_t i = 0; i < row.size(); ++i) {
        z.push_back(a[i] * scale);
        h.push_back(Near{grad[i]} * Near{weights[i]});
        hz.push_back(h[i] * z[i]);
        made.weight.push_back(Near{grad[i]} * z[i]);
    }
    const Near of_mean = centred ? total(h) * count : Near{}, of_scale = total(hz) * count;
    for (std::size_t i = 0; i < row.size(); ++i) {
        made.in.push_back(scale * (h[i] - of_mean - z[i] * of_scale));
    }
    return made;
}

/// The outputs of norm_backward_operands().
inline std::vector<testing::Expected> norm_gradients(bool centred, const testing::Inputs& inputs,
                                                     double eps) {
    const Tensor<double>&x = *inputs[0], &grad = *inputs[3];
    const int last = x.shape().rank - 1;
    const std::int64_t C = x.shape()[last];
    const auto n = static_cast<std::size_t>(C);
    const std::vector<double> weights =
        inputs[1] ? row_at(*inputs[1], 0, {0}) : std::vector<double>(n, 1);
    Tensor<Near> in(x.shape());
    std::vector<std::vector<Near>> terms(n), bias_terms(n);
    for_each_row(x.shape(), last, [&](Index at) {
        const std::vector<double> g = row_at(grad, last, at);
        const NormRow row = norm_row(centred, row_at(x, last, at), weights, eps, g);
        for (std::size_t i = 0; i < n; ++i) {
            at[last] = static_cast<std::int64_t>(i);
            in(at) = Near{(*inputs[4])(at)} + row.in[i];
            terms[i].push_back(row.weight[i]);
            bias_terms[i].push_back({g[i]});
        }
    });
    std::vector<testing::Expected> all = {expected(in)};
    // A gradient that is left out has no previous values, and is not compared.
    const auto add = [&](std::size_t output, std::vector<std::vector<Near>>& rows) {
        if (inputs.size() <= output) return;
        Tensor<Near> sums({C});
        for (std::size_t i = 0; i < n; ++i) {
            const auto at = static_cast<std::int64_t>(i);
            rows[i].push_back({inputs[output] ? (*inputs[output])(at) : 0});
            sums(at) = total(rows[i]);
        }
        all.push_back(expected(sums));
    };
    add(5, terms), add(6, bias_terms);
    return all;
}

/// Operands: in, weight, bias, grad, d_in, d_weight, d_bias; the last two may be removed.
inline testing::Operation norm_backward_operands(const char* name, bool centred, const Shape& shape,
                                                 float eps) {
    using namespace testing;
    const Shape row = {shape[shape.rank - 1]};
    Operation op{name,
                 {reads<float>("in", shape).with(taken_from(random(shape, 5))),
                  reads<float>("weight", row).may_be_null().with(taken_from(random(row, 6))),
                  reads<float>("bias", row).may_be_null(),
                  reads<float>("grad", shape).with(taken_from(random(shape, 7))),
                  updates<float>("d_in", shape), updates<float>("d_weight", row).may_be_null(),
                  updates<float>("d_bias", row).may_be_null()}};
    op.exact = [=](const Inputs& inputs, int) {
        return norm_gradients(centred, inputs, static_cast<double>(eps));
    };
    return op;
}

/// How the norms' backward passes take the operands of a call.
struct NormBackwardCall {
    View<const float> in;
    NormParameters parameters;
    View<const float> grad;
    View<float> d_in;
    NormGradients d;
    NormBackwardCall(const Call& c, float eps)
        : in(c.in<float>(0)),
          parameters{c.in<float>(1), c.in<float>(2), eps},
          grad(c.in<float>(3)),
          d_in(c.out<float>(4)) {
        if (c.arguments.size() > 5) d = {c.out<float>(5), c.out<float>(6)};
    }
};

inline testing::Operation layer_norm_backward_operation(const Shape& shape, float eps = 0.25f) {
    using namespace testing;
    using Path = LayerNormBackwardPath;
    Operation op = norm_backward_operands("layer_norm_backward", true, shape, eps);
    op.needed_bytes = [](const Call& c) {
        return layer_norm_backward_workspace_bytes(c.in<float>(0));
    };
    op.cpu = [eps](const Call& c) {
        const NormBackwardCall a(c, eps);
        layer_norm_backward_cpu(a.in, a.parameters, a.grad, a.d_in, a.d);
    };
    op.cuda = [eps](const Call& c) {
        const NormBackwardCall a(c, eps);
        layer_norm_backward_cuda(a.in, a.parameters, a.grad, a.d_in, a.d, c.how<Path>());
    };
    const bool empty = size(shape) == 0;
    const int last = shape.rank - 1;
    const auto has_vectors = [=](const Call& c) {
        bool all = shape[last] <= 1024;
        for (const std::size_t i : {0, 3, 4}) {
            all = all && has_rows_of_vectors<float>(c.arguments[i], last);
        }
        return all;
    };
    const auto accepts = [=](const Call& c) { return empty || has_vectors(c); };
    // The last kernel adds up the parameters' gradients, if there are any.
    const auto last_of = [](const char* columns, const char* rows) {
        return [=](const Call& c) { return std::string(c.arguments.size() > 5 ? columns : rows); };
    };
    op.takes(Path::row_per_thread, "").kernel_of =
        last_of("norm_columns_kernel", "layer_norm_backward_kernel");
    op.takes(Path::registers, "", accepts).kernel_of =
        last_of("add_parts_kernel", "layer_norm_registers_kernel");
    op.takes(Path::ahead, "", accepts).kernel_of = last_of("add_parts_kernel", "norm_ahead_kernel");
    op.best = [=](const Call& c) {
        return static_cast<int>(has_vectors(c) ? Path::ahead : Path::row_per_thread);
    };
    return op;
}

inline testing::Operation rms_norm_backward_operation(const Shape& shape, float eps = 0.25f) {
    using namespace testing;
    Operation op = norm_backward_operands("rms_norm_backward", false, shape, eps);
    op.needed_bytes = [](const Call& c) {
        return rms_norm_backward_workspace_bytes(c.in<float>(0));
    };
    op.cpu = [eps](const Call& c) {
        const NormBackwardCall a(c, eps);
        rms_norm_backward_cpu(a.in, a.parameters, a.grad, a.d_in, a.d);
    };
    op.cuda = [eps](const Call& c) {
        const NormBackwardCall a(c, eps);
        rms_norm_backward_cuda(a.in, a.parameters, a.grad, a.d_in, a.d, c.workspace);
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
