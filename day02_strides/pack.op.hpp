/// @file
/// The descriptor of pack, for its tests (common/testing/operation/operation.hpp).
#pragma once

#include <vector>

#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "common/testing/inputs.hpp"
#include "common/testing/operation/visit.hpp"
#include "day02_strides/pack.hpp"

namespace sixdays::day02_strides {

/// Operands: in, out.
inline testing::Operation pack_operation(const Shape& shape) {
    using namespace testing;
    Operation op{"pack",
                 {reads<float>("in", shape).with(taken_from(distinct<float>(shape))),
                  writes<float>("out", shape)}};
    op.cpu = [](const Call& c) { pack_cpu(c.in<float>(0), c.out<float>(1)); };
    op.cuda = [](const Call& c) { pack_cuda(c.in<float>(0), c.out<float>(1), c.how<PackPath>()); };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        all[0].value = *inputs[0];
        return all;
    };
    op.in_place = {{"in", "out"}};

    const auto contiguous = [](const Call& c) { return is_contiguous(c.arguments[1].layout); };
    const auto visited = [](const Call& c) {
        return visit({c.arguments[1], c.arguments[0]}, sizeof(float), false);
    };
    const bool empty = size(shape) == 0;
    const auto has_vectors = [=](const Call& c) {
        const auto at_16_bytes = [&](int i) {
            return reinterpret_cast<std::uintptr_t>(c.in<float>(i).data) % 16 == 0;
        };
        return at_16_bytes(0) && at_16_bytes(1) && (empty || visited(c).all_have_groups(16));
    };
    op.takes(PackPath::any_size, "pack_kernel", contiguous);
    op.takes(PackPath::fast_division, "pack_fast_division_kernel", contiguous);
    op.takes(PackPath::by_rank, "pack_by_rank_kernel", contiguous);
    op.takes(PackPath::in_flight, "pack_in_flight_kernel", contiguous);
    op.takes(PackPath::vectorized, "pack_vectorized_kernel",
             [=](const Call& c) { return contiguous(c) && has_vectors(c); });
    op.takes(PackPath::tile, "pack_tile", [=](const Call& c) {
        const bool itself = c.arguments[0].data == c.arguments[1].data;  // nothing to move
        return contiguous(c) && (empty || visited(c).takes_tiles()) &&
               (gpu::has_tile() || empty || itself);
    });
    op.best = [=](const Call& c) {
        return static_cast<int>(has_vectors(c) ? PackPath::vectorized : PackPath::in_flight);
    };
    return op;
}

/// From any layout, including strides of 0 and overlapping rows: each element holds its offset.
inline testing::Operation pack_from(const Layout& in, std::int64_t lead_in = 0,
                                    std::int64_t lead_out = 0) {
    testing::Operation op = pack_operation(in.shape);
    op.operands[0].placed(in, lead_in).with([in](std::int64_t k) {
        return static_cast<double>(1 + offset(in, unravel(k, in.shape)));
    });
    op.operands[1].lead = lead_out;
    return op;
}

}  // namespace sixdays::day02_strides
