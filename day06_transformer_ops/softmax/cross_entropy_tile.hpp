/// @file
/// The launcher of cross-entropy's tile kernel, cross_entropy_tile.cu, and the views it supports.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/simplify.hpp"
#include "day06_transformer_ops/softmax/cross_entropy.hpp"

namespace sixdays::day06_transformer_ops {

/// Layouts of the rows of logits, of targets and of out, with as few dimensions as all three allow.
template <class T>
[[nodiscard]] std::array<Layout, 3> surprised_rows(const CrossEntropyPlan<T>& plan) {
    return simplify(plan.logits.first.layout, plan.targets.layout, plan.out.layout);
}

template <class T>
void launch_cross_entropy_tile(const CrossEntropyPlan<T>& plan, gpu::Stream stream);

}  // namespace sixdays::day06_transformer_ops
