/// @file
/// The measured limits of this GPU, with which every kernel is compared.
#pragma once

#include "common/bench/roofline.hpp"

namespace sixdays::bench {

/// Bandwidth of copy, read (sum) and write (fill) over 1 GiB of float32 each, and FMA throughput.
/// Each number is the best of a few simple kernels, by median time; copy also tries cudaMemcpy, so
/// that a slow copy kernel of ours cannot flatter the others. If less than 3 GiB of device memory
/// is free, each of the two arrays takes a third of it. About 50 ms on a large GPU.
/// @throws gpu::Error  std::logic_error on the emulator, whose times mean nothing
[[nodiscard]] Limits measure_gpu_limits();

/// Clock rate of the SMs in Hz while all of them execute FMAs: the cycles that a kernel counts,
/// divided by its time. A few milliseconds.
/// @throws gpu::Error  std::logic_error on the emulator
[[nodiscard]] double measure_gpu_clock();

}  // namespace sixdays::bench
