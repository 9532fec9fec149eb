/// @file
/// Which device runs the kernels: a GPU, or the emulator on the CPU. Plain C++: the program is
/// linked with sixdays_gpu_cuda or with sixdays_gpu_emulated, and these functions report which.
#pragma once

#include <cstdint>
#include <string>

#include "common/gpu/stream.hpp"

namespace sixdays::gpu {

/// Whether this program is linked with the emulator, so that kernels run on the CPU.
[[nodiscard]] bool is_emulated() noexcept;

/// Empty if a device is available; else a sentence that says why not (no driver, no GPU, too old).
[[nodiscard]] std::string why_unavailable();

/// Properties of the current device; the emulator has values, too.
struct Device {
    std::string name;               ///< as the driver reports it
    int major = 0,                  ///< compute capability, first digit
        minor = 0;                  ///< compute capability, second digit
    int multiprocessors = 0;        ///< SMs; each runs many blocks at once
    int threads_per_block = 0;      ///< maximum
    int warp_size = 0;              ///< threads that execute together
    std::int64_t memory_bytes = 0;  ///< global memory
    std::int64_t l2_bytes = 0;      ///< cache shared by all SMs; 0 on the emulator
    std::int64_t shared_bytes = 0;  ///< shared memory per block without opting in to more
    int driver_version = 0,         ///< the newest CUDA that the driver supports; 13000 is 13.0
        runtime_version = 0;        ///< the CUDA runtime that this program uses
};

/// The properties of the current device. @throws gpu::Error  no device, or a failed query
[[nodiscard]] Device device();

/// The number of SMs (multiprocessors) of the current device: cheap enough to call every time.
/// @throws gpu::Error  a failed query
[[nodiscard]] int multiprocessors();

/// Whether the current device is a Hopper (compute capability 9.0). Only then can it run the
/// kernels of hopper/, whose instructions no other architecture has. The emulator runs them too,
/// but this returns false there.
/// @throws gpu::Error  a failed query
[[nodiscard]] bool on_hopper();

/// Bytes of free device memory. @throws gpu::Error  a failed query
[[nodiscard]] std::int64_t free_bytes();

/// The kernel that this thread launched last, as passed to check_launch(); "" if none yet. With it a
/// test sees which path actually ran, not only which one was chosen.
[[nodiscard]] const char* last_kernel() noexcept;

/// A sentence about the first launch since the last call whose grid, block or shared memory was not
/// what check_launch() was told: its error message would be false. "" if there is none, and always
/// on a GPU.
[[nodiscard]] std::string misreported_launch();

/// Throws if an earlier launch or CUDA call has failed and its error is unread.
/// @throws gpu::Error  that error, with advice
void check_pending();

/// Waits until all work on the device is done. @throws gpu::Error  also for a kernel that failed
/// meanwhile: a launch returns before its kernel has run
void synchronize();

}  // namespace sixdays::gpu
