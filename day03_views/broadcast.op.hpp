/// @file
/// Descriptors of the operations of the set broadcast, for their tests
/// (common/testing/operation/operation.hpp).
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/tile.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/tests/moves.hpp"

namespace sixdays::day03_views {

/// Operands: a, b, out. Integers, whose sums are exact.
inline Operation add_operation(const Place& a, const Place& b, const Place& out) {
    using namespace testing;
    Operation op{"add_broadcast",
                 {input("a", 4, a).broadcasts(), input("b", 4, b).broadcasts(),
                  output("out", 4, out).broadcasts()}};
    op.cpu = [](const Call& c) {
        add_broadcast_cpu(c.in<float>(0), c.in<float>(1), c.out<float>(2));
    };
    op.cuda = [](const Call& c) {
        add_broadcast_cuda(c.in<float>(0), c.in<float>(1), c.out<float>(2),
                           c.how<AddBroadcastPath>());
    };
    const Shape shape = out.layout.shape;
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        for (std::int64_t k = 0; k < size(shape); ++k) {
            const Index at = unravel(k, shape);
            all[0].value.data()[k] = seen_from(*inputs[0], at) + seen_from(*inputs[1], at);
        }
        return all;
    };
    op.in_place = {{"a", "out"}, {"b", "out"}};

    const bool empty = size(shape) == 0;
    const auto visited = [](const Call& c) {
        return visit({c.arguments[2], c.arguments[0], c.arguments[1]}, 4, false);
    };
    const auto has_vectors = [=](const Call& c) {
        const Visit v = visited(c);
        const auto& steps = v.loops.front().steps;
        return v.has_groups(0, 16) && (steps[1] == 0 || v.has_groups(1, 16)) &&
               (steps[2] == 0 || v.has_groups(2, 16));
    };
    op.takes(AddBroadcastPath::one_element, "add_broadcast_kernel");
    op.takes(AddBroadcastPath::any_layout, "add_walk_kernel");
    op.takes(AddBroadcastPath::vectorized, "add_vectorized_kernel", has_vectors);
    op.takes(AddBroadcastPath::tile, "add_broadcast_tile",
             [=](const Call& c) { return empty || (gpu::has_tile() && visited(c).takes_tiles()); });
    if (empty) op.path(AddBroadcastPath::vectorized).accepts = {};  // may reject an empty output
    if (!empty) op.best = [=](const Call& c) { return has_vectors(c) ? 2 : 1; };
    return op;
}

/// Operands: mask, a, b, out.
inline Operation where_operation(const Place& mask, const Place& a, const Place& b,
                                 const Place& out) {
    using namespace testing;
    Operation op{"where",
                 {input("mask", 1, mask).broadcasts().with([](std::int64_t k) {
                      return k % 3 == 1 ? 0.0 : k % 2 == 0 ? 1.0 : 200.0;
                  }),
                  input("a", 4, a).broadcasts(), input("b", 4, b).broadcasts(),
                  output("out", 4, out).broadcasts()}};
    op.cpu = [](const Call& c) {
        where_cpu(c.in<std::uint8_t>(0), c.in<float>(1), c.in<float>(2), c.out<float>(3));
    };
    op.cuda = [](const Call& c) {
        where_cuda(c.in<std::uint8_t>(0), c.in<float>(1), c.in<float>(2), c.out<float>(3),
                   c.how<WherePath>());
    };
    op.exact = [shape = out.layout.shape](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        for (std::int64_t k = 0; k < size(shape); ++k) {
            const Index at = unravel(k, shape);
            const bool first = seen_from(*inputs[0], at) != 0;
            all[0].value.data()[k] = seen_from(*inputs[first ? 1 : 2], at);
        }
        return all;
    };
    op.in_place = {{"a", "out"}, {"b", "out"}};
    op.takes(WherePath::one_element, "where_kernel");
    op.takes(WherePath::any_layout, "where_walk_kernel");
    op.best = [](const Call&) { return 1; };
    return op;
}

/// Operands: in, out.
inline Operation pad_operation(const Place& in, const Dims& before, float value, const Place& out) {
    using namespace testing;
    Operation op{"pad", {input("in", 4, in), output("out", 4, out)}};
    for (Operand& x : op.operands) {
        for (int d = 0; d < x.shape.rank; ++d) x.free.push_back(d);
    }
    op.cpu = [=](const Call& c) { pad_cpu(c.in<float>(0), before, value, c.out<float>(1)); };
    op.cuda = [=](const Call& c) { pad_cuda(c.in<float>(0), before, value, c.out<float>(1)); };
    op.exact = [=, from = in.layout.shape, to = out.layout.shape](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(to)};
        std::fill_n(all[0].value.data(), size(to), static_cast<double>(value));
        for (std::int64_t k = 0; k < size(from); ++k) {  // the indices that are in both
            Index at = unravel(k, from);
            bool inside = true;
            for (int d = 0; d < to.rank; ++d) {
                at[d] += before[d];
                inside = inside && 0 <= at[d] && at[d] < to[d];
            }
            if (inside) all[0].value.view()(at) = inputs[0]->data()[k];
        }
        return all;
    };
    return op;
}

/// Operands: piece 0, piece 1, ..., out.
inline Operation concat_operation(const std::vector<Place>& pieces, int dim, const Place& out) {
    using namespace testing;
    Operation op{"concat", {}};
    const int n = static_cast<int>(pieces.size());
    for (int i = 0; i < n; ++i) {
        const std::string name = "piece " + std::to_string(i);
        op.operands.push_back(input(name.c_str(), 4, pieces[static_cast<std::size_t>(i)]));
    }
    op.operands.push_back(output("out", 4, out));
    const auto views = [=](const Call& c) {
        std::vector<View<const float>> all;
        for (int i = 0; i < n; ++i) all.push_back(c.in<float>(i));
        return all;
    };
    op.cpu = [=](const Call& c) { concat_cpu(views(c), dim, c.out<float>(n)); };
    op.cuda = [=](const Call& c) { concat_cuda(views(c), dim, c.out<float>(n)); };
    op.exact = [=, shape = out.layout.shape](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        const int d = dim < 0 ? dim + shape.rank : dim;
        for (std::int64_t k = 0; k < size(shape); ++k) {
            Index at = unravel(k, shape);
            std::size_t i = 0;
            for (; at[d] >= inputs[i]->shape()[d]; ++i) at[d] -= inputs[i]->shape()[d];
            all[0].value.data()[k] = inputs[i]->view()(at);
        }
        return all;
    };
    return op;
}

}  // namespace sixdays::day03_views
