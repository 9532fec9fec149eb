/// @file
/// A matrix of weights in device memory. F32, F16 and BF16 lie as in the file. Q8_0 is taken apart
/// on the way: a block of 34 bytes begins at a multiple of 2, and a GPU wants to load 8 or 16 bytes
/// at once.
///
///     file    scale q0 .. q31 | scale q0 .. q31 | ...
///     device  q0 .. q31 q0 .. q31 ...                 (N, K) signed bytes
///             scale scale ...                         (N, K / 32) f16
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/gpu/buffer.hpp"
#include "day06_transformer_ops/gpt2/weights/weight.hpp"

namespace sixdays::gpt2 {

/// Where the weights are, for a launcher. Rows follow each other without a gap.
struct DeviceMatrix {
    WeightType type = WeightType::f32;
    const std::byte* data = nullptr;  // Q8_0: the quants
    const f16* scales = nullptr;      // Q8_0 only
    std::int64_t N = 0, K = 0;        // rows: outputs; columns: inputs
};

/// Owns them.
class DeviceWeight {
public:
    /// Copies a matrix to the device.
    /// @throws std::invalid_argument  not a matrix, or rows that do not divide into blocks
    /// @throws gpu::Error  the device has not that much memory left
    explicit DeviceWeight(const Weight& host);

    DeviceMatrix matrix() const noexcept;

private:
    WeightType type_;
    std::int64_t N_, K_;
    gpu::Buffer<std::byte> data_;
    gpu::Buffer<f16> scales_;
};

}  // namespace sixdays::gpt2
