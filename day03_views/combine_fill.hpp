/// @file
/// Outputs without an input: nothing is read, so the limit is how fast memory can be written.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// out = value, everywhere. Zeros and ones are fills.
/// @param out  injective, any strides; what lies between its elements stays as it is
/// @throws std::invalid_argument  out not injective, a null pointer
void fill_cpu(float value, View<float> out);
void fill_cuda(float value, View<float> out, gpu::Stream stream = {});
void check_fill(const View<float>& out);

/// Which kernel fill_cuda takes: 16 bytes a store where out is one run of memory, at any address.
enum class FillPath { quads, any_layout };
[[nodiscard]] FillPath choose_fill(const View<float>& out);
[[nodiscard]] const char* name(FillPath path);

}  // namespace sixdays::day03_views
