/// @file
/// Test descriptor of the embedding's backward pass (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/tests/rows.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/tests/near.hpp"

namespace sixdays::day06_transformer_ops {

/// A table after each row of grad was added to the row that `rows` names. Those out of range are
/// ignored, as by the CUDA version.
/// @param rows  repeated, if there are fewer than rows of grad
inline Tensor<Near> rows_added(const Tensor<double>& table, const Tensor<double>& grad,
                               const Tensor<double>& rows) {
    const std::int64_t V = table.shape()[0], C = table.shape()[1];
    std::vector<std::vector<Near>> terms;
    for (std::int64_t k = 0; k < table.size(); ++k) terms.push_back({{table.data()[k]}});
    for (std::int64_t k = 0; k < grad.size(); ++k) {
        const auto row = static_cast<std::int64_t>(rows.data()[k / C % rows.size()]);
        if (row < 0 || row >= V) continue;
        terms[static_cast<std::size_t>(row * C + k % C)].push_back({grad.data()[k]});
    }
    Tensor<Near> made(table.shape());
    for (std::int64_t k = 0; k < table.size(); ++k) {
        made.data()[k] = total(terms[static_cast<std::size_t>(k)]);
    }
    return made;
}

/// Operands: grad (ids..., C), ids, d_tokens (7, C) and, with positions, places of the last
/// dimension of ids, and d_positions (5, C).
inline testing::Operation embed_backward_operation(const Shape& ids, std::int64_t C,
                                                   bool positions = true) {
    using namespace testing;
    using Path = EmbedBackwardPath;
    Shape grad = ids;
    grad[grad.rank++] = C;
    Operation op{"embed_backward",
                 {reads<float>("grad", grad).with(taken_from(random(grad, 25))),
                  reads<std::int64_t>("ids", ids).with([](std::int64_t k) {
                      return static_cast<double>(k % 3 == 0 ? 5 : k * k % 7);  // never 3 or 6
                  }),
                  updates<float>("d_tokens", {7, C}).free_dims({0})}};
    if (positions) {
        const Shape places = {ids[ids.rank - 1]};
        op.operands.push_back(reads<std::int64_t>("places", places).broadcasts().with(below(5)));
        op.operands.push_back(updates<float>("d_positions", {5, C}).free_dims({0}));
    }
    struct Arguments {
        View<const float> grad;
        View<const std::int64_t> ids, places;
        EmbedGradients d;
    };
    const auto of = [=](const Call& c) {
        Arguments a{c.in<float>(0), c.in<std::int64_t>(1), {}, {c.out<float>(2)}};
        if (positions) a.places = c.in<std::int64_t>(3), a.d.positions = c.out<float>(4);
        return a;
    };
    op.cpu = [=](const Call& c) {
        const Arguments a = of(c);
        embed_backward_cpu(a.grad, a.ids, a.places, a.d);
    };
    op.cuda = [=](const Call& c) {
        const Arguments a = of(c);
        embed_backward_cuda(a.grad, a.ids, a.places, a.d, c.how<Path>());
    };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {expected(rows_added(*inputs[2], *inputs[0], *inputs[1]))};
        if (positions) all.push_back(expected(rows_added(*inputs[4], *inputs[0], *inputs[3])));
        return all;
    };
    op.takes(Path::column_per_thread, "embed_backward_kernel");
    op.takes(Path::atomics, "embed_atomics_kernel");
    op.takes(Path::word_a_block, "embed_word_a_block_kernel");
    op.best = [](const Call&) { return static_cast<int>(Path::word_a_block); };
    op.repeated = {"column per thread", "word a block"};
    return op;
}

}  // namespace sixdays::day06_transformer_ops
