/// @file
/// What this GPU reaches, measured: the yardstick for every port.
#pragma once

#include "common/bench/roofline.hpp"

namespace sixdays::bench {

/// Copy, read (sum) and write (fill) over 1 GiB of float32 each, and an FMA loop. Each number is
/// the best of a few plain kernels, by the median of its runs; copy is also held against
/// cudaMemcpy, so that a slow copy of our own cannot flatter the ports. Where less than 3 GiB of
/// device memory are free it takes a third of what is free for each of its two arrays. About 50 ms
/// on a large GPU.
/// @throws gpu::Error  std::logic_error on the emulator, whose times mean nothing
[[nodiscard]] Limits measure_gpu_limits();

/// Cycles per second of the multiprocessors while all of them do fused multiply-adds: they are
/// counted by the kernel and held against the time of its launch. A few milliseconds.
/// @throws gpu::Error  std::logic_error on the emulator
[[nodiscard]] double measure_gpu_clock();

}  // namespace sixdays::bench
