/// @file
/// Sets every element of a tensor in device memory to one value: zeros, ones, minus infinity.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::gpu {

/// out = value for every element; memory between its elements stays unchanged. Uses float4 stores
/// if out is one contiguous run of memory, at any address and with its dimensions in any order.
/// @param out  injective, any strides
/// @throws std::invalid_argument  out not injective, a null pointer
void fill(float value, View<float> out, Stream stream = {});

}  // namespace sixdays::gpu
