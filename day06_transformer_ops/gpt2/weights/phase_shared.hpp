/// @file
/// The shared memory that a kernel of phase.hpp needs, for choosing a path.
#pragma once

#include <cstdint>

#include "common/tensor/host_device.hpp"

namespace sixdays::gpt2 {

/// Columns that a warp reads with all its pieces in flight: those of GPT-2's smallest model.
inline constexpr int kSlice = 768;

/// K rounded up to whole slices.
SIXDAYS_HD constexpr int padded(std::int64_t K) {
    return (static_cast<int>(K) + kSlice - 1) / kSlice * kSlice;
}

/// Dynamic shared memory of a block: x, filled up to whole slices, and `rows_kept` rows of K
/// floats.
[[nodiscard]] constexpr std::int64_t phase_bytes(std::int64_t K, int rows_kept) {
    return static_cast<std::int64_t>(sizeof(float)) * (padded(K) + rows_kept * K);
}

/// A kernel's own __shared__ variables, at most.
inline constexpr std::int64_t kPhaseVariables = 1024;
/// What a block gets without asking for more: dynamic shared memory and variables together.
inline constexpr std::int64_t kSharedUnasked = 48 * 1024;
/// What a block may ask for on every GPU of compute capability 8.0 and newer.
inline constexpr std::int64_t kSharedAsked = 99 * 1024;

/// Does a block's shared memory hold it? That is 24,576 columns where nothing else is kept (an
/// MLP's hidden row: C up to 6,144), and 8,320 beside a norm's weight and bias.
[[nodiscard]] constexpr bool phase_fits(std::int64_t K, int rows_kept) {
    return K < kSharedAsked && phase_bytes(K, rows_kept) + kPhaseVariables <= kSharedAsked;
}

}  // namespace sixdays::gpt2
