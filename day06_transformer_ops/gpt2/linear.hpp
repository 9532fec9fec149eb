/// @file
/// A linear layer over weights in the type that a file has them:
///
///     out(t, n) = bias(n) + sum over k of w(n, k) * x(t, k)
///
/// Arithmetic is float: a weight is widened when it is used, which changes none (F16, BF16 and a
/// Q8_0 weight have fewer bits than a float). With few tokens the time is that of reading the
/// weights, so half the bytes are half the time. Sums in an order that each version chooses.
/// @throws std::invalid_argument  shapes that do not fit, out not injective, overlap of x and out, a
/// null pointer; a path that cannot take these weights
#pragma once

#include "common/gpu/stream.hpp"
#include "day06_transformer_ops/gpt2/device_weight.hpp"

namespace sixdays::gpt2 {

enum class LinearPath;  // below

/// @param w     (N, K)
/// @param x     (T, K), any strides
/// @param bias  (N), or a null pointer: none
/// @param out   (T, N), injective
void linear_cpu(const Weight& w, View<const float> x, View<const float> bias, View<float> out);
void linear_cuda(const DeviceMatrix& w, View<const float> x, View<const float> bias,
                 View<float> out, gpu::Stream stream = {});
void linear_cuda(LinearPath path, const DeviceMatrix& w, View<const float> x,
                 View<const float> bias, View<float> out, gpu::Stream stream = {});

/// out = the weights as floats: what a product of many tokens is made from.
/// @param out  (N, K), contiguous, in device memory
void widen_cuda(const DeviceMatrix& w, View<float> out, gpu::Stream stream = {});

void check_linear(std::int64_t N, std::int64_t K, const View<const float>& x,
                  const View<const float>& bias, const View<float>& out);
void check_linear(LinearPath path, const DeviceMatrix& w, const View<const float>& x,
                  const View<const float>& bias, const View<float>& out);

/// How linear_cuda goes about it.
enum class LinearPath {
    one_output,  // a thread, an output: the loop's twin
    warp_a_row,  // 02: a warp reads a row of weights, 8 or 16 bytes a lane; x waits in shared memory
};
[[nodiscard]] const char* name(LinearPath path);
[[nodiscard]] LinearPath choose_linear(const DeviceMatrix& w, const View<const float>& x);

}  // namespace sixdays::gpt2
