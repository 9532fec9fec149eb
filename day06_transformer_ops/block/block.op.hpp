/// @file
/// Test descriptors of a transformer block and of its logits
/// (common/testing/operation/operation.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "day06_transformer_ops/block/block.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"

namespace sixdays::day06_transformer_ops {

// The formula in double, each result through round(): unchanged, or moved by a random fraction of
// float's rounding error. A correct kernel may add and fuse in any order; its error is of this
// size.
class Rounding {
public:
    explicit Rounding(std::uint64_t seed) : draws_(seed != 0), generator_(seed) {}
    // `size`: maximum, in half units in the last place.
    double operator()(double x, double size = 1) {
        return draws_ ? x + x * size * kU * (2 * uniform_(generator_) - 1) : x;
    }

private:
    bool draws_;
    std::mt19937_64 generator_;
    std::uniform_real_distribution<double> uniform_;
};
using Numbers = std::vector<double>;
using Parameter = std::optional<Tensor<double>>;  // may be absent

inline Numbers normed(const Numbers& x, const Parameter& w, const Parameter& b, Rounding& round) {
    const auto n = static_cast<double>(x.size());
    double sum = 0, squares = 0;
    for (const double v : x) sum = round(sum + round(v - x[0]));
    const double mean = round(x[0] + round(sum / n));
    for (const double v : x) squares = round(squares + round(round(v - mean) * round(v - mean)));
    const double scale = round(1 / round(std::sqrt(round(squares / n + double{1e-5f}))));
    Numbers y;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double z = round(round(x[i] - mean) * scale);
        const auto k = static_cast<std::int64_t>(i);
        y.push_back(round(round(z * (w ? (*w)(k) : 1)) + (b ? (*b)(k) : 0)));
    }
    return y;
}

// x * matrix + bias
inline Numbers product(const Numbers& x, const Tensor<double>& matrix, const Parameter& bias,
                       Rounding& round) {
    const std::int64_t N = matrix.shape()[1];
    Numbers y(static_cast<std::size_t>(N));
    for (std::int64_t n = 0; n < N; ++n) {
        double& sum = y[static_cast<std::size_t>(n)];
        for (std::size_t k = 0; k < x.size(); ++k) {
            sum = round(sum + round(x[k] * matrix(static_cast<std::int64_t>(k), n)));
        }
        if (bias) sum = round(sum + (*bias)(n));
    }
    return y;
}

inline void add_to(Numbers& x, const Numbers& y, Rounding& round) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = round(x[i] + y[i]);
}

// Head h's output for token t, from itself and the tokens before it.
inline void attend(const std::vector<Numbers>& qkv, std::size_t t, std::size_t h, std::size_t D,
                   Numbers& mixed, Rounding& round) {
    const std::size_t C = mixed.size();
    const double scale = round(1 / std::sqrt(static_cast<double>(D)));
    std::vector<double> weight;
    double sum = 0;
    for (std::size_t s = 0; s <= t; ++s) {
        double dot = 0;
        for (std::size_t d = h * D; d < (h + 1) * D; ++d) {
            dot = round(dot + round(qkv[t][d] * qkv[s][C + d]));
        }
        weight.push_back(round(std::exp(round(scale * dot)), 4));
        sum = round(sum + weight.back());
    }
    for (std::size_t s = 0; s <= t; ++s) {
        for (std::size_t d = h * D; d < (h + 1) * D; ++d) {
            mixed[d] = round(mixed[d] + round(round(weight[s] / sum) * qkv[s][2 * C + d]));
        }
    }
}

inline double activated(double x, Rounding& round) {
    const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return round(x / 2 * (1 + std::tanh(u)), 16 + 14 * std::fabs(u));  // activation.hpp's bound
}

/// Passes one sequence through one block. @param p  the operands of block_operation()
inline std::vector<Numbers> through(std::vector<Numbers> x, const testing::Inputs& p,
                                    std::size_t heads, Rounding& round) {
    const std::size_t T = x.size(), C = x[0].size(), D = C / heads;
    std::vector<Numbers> qkv(T);
    for (std::size_t t = 0; t < T; ++t) {
        qkv[t] = product(normed(x[t], p[1], p[2], round), *p[3], p[4], round);
    }
    for (std::size_t t = 0; t < T; ++t) {
        Numbers mixed(C);
        for (std::size_t h = 0; h < heads; ++h) attend(qkv, t, h, D, mixed, round);
        add_to(x[t], product(mixed, *p[5], p[6], round), round);
    }
    for (Numbers& row : x) {
        Numbers hidden = product(normed(row, p[7], p[8], round), *p[9], p[10], round);
        for (double& v : hidden) v = activated(v, round);
        add_to(row, product(hidden, *p[11], p[12], round), round);
    }
    return x;
}

// The value is made(round) without rounding; the bound is eight times the root mean square error of
// 12 runs with rounding. Why eight: sums of many roundings are normally distributed, so fewer than
// one in 10^14 is that far out, and 12 runs estimate the width to within a fifth.
template <class Made>
Expected with_bound(const Shape& shape, const Made& made) {
    Expected want(shape);
    Rounding none(0);
    const Numbers right = made(none);
    Numbers squares(right.size());
    constexpr int kRuns = 12;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
        Rounding round(seed);
        const Numbers off = made(round);
        for (std::size_t i = 0; i < right.size(); ++i) {
            squares[i] += (off[i] - right[i]) * (off[i] - right[i]) / kRuns;
        }
    }
    for (std::size_t i = 0; i < right.size(); ++i) {
        want.value.data()[i] = right[i];
        want.error.data()[i] = std::isnan(right[i]) ? 0 : 8 * std::sqrt(squares[i]);
    }
    return want;
}

/// The rows of tokens of x (B, T, C), sequence by sequence.
inline std::vector<std::vector<Numbers>> sequences_of(const Tensor<double>& x) {
    std::vector<std::vector<Numbers>> all(static_cast<std::size_t>(x.shape()[0]));
    const std::int64_t T = x.shape()[1], C = x.shape()[2];
    for (std::int64_t r = 0; r < x.shape()[0] * T; ++r) {
        all[static_cast<std::size_t>(r / T)].push_back({x.data() + r * C, x.data() + (r + 1) * C});
    }
    return all;
}

/// All different and nonzero, and small, so that nothing saturates.
inline testing::Values parameter(const Shape& shape, std::uint64_t seed, double from) {
    return testing::taken_from(testing::seeded<float>(shape, seed, from, from + 1));
}

/// Operands: x (B, T, C), then the parameters in the order of BlockParameters.
inline testing::Operation block_operation(const Shape& x, std::int64_t F, std::int64_t heads) {
    using namespace testing;
    const std::int64_t C = x[2];
    Operation op{
        "block",
        {updates<float>("x", x).free_dims({0, 1}), reads<float>("norm1: weight", {C}).may_be_null(),
         reads<float>("norm1: bias", {C}).may_be_null(), reads<float>("qkv", {C, 3 * C}),
         reads<float>("qkv_bias", {3 * C}), reads<float>("attention_output", {C, C}),
         reads<float>("attention_output_bias", {C}),
         reads<float>("norm2: weight", {C}).may_be_null(),
         reads<float>("norm2: bias", {C}).may_be_null(), reads<float>("up", {C, F}),
         reads<float>("up_bias", {F}), reads<float>("down", {F, C}),
         reads<float>("down_bias", {C})}};
    op.operands[0].with(taken_from(seeded<float>(x, 7, -1, 1)));
    for (std::size_t i = 1; i < op.operands.size(); ++i) {
        const bool scales = i == 1 || i == 7;
        op.operands[i].with(parameter(op.operands[i].shape, 99 + i, scales ? 0.5 : -0.5));
    }
    const auto parameters = [=](const Call& c) {
        const auto in = [&](int i) { return c.in<float>(i); };
        return BlockParameters{{in(1), in(2), 1e-5f},
                               in(3),
                               in(4),
                               in(5),
                               in(6),
                               {in(7), in(8), 1e-5f},
                               in(9),
                               in(10),
                               in(11),
                               in(12),
                               heads,
                               Activation::gelu_tanh};
    };
    op.cpu = [=](const Call& c) { block_cpu(parameters(c), c.out<float>(0)); };
    op.cuda = [=](const Call& c) { block_cuda(parameters(c), c.out<float>(0), c.workspace); };
    op.needed_bytes = [=](const Call& c) {
        return block_workspace_bytes(parameters(c), c.out<float>(0));
    };
    op.exact = [=](const Inputs& inputs, int) {
        return std::vector{with_bound(x, [&](Rounding& round) {
            Numbers all;
            for (const auto& sequence : sequences_of(*inputs[0])) {
                for (const Numbers& row :
                     through(sequence, inputs, static_cast<std::size_t>(heads), round)) {
                    all.insert(all.end(), row.begin(), row.end());
                }
            }
            return all;
        })};
    };
    return op;
}

/// Operands: x (B, T, C), weight and bias of the norm, tokens (V, C), out.
inline testing::Operation logits_operation(const Shape& x, std::int64_t V) {
    using namespace testing;
    const std::int64_t C = x[2];
    const Shape out = {x[0], x[1], V};
    Operation op{"logits",
                 {reads<float>("x", x).with(parameter(x, 1, -0.5)),
                  reads<float>("norm: weight", {C}).may_be_null().with(parameter({C}, 3, 0.5)),
                  reads<float>("norm: bias", {C}).may_be_null().with(parameter({C}, 4, -0.5)),
                  reads<float>("tokens", {V, C}).with(parameter({V, C}, 2, -0.5)),
                  writes<float>("out", out)}};
    const auto norm = [](const Call& c) {
        return NormParameters{c.in<float>(1), c.in<float>(2), 1e-5f};
    };
    op.cpu = [=](const Call& c) {
        logits_cpu(c.in<float>(0), norm(c), c.in<float>(3), c.out<float>(4));
    };
    op.cuda = [=](const Call& c) {
        logits_cuda(c.in<float>(0), norm(c), c.in<float>(3), c.out<float>(4), c.workspace);
    };
    op.needed_bytes = [=](const Call& c) { return logits_workspace_bytes(c.in<float>(0)); };
    op.exact = [=](const Inputs& inputs, int) {
        Tensor<double> head({C, V});  // tokens, transposed
        for (std::int64_t k = 0; k < C * V; ++k) head.data()[k] = (*inputs[3])(k % V, k / V);
        return std::vector{with_bound(out, [&](Rounding& round) {
            Numbers all;
            for (const auto& sequence : sequences_of(*inputs[0])) {
                for (const Numbers& row : sequence) {
                    const Numbers y =
                        product(normed(row, inputs[1], inputs[2], round), head, {}, round);
                    all.insert(all.end(), y.begin(), y.end());
                }
            }
            return all;
        })};
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
