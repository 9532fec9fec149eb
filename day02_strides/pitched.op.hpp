/// @file
/// The descriptor of pitched, for its tests (common/testing/operation/operation.hpp).
#pragma once

#include <vector>

#include "common/gpu/tile.hpp"
#include "common/testing/inputs.hpp"
#include "common/testing/operation/operation.hpp"
#include "day02_strides/pitched.hpp"

namespace sixdays::day02_strides {

/// Operands: in, out.
inline testing::Operation pitched_operation(std::int64_t M, std::int64_t K) {
    using namespace testing;
    const Shape shape = {M, K};
    Operation op{"pitched",
                 {reads<float>("in", shape).with(taken_from(distinct<float>(shape))),
                  writes<float>("out", shape)}};
    op.cpu = [](const Call& c) { pitched_cpu(c.in<float>(0), c.out<float>(1)); };
    op.cuda = [](const Call& c) {
        pitched_cuda(c.in<float>(0), c.out<float>(1), c.how<PitchedPath>());
    };
    op.exact = [=](const Inputs& inputs, int) {
        std::vector<Expected> all = {Expected(shape)};
        all[0].value = *inputs[0];
        return all;
    };
    op.in_place = {{"in", "out"}};

    const auto pitched = [=](const Call& c) {
        bool both = true;
        for (const Call::Argument& x : c.arguments) {
            both =
                both && (K <= 1 || x.layout.stride(1) == 1) && (M <= 1 || x.layout.stride(0) >= K);
        }
        return both;
    };
    const auto has_vectors = [=](const Call& c) {
        bool all = true;
        for (const Call::Argument& x : c.arguments) {
            const auto row = reinterpret_cast<const float*>(x.data);
            for (std::int64_t m = 0; m < M; ++m) {
                const float* first = row + (m == 0 ? 0 : m * x.layout.stride(0));
                all = all && reinterpret_cast<std::uintptr_t>(first) % 16 == 0;
            }
        }
        return all;
    };
    const bool empty = size(shape) == 0;
    op.takes(PitchedPath::one_element, "pitched_kernel",
             [=](const Call& c) { return pitched(c) && M <= 65535 * 8; });
    op.takes(PitchedPath::singles, "rows_kernel<float>", pitched);
    op.takes(PitchedPath::vectorized, "rows_kernel<float4>",
             [=](const Call& c) { return pitched(c) && (empty || has_vectors(c)); });
    op.takes(PitchedPath::tile, "pitched_tile",
             [=](const Call& c) { return pitched(c) && (empty || gpu::has_tile()); });
    op.best = [=](const Call& c) {
        return static_cast<int>(has_vectors(c) ? PitchedPath::vectorized : PitchedPath::singles);
    };
    return op;
}

/// The same with these pitches and leads: the number of elements before the first one.
inline testing::Operation pitched_operation(std::int64_t M, std::int64_t K, std::int64_t pitch_in,
                                            std::int64_t pitch_out, std::int64_t lead_in = 0,
                                            std::int64_t lead_out = 0) {
    testing::Operation op = pitched_operation(M, K);
    op.operands[0].placed(Layout({M, K}, {pitch_in, 1}), lead_in);
    op.operands[1].placed(Layout({M, K}, {pitch_out, 1}), lead_out);
    return op;
}

}  // namespace sixdays::day02_strides
