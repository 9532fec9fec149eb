/// @file
/// Which device runs the ports: a GPU, or the emulator on the CPU. Plain C++; the program is linked
/// with sixdays_gpu_cuda or with sixdays_gpu_emulated, and these functions tell which.
#pragma once

#include <cstdint>
#include <string>

#include "common/gpu/stream.hpp"

namespace sixdays::gpu {

/// Is this program linked with the emulator?
[[nodiscard]] bool is_emulated() noexcept;

/// Empty if a device answers; else a sentence that says why not (no driver, no GPU, too old).
[[nodiscard]] std::string why_unavailable();

struct Device {
    std::string name;
    int major = 0, minor = 0;       // compute capability
    int multiprocessors = 0;        // each runs many blocks at once
    int threads_per_block = 0;      // at most
    int warp_size = 0;              // threads that step together
    std::int64_t memory_bytes = 0;  // global memory
    std::int64_t l2_bytes = 0;      // cache that all multiprocessors share
    std::int64_t shared_bytes = 0;  // shared memory a block gets without asking for more
    int driver_version = 0, runtime_version = 0;  // 13000 is 13.0
};

/// The current device. @throws gpu::Error
[[nodiscard]] Device device();

/// How many multiprocessors the current device has: cheap enough to ask at every call.
/// @throws gpu::Error
[[nodiscard]] int multiprocessors();

/// Is the current device a Hopper (compute capability 9.0)? Then it may be given kernels of
/// hopper/, whose instructions no other has. The emulator runs them too, but is none.
/// @throws gpu::Error
[[nodiscard]] bool on_hopper();

/// Bytes of device memory that nobody has taken. @throws gpu::Error
[[nodiscard]] std::int64_t free_bytes();

/// The kernel that a launcher launched last, as it told check_launch(); "" if none yet. So that a
/// test can see which path was taken, and not only which one was chosen.
[[nodiscard]] const char* last_kernel() noexcept;

/// Has a launch or a CUDA call failed, and nobody asked? @throws gpu::Error
void check_pending();

/// Waits until all work given to the device is done. @throws gpu::Error  also for a kernel that
/// failed meanwhile: a launch returns before its kernel has run
void synchronize();

}  // namespace sixdays::gpu
