/// @file
/// Two kernels that run on any layout of a matrix and so show the cost of a stride: one only reads,
/// one only writes.
///
/// In both, each thread has one k and loops over m. So the stride of dimension 1 is the distance
/// between the lanes of a warp and decides the speed. The stride of dimension 0 hardly matters.
///
///     in                                  layout                    lanes of a warp
///     columns of a row-major (M, K)       strides (K, 1)            next to each other
///     rows of a row-major (K, M)          strides (1, M)            a row apart
///     every s-th element of a buffer      strides (K * s, s)        s elements apart
#pragma once

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// Elements of a column that a thread loads before it adds the first.
inline constexpr int kLoadsInFlight = 8;

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_sum_columns().
enum class SumColumnsPath {
    one_load,   ///< the naive kernel
    in_flight,  ///< 02: kLoadsInFlight loads before the first addition
};
[[nodiscard]] const char* name(SumColumnsPath path);

/// Sums of columns: out(k) = in(0, k) + in(1, k) + ... + in(M - 1, k), added in this order; 0 if M
/// is 0. One thread per k, so it needs many k to be fast.
/// @param in   (M, K), any strides
/// @param out  (K), contiguous, disjoint from `in`
/// @throws std::invalid_argument  different shapes, gaps in out, a null pointer, overlap
void sum_columns_cpu(View<const float> in, View<float> out);
void sum_columns_cuda(View<const float> in, View<float> out,
                      const gpu::Launch<SumColumnsPath>& how = {});
void check_sum_columns(const View<const float>& in, const View<float>& out,
                       std::optional<SumColumnsPath> path = {});

/// The path that sum_columns_cuda takes: in_flight if a column has at least kLoadsInFlight
/// elements.
[[nodiscard]] SumColumnsPath choose_sum_columns(const View<const float>& in);

/// out(m, k) = m * K + k, the element's flat row-major index, rounded to float (exact below
/// 2^24).
/// @param out  (M, K), any injective strides
/// @throws std::invalid_argument  another rank, strides that are not injective, a null pointer
void ramp_cpu(View<float> out);
void ramp_cuda(View<float> out, gpu::Stream stream = {});
void check_ramp(const View<float>& out);

}  // namespace sixdays::day02_strides
