/// @file
/// The first kernel: the four steps of every CUDA program, with nothing hidden.
#pragma once

namespace sixdays::day01_flat_memory {

/// a + b, computed by one GPU thread: allocate, copy there, launch, copy back. The only port that
/// allocates and copies by itself; all others take memory that is on the device already.
/// @throws gpu::Error
float add_two_numbers_cuda(float a, float b);

}  // namespace sixdays::day01_flat_memory
