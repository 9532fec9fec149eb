/// @file
/// Test descriptor of attention (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/tests/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// One call of attention.
struct Attending {
    Shape stack = {};  // of q, and of k and v unless these are shared
    std::int64_t T = 1, S = 1, D = 1;
    bool causal = true;
    float scale = 0;
    std::int64_t counted = -1;  // keys; -1: all S, and no length in memory
    std::optional<Shape> stack_of_keys = {};

    [[nodiscard]] Shape queries() const {
        Shape shape = stack;
        return shape[shape.rank++] = T, shape;
    }
    [[nodiscard]] Shape q() const {
        Shape shape = queries();
        return shape[shape.rank++] = D, shape;
    }
    [[nodiscard]] Shape k() const {
        Shape shape = stack_of_keys.value_or(stack);
        return shape[shape.rank++] = S, shape[shape.rank++] = D, shape;
    }
};

/// Sums over the keys that a query sees.
struct Seen {
    double n = 0, D = 0;            // number of keys; head dimension
    double m = -INFINITY, sum = 0;  // the largest score, and the sum of exp(score - m)
    double P = 0;                   // the largest scale * sum of |q k|
    double largest = 0;             // |v|
};

/// Error bound of an output y, A = sum of weight * |v|, and of a log-sum-exp. For float:
///
/// The error of a score is D + 2 units of scale |q| . |k|, 2 more where log2(e) is multiplied in,
/// and 2 where the maximum is subtracted; it affects the weight and the sum. Each key rescales and
/// increments the sum and the output, with one rounding each: 4 n. The 40 covers exp, the product,
/// the division and combining warps and blocks. A log-sum-exp rounds log2, two additions and the
/// factor 1 / log2(e) once each, relative to their magnitudes.
template <class T>
double output_error(const Seen& x, double y, double A);
template <class T>
double log_sum_error(const Seen& x);

template <>
inline double output_error<float>(const Seen& x, double, double A) {
    return A * (2 * (x.D + 6) * x.P + 4 * x.n + 40) * kU;
}
template <>
inline double log_sum_error<float>(const Seen& x) {
    return (2 * (x.D + 6) * x.P + 4 * x.n + 40 +
            4 * (std::fabs(x.m) + std::fabs(x.m + std::log(x.sum)))) *
           kU;
}

/// Operands: q, k, v. The expected out and log_sums.
template <class T>
std::vector<Expected> expect_attention(const Attending& a, const testing::Inputs& inputs) {
    std::vector<Expected> want = {Expected(a.q()), Expected(a.queries())};
    const int t = a.stack.rank, d = t + 1;
    Shape shape = a.q();
    shape[t] = a.S;
    const View<const double> q = inputs[0]->view(),
                             k = broadcast_to(View<const double>(inputs[1]->view()), shape),
                             v = broadcast_to(View<const double>(inputs[2]->view()), shape);
    const double scale = a.scale != 0 ? double(a.scale) : 1 / std::sqrt(double(a.D));
    const std::int64_t counted = a.counted < 0 ? a.S : a.counted;
    for_each_row(a.q(), d, [&](const Index& at) {
        const auto row = [&](const View<const double>& x, std::int64_t s) {
            Index first = at;
            first[t] = s;
            return x.data + offset(x.layout, first);
        };
        const std::int64_t n =
            a.causal ? std::max<std::int64_t>(counted - a.T + at[t] + 1, 0) : counted;
        Seen seen{double(n), double(a.D)};
        std::vector<double> weight(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(a.D)),
            A = y;
        const double* const query = row(q, at[t]);
        for (std::int64_t s = 0; s < n; ++s) {
            const double* const key = row(k, s);
            double score = 0, size = 0;
            for (std::int64_t i = 0; i < a.D; ++i) {
                const double product = scale * query[i * q.stride(d)] * key[i * k.stride(d)];
                score += product, size += std::fabs(product);
            }
            weight[static_cast<std::size_t>(s)] = score;
            seen.m = std::max(seen.m, score);
            if (std::isfinite(size)) seen.P = std::max(seen.P, size);  // else a weight of 0, or NaN
        }
        const double base = seen.m == -INFINITY ? 0 : seen.m;  // -infinity minus -infinity is NaN
        for (double& x : weight) seen.sum += x = std::exp(x - base);
        for (std::int64_t s = 0; s < n; ++s) {
            const double* const values = row(v, s);
            for (std::size_t i = 0; i < y.size(); ++i) {
                const double value = values[static_cast<std::int64_t>(i) * v.stride(d)];
                const double term = weight[static_cast<std::size_t>(s)] / seen.sum * value;
                y[i] += term, A[i] += std::fabs(term);
                seen.largest = std::max(seen.largest, std::fabs(value));
            }
        }
        Index to = at;
        for (std::size_t i = 0; i < y.size(); ++i) {
            to[d] = static_cast<std::int64_t>(i);
            want[0].value.view()(to) = y[i];
            want[0].error.view()(to) = std::isfinite(y[i]) ? output_error<T>(seen, y[i], A[i]) : 0;
        }
        to.rank = d;
        const double log_sum = base + std::log(seen.sum);
        want[1].value.view()(to) = log_sum;
        want[1].error.view()(to) = std::isfinite(log_sum) ? log_sum_error<T>(seen) : 0;
    });
    return want;
}

/// The operands q, k, v, out; if counted >= 0, length; and, if wanted, log_sums.
template <class T>
testing::Operation attending(const char* name, const Attending& a, bool log_sums,
                             const testing::Values& q, const testing::Values& k,
                             const testing::Values& v) {
    using namespace testing;
    Operation op{name,
                 {reads<T>("q", a.q()).with(q), reads<T>("k", a.k()).with(k),
                  reads<T>("v", a.k()).with(v), writes<T>("out", a.q())}};
    for (const std::size_t i : {1, 2}) op.operands[i].broadcast = a.stack.rank > 0;
    if (a.counted >= 0) {
        op.operands.push_back(
            reads<std::int64_t>("length", {}).may_be_null().with(all_equal_to(double(a.counted))));
    }
    if (log_sums) op.operands.push_back(writes<float>("log_sums", a.queries()).may_be_null());
    op.exact = [=](const Inputs& inputs, int) {
        Attending of = a;
        if (a.counted >= 0 && !inputs[4]) of.counted = -1;  // omitted
        std::vector<Expected> want = expect_attention<T>(of, inputs);
        if (!log_sums) want.pop_back();
        return want;
    };
    return op;
}

inline AttentionOptions options_of(const Attending& a, const Call& c) {
    AttentionOptions options{a.causal, a.scale};
    if (a.counted >= 0) options.length = c.in<std::int64_t>(4);
    return options;
}

/// A null pointer if not wanted.
inline View<float> log_sums_of(const Attending& a, const Call& c) {
    const std::size_t at = a.counted >= 0 ? 5 : 4;
    return at < c.arguments.size() ? c.out<float>(static_cast<int>(at)) : View<float>();
}

/// Multiples of 1/4 in scrambled order: few() of golden_attention.py.
inline testing::Values few(std::int64_t factor, std::int64_t period) {
    return [=](std::int64_t i) { return double(i * factor % period) / 4 - 1.5; };
}

/// Operands: as attending().
inline testing::Operation attention_operation(const Attending& a, bool log_sums = false) {
    using P = AttentionPath;
    testing::Operation op =
        attending<float>("attention", a, log_sums, few(5, 13), few(7, 11), few(3, 17));
    op.cpu = [=](const Call& c) {
        attention_cpu(c.in<float>(0), c.in<float>(1), c.in<float>(2), options_of(a, c),
                      c.out<float>(3), log_sums_of(a, c));
    };
    op.cuda = [=](const Call& c) {
        attention_cuda(c.in<float>(0), c.in<float>(1), c.in<float>(2), options_of(a, c),
                       c.out<float>(3), log_sums_of(a, c), c.how<P>());
    };
    const auto only_tiles = [=](const Call& c) { return log_sums_of(a, c).data != nullptr; };
    op.needed_bytes = [=](const Call& c) {
        return attention_workspace_bytes(c.in<float>(0), c.in<float>(1), c.in<float>(2),
                                         only_tiles(c) ? P::tiles : c.asked<P>());
    };
    op.repeated = {name(P::split_blocks)};

    const bool empty = size(a.q()) == 0, narrow = a.D <= 128;
    const auto has_vectors = [=](const Call& c) {
        const auto rows = [&](const Call::Argument& x) {
            return has_rows_of_vectors<float>(x, x.layout.rank() - 1);
        };
        return rows(c.arguments[1]) && rows(c.arguments[2]);
    };
    // Tiles support stacks that simplify to at most two dimensions.
    const auto has_tiles = [=](const Call& c) {
        const auto forwards = [](const Call::Argument& x) { return goes_forwards(x); };
        return gpu::has_tile() &&
               std::all_of(c.arguments.begin(), c.arguments.begin() + 4, forwards);
    };
    const auto always = [](const Call&) { return true; };
    const auto if_narrow = [=](const Call&) { return narrow; };
    const auto set = [&](P path, const char* kernel, std::function<bool(const Call&)> accepts) {
        op.takes(path, kernel,
                 [=](const Call& c) { return accepts(c) && (path == P::tiles || !only_tiles(c)); });
    };
    set(P::four_passes, "attention_kernel", always);
    set(P::fused, "attention_fused_kernel", if_narrow);
    set(P::split_keys, "attention_split_keys_kernel", if_narrow);
    set(P::tiles, "attention_tiles_kernel", if_narrow);
    set(P::split_blocks, "attention_split_blocks_kernel",
        [=](const Call& c) { return narrow && (empty || has_vectors(c)); });
    set(P::wide_heads, "attention_wide_heads_kernel", always);
    set(P::tile, "attention_tile",
        [=](const Call& c) { return narrow && (empty || has_tiles(c)); });
    op.best = [=](const Call& c) {
        return static_cast<int>(only_tiles(c)    ? P::tiles
                                : !narrow        ? P::wide_heads
                                : a.T >= 64      ? P::tiles  // if the GPU has enough shared memory
                                : a.T > 4        ? P::fused
                                : has_vectors(c) ? P::split_blocks
                                                 : P::split_keys);
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
