/// @file
/// Test descriptor of attention's backward pass from bf16 (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/tests/rows.hpp"
#include "day06_transformer_ops/training/bf16/attention_backward_bf16.hpp"
#include "day06_transformer_ops/training/bf16/tests/near_bf16.hpp"

namespace sixdays::day06_transformer_ops {

/// Errors of a call's saved results, and of a worse kernel.
struct AttentionBf16Errors {
    double out = 0, log_sum = 0;  // of the forward pass's results
    int bits = 8;                 // of weights and slopes: a bf16 has 8
};

/// The gradients of q, k and v by the formulas of attention_backward.hpp.
/// @param inputs  q, k, v, out, log_sums, grad
inline std::vector<testing::Expected> attention_bf16_gradients(const testing::Inputs& inputs,
                                                               const AttentionOptions& options,
                                                               const AttentionBf16Errors& e = {}) {
    const Shape of_q = inputs[0]->shape(), of_k = inputs[1]->shape();
    const int last = of_q.rank - 1;
    const std::int64_t T = of_q[last - 1], S = of_k[last - 1];
    const auto D = static_cast<std::size_t>(of_q[last]);
    const double exact = options.scale > 0 ? double{options.scale} : 1 / std::sqrt(double(D));
    const Near scale = result(exact, 0, 3), log2_of_e = constant(1 / std::log(2.0));
    const auto rounded = [&](const Near& x) {
        return e.bits < 8 ? Near{of_bits(x.value, e.bits)} : to_bf16(x);
    };
    Tensor<Near> d_q(of_q), d_k(of_k), d_v(of_k);
    Tensor<std::vector<Near>> terms_q(of_q), terms_k(of_k), terms_v(of_k);
    for (std::int64_t r = 0; r < size(of_q) / of_q[last]; ++r) {
        Index query = unravel(r * of_q[last], of_q), key = query;
        const auto row = [&](std::size_t i, const Index& at) {
            return row_at(*inputs[i], last, at);
        };
        const std::vector<double> q = row(0, query), out = row(3, query), grad = row(5, query);
        std::vector<Near> g, of_delta;
        for (std::size_t d = 0; d < D; ++d) {
            g.push_back(to_bf16(Near{grad[d]}));
            of_delta.push_back(g.back() * Near{out[d], e.out});
        }
        const Near delta = total(of_delta), log_sum{inputs[4]->data()[r], e.log_sum};
        const std::int64_t n =
            options.causal ? std::max<std::int64_t>(S - T + query[last - 1] + 1, 0) : S;
        for (std::int64_t s = 0; s < n; ++s) {
            key[last - 1] = s, key[last] = 0;
            const std::vector<double> k = row(1, key), v = row(2, key);
            std::vector<Near> of_score, of_weight;
            for (std::size_t d = 0; d < D; ++d) {
                of_score.push_back({q[d] * k[d]});
                of_weight.push_back(times(g[d], v[d]));
            }
            const Near power =
                total_by_tensor_cores(of_score) * (scale * log2_of_e) - log_sum * log2_of_e;
            const Near weight = exp_of(power * constant(std::log(2.0)));
            const Near slope = rounded(weight * (total_by_tensor_cores(of_weight) - delta)),
                       part = rounded(weight);
            for (std::size_t d = 0; d < D; ++d) {
                query[last] = key[last] = static_cast<std::int64_t>(d);
                terms_q(query).push_back(times(slope, k[d]));
                terms_k(key).push_back(times(slope, q[d]));
                terms_v(key).push_back(part * g[d]);
            }
        }
    }
    for (std::int64_t i = 0; i < d_q.size(); ++i) {
        d_q.data()[i] = scale * total_by_tensor_cores(terms_q.data()[i]);
    }
    for (std::int64_t i = 0; i < d_k.size(); ++i) {
        d_k.data()[i] = scale * total_by_tensor_cores(terms_k.data()[i]);
        d_v.data()[i] = total_by_tensor_cores(terms_v.data()[i]);
    }
    return {expected<bf16>(d_q), expected<bf16>(d_k), expected<bf16>(d_v)};
}

/// Sets the calls: with these options, whatever the descriptor's results are.
inline void call_with(testing::Operation& op, const AttentionOptions& options) {
    op.cpu = [=](const testing::Call& c) {
        attention_backward_bf16_cpu(c.in<bf16>(0), c.in<bf16>(1), c.in<bf16>(2), options,
                                    c.in<bf16>(3), c.in<float>(4), c.in<float>(5),
                                    {c.out<bf16>(6), c.out<bf16>(7), c.out<bf16>(8)});
    };
    op.cuda = [=](const testing::Call& c) {
        attention_backward_bf16_cuda(c.in<bf16>(0), c.in<bf16>(1), c.in<bf16>(2), options,
                                     c.in<bf16>(3), c.in<float>(4), c.in<float>(5),
                                     {c.out<bf16>(6), c.out<bf16>(7), c.out<bf16>(8)},
                                     c.how<AttentionBackwardBf16Path>());
    };
}

/// Operands: q, k, v, out, log_sums, grad, d_q, d_k, d_v.
/// @param q  (..., T, D)
/// @param k  (..., S, D)
inline testing::Operation attention_backward_bf16_operation(const Shape& q, const Shape& k,
                                                            const AttentionOptions& options = {}) {
    using namespace testing;
    using Path = AttentionBackwardBf16Path;
    Shape queries = q;
    --queries.rank;
    const Tensor<float> of_q = seeded<float>(q, 1, -2, 2), of_k = seeded<float>(k, 2, -2, 2),
                        of_v = seeded<float>(k, 3, -1, 1);
    Tensor<bf16> out(q);
    Tensor<float> log_sums(queries);
    const auto rounded = [](const Tensor<float>& x) { return converted<bf16>(x.view()); };
    attention_bf16_cpu<bf16>(rounded(of_q).view(), rounded(of_k).view(), rounded(of_v).view(),
                             options, out.view(), log_sums.view());
    Operation op{
        "attention_backward_bf16",
        {reads<bf16>("q", q).with(taken_from(of_q)), reads<bf16>("k", k).with(taken_from(of_k)),
         reads<bf16>("v", k).with(taken_from(of_v)),
         reads<bf16>("out", q).with(taken_from(converted<float>(out.view()))),
         reads<float>("log_sums", queries).with(taken_from(log_sums)),
         reads<float>("grad", q).with(taken_from(seeded<float>(q, 4, -1, 1))),
         writes<bf16>("d_q", q), writes<bf16>("d_k", k), writes<bf16>("d_v", k)}};
    op.interleaved = {{"d_q", "d_k"}, {"d_q", "d_v"}, {"d_k", "d_v"}};
    op.needed_bytes = [](const Call& c) {
        return attention_backward_bf16_workspace_bytes(c.in<bf16>(0));
    };
    call_with(op, options);
    op.exact = [=](const Inputs& inputs, int) { return attention_bf16_gradients(inputs, options); };
    const int last = q.rank - 1;
    const auto by_tensor_cores = [=](const Call& c) {
        bool all = q[last] <= 128;
        for (const std::size_t i : {0, 1, 2}) {
            const Call::Argument& x = c.arguments[i];
            all = all && (x.layout.size() == 0 || has_rows_of_vectors<bf16>(x, last));
        }
        for (const std::size_t i : {6, 7, 8}) {  // two adjacent elements are stored at once
            const Call::Argument& x = c.arguments[i];
            all = all && has_rows_along_memory(x, last);
            for_each_row(x.layout.shape, last, [&](const Index& at) {
                const auto* const row = x.data + offset(x.layout, at) * std::int64_t{sizeof(bf16)};
                all = all && reinterpret_cast<std::uintptr_t>(row) % 4 == 0;
            });
        }
        return all;
    };
    op.takes(Path::row_per_thread, k[last - 1] > 0 ? "key_back_kernel" : "query_back_kernel");
    op.takes(Path::tensor_cores, "attention_backward_kernel", by_tensor_cores);
    op.best = [=](const Call& c) {
        return static_cast<int>(by_tensor_cores(c) ? Path::tensor_cores : Path::row_per_thread);
    };
    op.repeated = {"row per thread", "tensor cores"};
    return op;
}

}  // namespace sixdays::day06_transformer_ops
