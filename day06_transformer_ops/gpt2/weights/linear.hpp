/// @file
/// What a transformer spends its time on: the product with a matrix of weights, straight from the
/// type that a file has them in.
///
///     out(t, n) = bias(n) + sum over k of weight(n, k) * x(t, k)
///
/// Arithmetic is float: a weight is widened when it is used, which changes none (F16, BF16 and a
/// Q8_0 weight have fewer bits than a float).
///
/// One token is limited by memory: every weight is fetched for one multiply-add, so half the bytes
/// are half the time. A prompt is limited by arithmetic: the tokens share each weight that was
/// fetched. So there is a loop for either.
/// Error: K + 1 roundings of |bias(n)| + the sum of |weight(n, k) * x(t, k)|; versions differ in
/// the order.
/// @throws std::invalid_argument  a type that is none of the four, rows that do not divide into its
/// blocks, shapes that do not fit, out not injective, overlap of x and out, a null pointer; the
/// fast loop: gaps; a path that cannot take these weights
#pragma once

#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"
#include "day06_transformer_ops/gpt2/weights/device_weight.hpp"
#include "day06_transformer_ops/gpt2/weights/weight.hpp"

namespace sixdays::gpt2 {

/// How linear_cuda computes it.
enum class LinearPath {
    one_output,  // a thread, an output: the loop's twin
    warp_a_row,  // 02: a warp reads a row of weights, 8 or 16 bytes a lane; x is in shared memory,
                 // which holds 24,576 columns
};
[[nodiscard]] const char* name(LinearPath path);
[[nodiscard]] LinearPath choose_linear(const DeviceMatrix& w);

/// @param w     (N, K)
/// @param x     (T, K), any strides
/// @param bias  (N), or a null pointer: none
/// @param out   (T, N), injective
void linear_cpu(const Weight& w, View<const float> x, View<const float> bias, View<float> out);
void linear_cuda(const DeviceMatrix& w, View<const float> x, View<const float> bias,
                 View<float> out, const gpu::Launch<LinearPath>& how = {});

/// out = the weights as floats: what a product of many tokens is made from.
/// @param out  (N, K), contiguous, in device memory, at a multiple of 16 bytes as the weights
void to_float_cuda(const DeviceMatrix& w, View<float> out, gpu::Stream stream = {});

/// The weights as floats: where they lie if they are floats, else in `room`, of N * K floats or
/// more.
[[nodiscard]] View<const float> as_floats(const DeviceMatrix& w, gpu::Buffer<float>& room,
                                          gpu::Stream stream = {});

void check_linear(const Weight& w, const View<const float>& x, const View<const float>& bias,
                  const View<float>& out);
void check_linear(const DeviceMatrix& w, const View<const float>& x, const View<const float>& bias,
                  const View<float>& out, std::optional<LinearPath> path = {});

/// The same without a bias; a thread of its own gives rows(weight, ...) and those columns of out.
/// @param w    (N, K)
/// @param x    (T, K), contiguous
/// @param out  (T, N), columns side by side, rows of any stride; apart from x
/// @throws std::invalid_argument  shapes that do not fit, gaps, a null pointer, overlap
void linear_fast(const Weight& w, View<const float> x, View<float> out);
void check_linear_fast(const Weight& w, const View<const float>& x, const View<float>& out);

}  // namespace sixdays::gpt2
