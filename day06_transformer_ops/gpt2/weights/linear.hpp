/// @file
/// The linear layer, where a transformer spends its time: a product with a matrix of weights, read
/// directly in the file's type.
///
///     out(t, n) = bias(n) + sum over k of weight(n, k) * x(t, k)
///
/// Arithmetic is float: a weight is widened on use, which is exact (F16, BF16 and Q8_0 weights have
/// fewer bits than a float). For weights of 4 to 6 bits, warp_per_row multiplies in integers
/// (integer_run.hpp).
///
/// One token is memory-bound: every weight is loaded for one multiply-add, so half as many bytes
/// take half the time. A prompt is compute-bound: its tokens share each loaded weight. So there are
/// two loops.
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
    one_output,    // one thread per output: the twin
    warp_per_row,  // 02: one warp per row of weights, 8 or 16 bytes per lane; x in shared memory,
                   // which has room for 24,576 columns
};
[[nodiscard]] const char* name(LinearPath path);
/// The path that linear_cuda() takes without one in gpu::Launch: warp_per_row if rows of weights
/// begin at multiples of its loads and x fits in shared memory, else one_output.
[[nodiscard]] LinearPath choose_linear(const DeviceMatrix& w);

/// out = x . wᵀ + bias, with the weights widened to floats on use, which is exact.
/// Error: K + 1 roundings of |bias(n)| + the sum of |weight(n, k) * x(t, k)|; versions differ in
/// the order. For weights of 4 to 6 bits, warp_per_row also rounds x, by at most 2^-23 of the
/// largest of its run of 32.
/// @param w     (N, K)
/// @param x     (T, K), any strides
/// @param bias  (N), or a null pointer: none
/// @param out   (T, N), injective
/// @throws std::invalid_argument  an unknown type, rows that are not a multiple of its blocks,
/// shapes that do not match, out not injective, overlap of x and out, a null pointer; a path that
/// does not support these weights
void linear_cpu(const Weight& w, View<const float> x, View<const float> bias, View<float> out);
void linear_cuda(const DeviceMatrix& w, View<const float> x, View<const float> bias,
                 View<float> out, const gpu::Launch<LinearPath>& how = {});

/// out = the weights as floats, for a product with many tokens.
/// @param out  (N, K), contiguous, in device memory, aligned to 16 bytes like the weights
void to_float_cuda(const DeviceMatrix& w, View<float> out, gpu::Stream stream = {});

/// The weights as floats: in place if they are floats, else converted into `room`, of at least
/// N * K floats.
[[nodiscard]] View<const float> as_floats(const DeviceMatrix& w, gpu::Buffer<float>& room,
                                          gpu::Stream stream = {});

void check_linear(const Weight& w, const View<const float>& x, const View<const float>& bias,
                  const View<float>& out);
void check_linear(const DeviceMatrix& w, const View<const float>& x, const View<const float>& bias,
                  const View<float>& out, std::optional<LinearPath> path = {});

/// The same without a bias; each thread passes rows(weight, ...) and those columns of out.
/// @param w    (N, K)
/// @param x    (T, K), contiguous
/// @param out  (T, N), contiguous rows of any pitch; not overlapping x
/// @throws std::invalid_argument  shapes that do not match, gaps, a null pointer, overlap
void linear_fast(const Weight& w, View<const float> x, View<float> out);
void check_linear_fast(const Weight& w, const View<const float>& x, const View<float>& out);

}  // namespace sixdays::gpt2
