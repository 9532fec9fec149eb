/// @file
/// A matrix of weights in device memory. F32, F16 and BF16 are stored as in the file. Q8_0 is split
/// during the copy: a block of 34 bytes is aligned to 2 only, and vectorized loads need 8 or 16.
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

/// Pointers to the weights, for a launcher. Rows have no gaps.
struct DeviceMatrix {
    WeightType type = WeightType::f32;  // how `data` is read
    const std::byte* data = nullptr;    // Q8_0: the quants
    const f16* scales = nullptr;        // Q8_0 only
    std::int64_t N = 0, K = 0;          // rows: outputs; columns: inputs
};

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
