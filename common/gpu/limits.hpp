/// @file
/// What this GPU reaches, measured: the yardstick for every port.
#pragma once

#include "common/bench/roofline.hpp"

namespace sixdays::gpu {

/// Copy, read (sum) and write (fill) over 1 GiB of float32 each, and an FMA loop. Each number is
/// the best of a few plain kernels, by the median of its runs; copy is also held against
/// cudaMemcpy, so that a slow copy of our own cannot flatter the ports. Needs 2 GiB of free device
/// memory; with less it takes a quarter of what is free. About 50 ms on a large GPU.
/// @throws gpu::Error  std::logic_error on the emulator, whose times mean nothing
[[nodiscard]] bench::Limits measure_limits();

}  // namespace sixdays::gpu
