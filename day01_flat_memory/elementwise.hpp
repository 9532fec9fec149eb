/// @file
/// Elementwise operations: element i of the output needs element i of the inputs and nothing else.
/// So shape does not matter, only the number of elements: each loop is one loop over flat memory.
///
/// For all of them: tensors are contiguous and of one shape, of any rank; 0 elements are fine; any
/// address an element may have; `out` may be an input itself, but not overlap it otherwise.
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day01_flat_memory {

/// out = in * in
void square_cpu(View<const float> in, View<float> out);
void square_cuda(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_square(const View<const float>& in, const View<float>& out);

/// out = alpha * in
void scale_cpu(float alpha, View<const float> in, View<float> out);
void scale_cuda(float alpha, View<const float> in, View<float> out, gpu::Stream stream = {});
void check_scale(const View<const float>& in, const View<float>& out);

/// out = alpha * x + y, rounded once (std::fma). BLAS calls it saxpy: single-precision a x plus y.
void saxpy_cpu(float alpha, View<const float> x, View<const float> y, View<float> out);
void saxpy_cuda(float alpha, View<const float> x, View<const float> y, View<float> out,
                gpu::Stream stream = {});
void check_saxpy(const View<const float>& x, const View<const float>& y, const View<float>& out);

/// out = a + b. Its kernels are a ladder, steps/: the same sum, faster step by step.
void add_cpu(View<const float> a, View<const float> b, View<float> out);
void add_cuda(View<const float> a, View<const float> b, View<float> out, gpu::Stream stream = {});
void check_add(const View<const float>& a, const View<const float>& b, const View<float>& out);

/// Which kernel add_cuda takes. One loads 16 bytes at once, which must begin at a multiple of 16:
/// possible if all three pointers are equally far from one. The other takes any address.
enum class AddPath { sixteen_bytes, any_address };
[[nodiscard]] AddPath choose_add(const View<const float>& a, const View<const float>& b,
                                 const View<float>& out);
[[nodiscard]] const char* name(AddPath path);

/// out = 255 - in: the photographic negative of an image, one byte an element.
void invert_cpu(View<const std::uint8_t> in, View<std::uint8_t> out);
void invert_cuda(View<const std::uint8_t> in, View<std::uint8_t> out, gpu::Stream stream = {});
void check_invert(const View<const std::uint8_t>& in, const View<std::uint8_t>& out);

/// Which kernel invert_cuda takes. One moves 16 bytes at once, which needs two pointers that are
/// equally far from a multiple of 16. The other goes byte by byte from any address to any other.
enum class InvertPath { sixteen_bytes, single_bytes };
[[nodiscard]] InvertPath choose_invert(const View<const std::uint8_t>& in,
                                       const View<std::uint8_t>& out);
[[nodiscard]] const char* name(InvertPath path);

}  // namespace sixdays::day01_flat_memory
