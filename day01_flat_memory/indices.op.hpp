/// @file
/// The descriptor of indices, for its tests (common/testing/operation/operation.hpp).
#pragma once

#include <string>
#include <vector>

#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "common/testing/operation/operation.hpp"
#include "day01_flat_memory/indices.hpp"

namespace sixdays::day01_flat_memory {

/// Operands: out. @param shape  of rank 2 to 4
inline testing::Operation indices_operation(std::int64_t base, const Shape& shape) {
    using namespace testing;
    testing::Operation op{"indices", {writes<float>("out", shape)}};
    op.operands[0].broadcasts().free_dims({0, 1, 2, 3});  // any shape of these ranks
    op.cpu = [=](const Call& c) { indices_cpu(base, c.out<float>(0)); };
    op.cuda = [=](const Call& c) { indices_cuda(base, c.out<float>(0), c.how<IndicesPath>()); };
    op.exact = [=](const Inputs&, int) {
        std::vector<Expected> all = {Expected(shape)};
        for (std::int64_t number = 0; number < size(shape); ++number) {
            const Index at = unravel(number, shape);
            std::int64_t value = 0;
            for (int d = 0; d < at.rank; ++d) value = value * base + at[d];
            all[0].value.data()[number] = static_cast<double>(static_cast<float>(value));
        }
        return all;
    };

    const bool empty = size(shape) == 0, whole = shape[shape.rank - 1] % 4 == 0;
    const auto contiguous = [](const Call& c) { return is_contiguous(c.arguments[0].layout); };
    const auto has_vectors = [=](const Call& c) {
        return whole && reinterpret_cast<std::uintptr_t>(c.arguments[0].data) % 16 == 0;
    };
    op.takes(IndicesPath::one_element, sentence("indices", shape.rank, "_kernel"), contiguous);
    op.takes(IndicesPath::vectorized, "indices_vectorized_kernel",
             [=](const Call& c) { return contiguous(c) && (empty || has_vectors(c)); });
    op.takes(IndicesPath::tile, "indices_tile",
             [=](const Call& c) { return contiguous(c) && (empty || gpu::has_tile()); });
    op.best = [=](const Call& c) {
        return static_cast<int>(has_vectors(c) ? IndicesPath::vectorized
                                               : IndicesPath::one_element);
    };
    return op;
}

}  // namespace sixdays::day01_flat_memory
