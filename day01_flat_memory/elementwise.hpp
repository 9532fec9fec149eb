/// @file
/// Elementwise operations: element i of the output needs element i of the inputs and nothing else.
/// So shape does not matter, only the number of elements: each loop is one loop over flat memory.
///
/// For all of them: tensors are contiguous and of one shape, of any rank; 0 elements are fine; any
/// address a float may have; `out` may be an input itself, but not overlap it otherwise.
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
#pragma once

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

}  // namespace sixdays::day01_flat_memory
