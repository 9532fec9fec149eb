/// @file
/// The shared memory that a kernel of phase.hpp needs, for choosing a path.
#pragma once

#include <cstdint>

#include "common/tensor/host_device.hpp"
#include "day06_transformer_ops/gpt2/weights/weight.hpp"

namespace sixdays::gpt2 {

/// Columns that a warp reads with all its loads in flight: the width of the smallest GPT-2.
inline constexpr int kSlice = 768;
/// The same for a type in runs: one run of 32 weights per lane.
inline constexpr int kRunSlice = 32 * kRun;
/// The slice of a type.
[[nodiscard]] constexpr int slice_of(WeightType type) {
    return in_runs(type) ? kRunSlice : kSlice;
}

/// K rounded up to whole slices.
SIXDAYS_HD constexpr int padded(std::int64_t K, int slice) {
    return (static_cast<int>(K) + slice - 1) / slice * slice;
}

/// Dynamic shared memory of a block: x, padded to whole slices, and `rows_kept` rows of K
/// floats.
[[nodiscard]] constexpr std::int64_t phase_bytes(std::int64_t K, int rows_kept,
                                                 int slice = kSlice) {
    return static_cast<std::int64_t>(sizeof(float)) * (padded(K, slice) + rows_kept * K);
}

/// Limit on a kernel's static __shared__ variables.
inline constexpr std::int64_t kPhaseVariables = 1024;
/// What a block gets by default: dynamic shared memory and variables together.
inline constexpr std::int64_t kSharedUnasked = 48 * 1024;
/// What a block may request on every GPU of compute capability 8.0 and newer.
inline constexpr std::int64_t kSharedAsked = 99 * 1024;

/// Does it fit in a block's shared memory? The limit is 24,576 columns if nothing else is kept (an
/// MLP's hidden row: C up to 6,144), and 8,320 with a norm's weight and bias, or 8,192 in slices of
/// 1,024.
[[nodiscard]] constexpr bool phase_fits(std::int64_t K, int rows_kept, int slice = kSlice) {
    return K < kSharedAsked && phase_bytes(K, rows_kept, slice) + kPhaseVariables <= kSharedAsked;
}

}  // namespace sixdays::gpt2
