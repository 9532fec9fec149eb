/// @file
/// Inputs and outputs of a CUDA version under test, in device memory. With host.hpp a test reads:
///
///     const Tensor<float> a = distinct<float>({M, K}), b = distinct<float>({M, K}, 7);
///     HostOut<float> want({M, K});
///     add_cpu(a.view(), b.view(), want.view());
///
///     DeviceIn<float> da(a), db(b);
///     DeviceOut<float> got({M, K});
///     add_cuda(da.view(), db.view(), got.view());
///     CHECK(got.matches(want));
///     CHECK(da.unchanged());
///     CHECK(db.unchanged());
#pragma once

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/testing/host.hpp"

namespace sixdays::testing {

/// Device memory that holds an image.
///
/// On a GPU the image has guard bands, because a stray write goes unnoticed there unless it leaves
/// the allocation's pages. On the emulator it has none: the emulator reports every out-of-bounds
/// access with its line, and a band would hide it.
class DeviceMemory {
public:
    /// Bytes of a guard band: 0 on the emulator.
    static std::int64_t band();

    /// Allocates device memory and copies the image to it. @throws gpu::Error  too little memory
    explicit DeviceMemory(const Bytes& image);
    /// Device address of the first byte.
    std::byte* data() noexcept { return buffer_.data(); }
    /// Device address of the first byte, read-only.
    const std::byte* data() const noexcept { return buffer_.data(); }

    /// The bytes as they are now. Waits for all work of the device. @throws gpu::Error  a kernel
    /// failed
    Bytes read() const;

private:
    gpu::Buffer<std::byte> buffer_;
};

/// For a test that needs a large GPU: if fewer bytes of device memory are free, prints why and ends
/// the program as skipped (exit status 4; 1 if SIXDAYS_REQUIRE_GPU=1). Always on the emulator.
void need_device_memory(std::int64_t bytes);

/// Whether this device can run kernels for Hopper: a Hopper, or the emulator.
inline bool runs_hopper() {
    return gpu::is_emulated() || (gpu::why_unavailable().empty() && gpu::on_hopper());
}

/// An input in device memory: a copy of host values, and a check that it stays unchanged.
template <class T>
using DeviceIn = In<T, DeviceMemory>;
/// An output in device memory: poisoned before the call, compared after it.
template <class T>
using DeviceOut = Out<T, DeviceMemory>;

}  // namespace sixdays::testing
