/// @file
/// A matrix of weights in device memory. F32, F16 and BF16 are stored as in the file. The others are
/// split during the copy: blocks of 18, 34 or 210 bytes would misalign vectorized loads, which need 8
/// or 16. Each part is a matrix of N rows, and parts of `data` follow each other without a gap.
///
///     file    scale q0 .. q31 | scale q0 .. q31 | ...
///
///             data                               bytes per run of 32     scales (f16)
///     Q8_0    32 quants                          32                      (N, K / 32)
///     Q4_0    low bits                           16                      (N, K / 32)
///     Q5_0    low bits | high bits               16 | 4                  (N, K / 32)
///     Q4_K    low bits | scale, minimum          16 | 2                  (N, K / 256, 2)
///     Q5_K    low bits | high bits | as Q4_K     16 | 4 | 2              (N, K / 256, 2)
///     Q6_K    low bits | high bits | 2 scales    16 | 8 | 2              (N, K / 256)
///
/// **Low bits, high bits.** One lane of a warp loads a run's 16 bytes at once, and its neighbours
/// load the next runs. Then each lane reads the 32 elements of x that belong to its run from shared
/// memory, 4 at a time. If all began with their first 4, the lanes' addresses would be 128 bytes
/// apart, in the same bank. So run r of a row has its quants in swizzled order: at step p it has the
/// 4 quants from 4 * (p ^ (r % 8)) on, and eight neighbouring lanes read from all 32 banks.
///
///     low bits    byte 4 (p / 2) + e, from bit 4 (p % 2) on: 4 bits of quant e, 0 to 3, of step p
///     high bits   Q5_0, Q5_K: byte e, bit p. Q6_K: byte 4 (p / 4) + e, from bit 2 (p % 4) on: 2 bits
///     2 scales    of steps 0 to 3, and of 4 to 7
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/gpu/buffer.hpp"
#include "day06_transformer_ops/gpt2/weights/weight.hpp"

namespace sixdays::gpt2 {

/// Pointers to the weights, for a launcher. Rows have no gaps.
struct DeviceMatrix {
    WeightType type = WeightType::f32;  // how `data` is read
    const std::byte* data = nullptr;    // the weights, or all but their scales
    const f16* scales = nullptr;        // of the types that have blocks
    std::int64_t N = 0, K = 0;          // rows: outputs; columns: inputs
};

/// Bytes of a row in the first part of `data`.
/// @throws std::invalid_argument  an unknown type, or a row of partial blocks
[[nodiscard]] std::int64_t device_row_bytes(WeightType type, std::int64_t K);

/// Owns the weights.
class DeviceWeight {
public:
    /// Copies a matrix to the device.
    /// @throws std::invalid_argument  not a matrix, or rows of partial blocks
    /// @throws gpu::Error  not enough device memory
    explicit DeviceWeight(const Weight& host);

    /// As a launcher takes it, while this object exists.
    DeviceMatrix matrix() const noexcept;

private:
    WeightType type_;
    std::int64_t N_, K_;
    gpu::Buffer<std::byte> data_;
    gpu::Buffer<f16> scales_;
};

}  // namespace sixdays::gpt2
