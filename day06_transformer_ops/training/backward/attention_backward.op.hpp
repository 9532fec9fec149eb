/// @file
/// Test descriptors of attention's backward pass (common/testing/operation/operation.hpp).
#pragma once

#include "common/testing/operation/call.hpp"
#include "day06_transformer_ops/tests/rows.hpp"
#include "day06_transformer_ops/training/backward/attention_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

namespace sixdays::day06_transformer_ops {

inline AttentionOptions attention_options(bool causal, float scale = 0) {
    AttentionOptions options;
    options.causal = causal, options.scale = scale;
    return options;
}

/// What one query adds to the gradients; [i] is key i of those that it sees, [d] an element.
struct AttentionRow {
    std::vector<Near> weight, d_score;  // [i]; d_score times the scale
    Near log_sum;
    std::vector<double> out;  // [d], of the forward pass
};
/// The results of the forward pass with which the path 'kept' begins.
struct SavedRow {
    double log_sum;
    std::vector<Near> out;  // [d]
};

/// The formulas of attention_backward.hpp for one query.
/// @param k, v  rows of the keys that it sees
inline AttentionRow attention_row(const std::vector<Near>& q, const std::vector<Near>& grad,
                                  const std::vector<std::vector<Near>>& k,
                                  const std::vector<std::vector<Near>>& v, const Near& scale,
                                  const std::optional<SavedRow>& saved) {
    const auto dot = [](const std::vector<Near>& a, const std::vector<Near>& b) {
        std::vector<Near> terms;
        for (std::size_t d = 0; d < a.size(); ++d) terms.push_back(a[d] * b[d]);
        return total(terms);
    };
    const std::size_t n = k.size();
    std::vector<Near> score, e, d_weight, mean;
    double m = -INFINITY, least = INFINITY;
    for (std::size_t i = 0; i < n; ++i) {
        score.push_back(scale * dot(q, k[i]));
        d_weight.push_back(dot(grad, v[i]));
        m = std::max(m, score[i].value), least = std::min(least, score[i].value);
    }
    // The result does not depend on m. A tile with a larger m rescales the sums by exp of the
    // difference, and so do threads that combine theirs.
    const Near again = result(1, 0, static_cast<double>(n / 64 + 2) * 6 + 2 * (m - least));
    for (std::size_t i = 0; i < n; ++i) {
        e.push_back(exp_of(score[i] - Near{m}) * again);
        mean.push_back(e[i] * d_weight[i]);
    }
    const Near sum = total(e);
    AttentionRow made;
    made.log_sum = Near{m} + log_of(sum);
    for (std::size_t d = 0; d < q.size(); ++d) {
        double out = 0;
        for (std::size_t i = 0; i < n; ++i) out += e[i].value / sum.value * v[i][d].value;
        made.out.push_back(out);
    }
    // Saved as a float, then multiplied by log2(e).
    const Near log_sum = saved ? result(saved->log_sum, 0, 2) : made.log_sum;
    const Near delta = saved ? dot(grad, saved->out) : total(mean) / sum;
    for (std::size_t i = 0; i < n; ++i) {
        made.weight.push_back(exp_of(score[i] - log_sum));
        made.d_score.push_back(scale * (made.weight[i] * (d_weight[i] - delta)));
    }
    return made;
}

/// The gradients of q, k and v, and what the forward pass saves.
struct AttentionResults {
    Tensor<Near> q, k, v;
    Tensor<double> out, log_sums;
};
/// @param inputs  q (..., T, D), k and v (..., S, D), grad; if `kept`, out and log_sums at 7 and 8
inline AttentionResults attention_gradients(const testing::Inputs& inputs,
                                            const AttentionOptions& options, bool kept) {
    const Shape of_q = inputs[0]->shape(), of_k = inputs[1]->shape();
    const int last = of_q.rank - 1;
    const std::int64_t T = of_q[last - 1], S = of_k[last - 1];
    const auto D = static_cast<std::size_t>(of_q[last]);
    const double exact =
        options.scale != 0 ? double{options.scale} : 1 / std::sqrt(static_cast<double>(D));
    const Near scale = result(exact, 0, 4);  // a root, a quotient, and log2(e) for exp2
    const auto row = [&](const Tensor<double>& x, const Index& at) {
        std::vector<Near> made;
        for (const double value : row_at(x, last, at)) made.push_back({value});
        return made;
    };
    Shape queries = of_q;
    --queries.rank;
    AttentionResults made{Tensor<Near>(of_q), Tensor<Near>(of_k), Tensor<Near>(of_k),
                          Tensor<double>(of_q), Tensor<double>(queries)};
    Tensor<std::vector<Near>> terms_k(of_k), terms_v(of_k);
    for (std::int64_t r = 0; r < size(queries); ++r) {
        Index query = unravel(r * of_q[last], of_q), key = query;
        for (int d = 0; d < last - 1; ++d) key[d] = of_k[d] == 1 ? 0 : query[d];
        const std::int64_t n =
            options.causal ? std::max<std::int64_t>(S - T + query[last - 1] + 1, 0) : S;
        std::vector<std::vector<Near>> k, v;
        for (std::int64_t s = 0; s < n; ++s) {
            key[last - 1] = s;
            k.push_back(row(*inputs[1], key)), v.push_back(row(*inputs[2], key));
        }
        std::optional<SavedRow> saved;
        if (kept) saved = {inputs[8]->data()[r], row(*inputs[7], query)};
        const std::vector<Near> q = row(*inputs[0], query), grad = row(*inputs[3], query);
        const AttentionRow of = attention_row(q, grad, k, v, scale, saved);
        made.log_sums.data()[r] = of.log_sum.value;
        for (std::size_t d = 0; d < D; ++d) {
            query[last] = key[last] = static_cast<std::int64_t>(d);
            std::vector<Near> terms;
            for (std::size_t i = 0; i < k.size(); ++i) {
                key[last - 1] = static_cast<std::int64_t>(i);
                terms.push_back(of.d_score[i] * k[i][d]);
                terms_k(key).push_back(of.d_score[i] * q[d]);
                terms_v(key).push_back(of.weight[i] * grad[d]);
            }
            made.q(query) = total(terms);
            made.out(query) = of.out[d];
        }
    }
    for (std::int64_t i = 0; i < made.k.size(); ++i) {
        made.k.data()[i] = total(terms_k.data()[i]);
        made.v.data()[i] = total(terms_v.data()[i]);
    }
    return made;
}

/// Operands: q, k, v, grad, d_q, d_k, d_v; and, if saved, out and log_sums.
/// @param q  (..., T, D)
/// @param k  (..., S, D); an extent of 1: heads share keys
inline testing::Operation attention_backward_operation(const Shape& q, const Shape& k,
                                                       const AttentionOptions& options = {},
                                                       bool saved = false) {
    using namespace testing;
    using Path = AttentionBackwardPath;
    Operation op{"attention_backward",
                 {reads<float>("q", q).with(taken_from(random(q, 21))),
                  reads<float>("k", k).with(taken_from(random(k, 22))),
                  reads<float>("v", k).with(taken_from(random(k, 23))),
                  reads<float>("grad", q).with(taken_from(random(q, 24))), writes<float>("d_q", q),
                  writes<float>("d_k", k), writes<float>("d_v", k)}};
    if (saved) {
        Inputs inputs;
        for (std::size_t i = 0; i < 4; ++i) {
            Tensor<double>& x = inputs.emplace_back(Tensor<double>(op.operands[i].shape)).value();
            for (std::int64_t n = 0; n < x.size(); ++n) x.data()[n] = value_of(op, i, n);
        }
        const AttentionResults forward = attention_gradients(inputs, options, false);
        op.operands.push_back(reads<float>("out", q).with(taken_from(forward.out)));
        op.operands.push_back(
            reads<float>("log_sums", forward.log_sums.shape()).with(taken_from(forward.log_sums)));
    }
    const auto saved_of = [=](const Call& c) {
        return saved ? AttentionSaved{c.in<float>(7), c.in<float>(8)} : AttentionSaved{};
    };
    op.interleaved = {{"d_q", "d_k"}, {"d_q", "d_v"}, {"d_k", "d_v"}};
    op.needed_bytes = [](const Call& c) {
        return attention_backward_workspace_bytes(c.in<float>(0));
    };
    op.cpu = [=](const Call& c) {
        attention_backward_cpu(c.in<float>(0), c.in<float>(1), c.in<float>(2), options,
                               c.in<float>(3), {c.out<float>(4), c.out<float>(5), c.out<float>(6)},
                               saved_of(c));
    };
    op.cuda = [=](const Call& c) {
        attention_backward_cuda(c.in<float>(0), c.in<float>(1), c.in<float>(2), options,
                                c.in<float>(3), {c.out<float>(4), c.out<float>(5), c.out<float>(6)},
                                saved_of(c), c.how<Path>());
    };
    op.exact = [=](const Inputs& inputs, int path) {
        const bool kept = static_cast<Path>(path) == Path::kept && saved;
        const AttentionResults made = attention_gradients(inputs, options, kept);
        return std::vector{expected(made.q), expected(made.k), expected(made.v)};
    };
    const bool narrow = q[q.rank - 1] <= 128;
    op.takes(Path::row_per_thread, "keys_backward_kernel");
    op.takes(Path::tiles, "keys_tiles_kernel", [=](const Call&) { return narrow; });
    op.takes(Path::kept, "kept_keys_kernel", [=](const Call&) { return narrow && saved; });
    if (q[q.rank - 2] < 32 || !narrow) {  // else it depends on the device's shared memory
        op.best = [](const Call&) { return static_cast<int>(Path::row_per_thread); };
    }
    if (saved && attention_keeps_cuda({nullptr, q})) {
        op.best = [](const Call&) { return static_cast<int>(Path::kept); };
    }
    if (!saved) op.not_taken = {"kept"};
    op.repeated = {"kept"};
    return op;
}

}  // namespace sixdays::day06_transformer_ops
