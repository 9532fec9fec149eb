/// @file
/// Test descriptor of cross-entropy (common/testing/operation/operation.hpp).
#pragma once

#include "day06_transformer_ops/softmax/cross_entropy.hpp"
#include "day06_transformer_ops/softmax/softmax.op.hpp"

namespace sixdays::day06_transformer_ops {

/// Operands: logits (..., V), targets (...), out (...). At most three dimensions of rows.
template <class T>
testing::Operation cross_entropy_operation(const Shape& rows, std::int64_t V) {
    using namespace testing;
    Shape logits = rows;
    logits[logits.rank++] = V;
    const int last = rows.rank;
    Operation op{"cross_entropy",
                 {reads<T>("logits", logits).free_dims({last}),
                  reads<std::int64_t>("targets", rows).with([V](std::int64_t k) {
                      return static_cast<double>((k * 7 + V - 1) % V);
                  }),
                  writes<float>("out", rows)}};
    op.cpu = [](const Call& c) {
        cross_entropy_cpu<T>(c.in<T>(0), c.in<std::int64_t>(1), c.out<float>(2));
    };
    op.cuda = [](const Call& c) {
        cross_entropy_cuda<T>(c.in<T>(0), c.in<std::int64_t>(1), c.out<float>(2),
                              c.how<CrossEntropyPath>());
    };
    op.exact = [=](const Inputs& inputs, int path) {
        std::vector<Expected> all = {Expected(rows)};
        // Softmax's chain lengths, for one thread, a block of 256, or tiles of 4096.
        static constexpr SoftmaxPath kLike[] = {SoftmaxPath::thread_per_row, SoftmaxPath::shared,
                                                SoftmaxPath::tile};
        const double chain = softmax_chain(kLike[path], V);
        for (std::int64_t k = 0; k < size(rows); ++k) {
            const Index at = unravel(k * V, logits);
            const std::vector<double> row = row_at(*inputs[0], last, at);
            const RowSums sums = sums_of(row);
            const double x = row[static_cast<std::size_t>(inputs[1]->data()[k])];
            const double y = all[0].value.data()[k] = std::log(sums.sum) - (x - sums.m);
            if (std::isfinite(y)) {
                all[0].error.data()[k] = log_probability_error(y, x - sums.m, double(V), chain);
            }
        }
        return all;
    };

    const bool empty = size(rows) == 0;
    const auto along = [=](const Call& c) { return has_rows_along_memory(c.arguments[0], last); };
    op.takes(CrossEntropyPath::thread_per_row, "cross_entropy_kernel");
    op.takes(CrossEntropyPath::block_per_row, "cross_entropy_block_kernel",
             [=](const Call& c) { return empty || along(c); });
    op.takes(CrossEntropyPath::tile, "cross_entropy_tile", [=](const Call& c) {
        bool forwards = true;
        for (int d = 0; d <= last; ++d) {
            const Layout& x = c.arguments[0].layout;
            forwards = forwards && (x.extent(d) == 1 || x.stride(d) >= 0);
        }
        return empty || (gpu::has_tile() && forwards);
    });
    op.best = [=](const Call& c) {
        return static_cast<int>(along(c) ? CrossEntropyPath::block_per_row
                                         : CrossEntropyPath::thread_per_row);
    };
    return op;
}

}  // namespace sixdays::day06_transformer_ops
