/// @file
/// Test descriptors of the embedding, rotary positions and conversions
/// (common/testing/operation/operation.hpp).
#pragma once

#include <utility>
#include <vector>

#include "common/gpu/tile.hpp"
#include "common/testing/operation/visit.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/tests/rows.hpp"

namespace sixdays::day06_transformer_ops {

/// The row index for each index of the ids, broadcast as in NumPy.
inline std::int64_t row_number(const Tensor<double>& ids, const Index& at) {
    Index own = ids.shape();
    for (int d = 0; d < own.rank; ++d) own[d] = own[d] == 1 ? 0 : at[d + at.rank - own.rank];
    return static_cast<std::int64_t>(ids.view()(own));
}

/// The paths of embed_operation(), and which calls each accepts.
template <class T>
void set_embed_paths(testing::Operation& op, const Shape& out) {
    const bool adds = op.operands.size() > 3, empty = size(out) == 0;
    const int last = out.rank - 1;
    const auto tables_and_out = [=](const auto& holds) {
        return [=](const Call& c) {
            return holds(c.arguments[0], 1) && holds(c.arguments[2], last) &&
                   (!adds || holds(c.arguments[3], 1));
        };
    };
    const auto has_vectors = tables_and_out(has_rows_of_vectors<T>);
    const auto has_spans =
        tables_and_out([](const Call::Argument& x, int) { return goes_forwards(x); });
    const auto few_loops = [=](const Call& c) {  // over the rows of out
        Call::Argument rows = c.arguments[2];
        --rows.layout.shape.rank, --rows.layout.strides.rank;
        return testing::visit({rows, c.arguments[1], c.arguments[adds ? 4 : 1]}, 1, false)
                   .loops.size() <= 3;
    };
    op.takes(EmbedPath::one_element, "embed_kernel");
    op.takes(EmbedPath::vectorized, "embed_vectorized_kernel",
             [=](const Call& c) { return empty || has_vectors(c); });
    op.takes(EmbedPath::tile, "embed_tile", [=](const Call& c) {
        return empty || (gpu::has_tile() && has_spans(c) && few_loops(c));
    });
    op.best = [=](const Call& c) { return has_vectors(c) ? 1 : 0; };
}

/// Operands: tokens (7, C), ids, out and, if positions are added, positions (5, C) and places.
/// Values are multiples of 1/8, whose sums are exact even in bf16.
/// @param places  the shape of places; none: no positions are added
template <class T>
testing::Operation embed_operation(const Shape& ids, std::int64_t C, std::optional<Shape> places) {
    using namespace testing;
    Shape out = ids;
    out[out.rank++] = C;
    Operation op{"embed",
                 {reads<T>("tokens", {7, C}).free_dims({0}),
                  reads<std::int64_t>("ids", ids).with(below(7)), writes<T>("out", out)}};
    if (places) {
        op.operands.push_back(reads<T>("positions", {5, C}).free_dims({0}));
        op.operands.push_back(reads<std::int64_t>("places", *places).broadcasts().with(below(5)));
    }
    const auto positions = [adds = places.has_value()](const Call& c) {
        return adds ? c.in<T>(3) : View<const T>();
    };
    const auto at = [adds = places.has_value()](const Call& c) {
        return adds ? c.in<std::int64_t>(4) : View<const std::int64_t>();
    };
    op.cpu = [=](const Call& c) {
        embed_cpu<T>(c.in<T>(0), c.in<std::int64_t>(1), positions(c), at(c), c.out<T>(2));
    };
    op.cuda = [=](const Call& c) {
        embed_cuda<T>(c.in<T>(0), c.in<std::int64_t>(1), positions(c), at(c), c.out<T>(2),
                      c.how<EmbedPath>());
    };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(out)};
        for (std::int64_t k = 0; k < size(out); ++k) {
            const Index row = unravel(k / C, ids);
            double& y = all[0].value.data()[k];
            y = (*inputs[0])(row_number(*inputs[1], row), k % C);
            if (places) y += (*inputs[3])(row_number(*inputs[4], row), k % C);
        }
        return all;
    };
    set_embed_paths<T>(op, out);
    return op;
}

/// Operands: in, table (5, D), places, out.
///
///     a cos - b sin    the second product is rounded, then the sum
inline testing::Operation rotary_operation(const Shape& shape, Pairing pairing,
                                           const Shape& places) {
    using namespace testing;
    const std::int64_t D = shape[shape.rank - 1];
    Operation op{"rotary",
                 {reads<float>("in", shape), reads<float>("table", {5, D}).free_dims({0}),
                  reads<std::int64_t>("places", places).broadcasts().with(below(5)),
                  writes<float>("out", shape)}};
    op.cpu = [=](const Call& c) {
        rotary_cpu(c.in<float>(0), c.in<float>(1), c.in<std::int64_t>(2), pairing, c.out<float>(3));
    };
    op.cuda = [=](const Call& c) {
        rotary_cuda(c.in<float>(0), c.in<float>(1), c.in<std::int64_t>(2), pairing,
                    c.out<float>(3));
    };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        for (std::int64_t k = 0; k < size(shape); ++k) {
            Index at = unravel(k, shape), row = at;
            --row.rank;
            const std::int64_t d = at[shape.rank - 1];
            const bool near = pairing == Pairing::neighbours;
            const bool first = near ? d % 2 == 0 : d < D / 2;
            const std::int64_t i = near ? d / 2 : d % (D / 2);
            at[shape.rank - 1] = near ? d ^ 1 : (d + D / 2) % D;  // the pair's other element
            const std::int64_t p = row_number(*inputs[2], row);
            const double cos = (*inputs[1])(p, i), sin = (*inputs[1])(p, i + D / 2);
            const double own = inputs[0]->data()[k] * cos, other = inputs[0]->view()(at) * sin;
            const double y = first ? own - other : own + other;
            all[0].value.data()[k] = y;
            // In the second sum the compiler chooses which of the two products is rounded.
            all[0].error.data()[k] =
                std::isnan(y)
                    ? 0
                    : 1.01 * kU * (std::max(std::fabs(own), std::fabs(other)) + std::fabs(y));
        }
        return all;
    };
    op.in_place = {{"in", "out"}};
    return op;
}

/// Operands: in, out. Numbers that 16 bits cannot represent, some too large for f16.
template <class From, class To>
testing::Operation convert_operation(const Shape& shape) {
    using namespace testing;
    Operation op{"convert", {reads<From>("in", shape), writes<To>("out", shape)}};
    op.operands[0].with([](std::int64_t k) {
        return static_cast<double>((k * 7919 + 33) % 140009 - 70000) / 7 * (k % 3 == 1 ? 1e-6 : 1);
    });
    op.cpu = [](const Call& c) { convert_cpu(c.in<From>(0), c.out<To>(1)); };
    op.cuda = [](const Call& c) { convert_cuda(c.in<From>(0), c.out<To>(1)); };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        for (std::int64_t k = 0; k < size(shape); ++k) {
            const auto x = static_cast<float>(inputs[0]->data()[k]);
            all[0].value.data()[k] = static_cast<double>(static_cast<float>(To(x)));
        }
        return all;
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
