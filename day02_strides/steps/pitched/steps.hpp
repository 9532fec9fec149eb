/// @file
/// Faster versions of pitched's naive kernel. Nothing is checked here; pitched_cuda has done so.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"

namespace sixdays::day02_strides {

/// Step 2: several rows per thread, one element of each.
/// @param in_pitch, out_pitch  of (M, K); 0 if there is one row only
void pitched_singles(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                     float* out, std::int64_t out_pitch, gpu::Stream stream);

/// Step 2 with one float4 of each row. Every row of both begins at a multiple of 16 bytes.
void pitched_vectors(const float* in, std::int64_t in_pitch, std::int64_t M, std::int64_t K,
                     float* out, std::int64_t out_pitch, gpu::Stream stream);

}  // namespace sixdays::day02_strides
