/// @file
/// The matrix product: out(m, n) = sum over k of a(m, k) * b(k, n). The lesson of reuse: an element
/// that is fetched once should be used in many multiply-adds.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day05_matmul {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_matmul(), which is
/// shallow, split_k, whole_tiles or skinny. The ladder, one idea per step.
enum class MatmulPath {
    one_element,        ///< one thread per element: the naive kernel; lanes run along M
    lanes_along_n,      ///< lanes run along N, where b and out are contiguous
    shared_tile,        ///< a block fetches a tile once and reads it 32 times
    transposed_tile,    ///< lanes load along the contiguous dimension; the tile is padded
    column_per_thread,  ///< a column of 8 outputs per thread: register tiling
    square_per_thread,  ///< 8 x 8 outputs per thread
    vectorized,         ///< 128-bit loads, from global memory and from the tile
    warp_tiles,         ///< a warp's outputs form a rectangle: fewer words of the tile per warp
    ring,               ///< copies in flight while the tiles before them are multiplied
    fragments,      ///< 8 x 16 outputs per thread; the next k's elements are loaded during this k
    serpentine,     ///< the order of multiply-adds: consecutive ones share an operand
    spread_copies,  ///< copies between the multiply-adds instead of before them
    whole_tiles,    ///< no guard in the loop; any layout; large or small tiles
    skinny,         ///< outside the ladder: few rows of a, or columns of b: b is read once
    split_k,  ///< outside the ladder: few outputs, a long K: blocks share a tile's K; a workspace
    shallow,  ///< outside the ladder: a short K: writing out dominates
    tile,     ///< CUDA Tile C++, only on request; strides that are not negative
};
[[nodiscard]] const char* name(MatmulPath path);

/// The epilogue, applied to a sum before it is stored: x = alpha * sum + beta * out + bias, and out
/// is x; with `relu`, 0 where x is negative; with `swish`, x / (1 + exp(-x)) (Ramachandran and
/// others 2017, arXiv 1710.05941; also called SiLU). Not both. As in BLAS, beta = 0 does not read
/// `out`, and alpha = 0 reads neither `a` nor `b`.
struct Epilogue {
    /// Scales the sum; 0: neither `a` nor `b` is read.
    float alpha = 1;
    /// Scales the previous `out`; 0: it is not read.
    float beta = 0;
    View<const float> bias = {};  ///< (N), of any stride; a null pointer: none
    /// Store 0 where x is negative; a NaN stays.
    bool relu = false;
    /// Store x / (1 + exp(-x)).
    bool swish = false;

    /// The value to store for this sum, in column n.
    /// @param out  the element before, read only if beta is not 0
    template <class Out>
    SIXDAYS_HD float operator()(float sum, std::int64_t n, const Out& out) const noexcept {
        const float x = before_swish(sum, n, out);
        return swish ? x / (1 + std::exp(-x)) : x;
    }
    /// alpha * sum + beta * out + bias(n), and 0 where that is negative with `relu`.
    template <class Out>
    SIXDAYS_HD float before_swish(float sum, std::int64_t n, const Out& out) const noexcept {
        float x = alpha * sum;
        if (beta != 0) x += beta * float(out);  // else out is not read: it may be a NaN
        if (bias.data != nullptr) x += bias(n);
        return relu && x < 0 ? 0 : x;
    }
};

/// The matrix product with an epilogue: sum = sum over k of a(m, k) * b(k, n), and out(m, n) =
/// epilogue(sum). For K = 0 a sum is 0.
/// @param a    (..., M, K), any strides: a transposed operand is a view with swapped strides. The
/// dimensions before the last two are a stack of matrices, broadcast as in NumPy: b (K, N) serves
/// every matrix of a (B, T, K)
/// @param b    (..., K, N), any strides
/// @param out  (..., M, N), any strides, injective, disjoint from a, b and epilogue.bias
/// @throws std::invalid_argument  a rank below 2, shapes that do not match, relu and swish, out not
/// injective, a null pointer, overlap
void matmul_cpu(View<const float> a, View<const float> b, const Epilogue& epilogue,
                View<float> out);
/// Sums are float, in an order that each path chooses.
/// @throws std::invalid_argument  also a path that does not support these views, and a workspace
/// that is too small
void matmul_cuda(View<const float> a, View<const float> b, const Epilogue& epilogue,
                 View<float> out, const gpu::Launch<MatmulPath>& how = {});

/// The matrix product, without an epilogue: out(m, n) = sum over k of a(m, k) * b(k, n); 0 for K =
/// 0.
/// @param a    (..., M, K), any strides: a transposed operand is a view with swapped strides. The
/// dimensions before the last two are a stack of matrices, broadcast as in NumPy
/// @param b    (..., K, N), any strides
/// @param out  (..., M, N), any strides, injective, disjoint from a and b
/// @throws std::invalid_argument  a rank below 2, shapes that do not match, out not injective, a
/// null pointer, overlap
inline void matmul_cpu(View<const float> a, View<const float> b, View<float> out) {
    matmul_cpu(a, b, {}, out);
}
/// Sums are float, in an order that each path chooses.
/// @throws std::invalid_argument  also a path that does not support these views, and a workspace
/// that is too small
inline void matmul_cuda(View<const float> a, View<const float> b, View<float> out,
                        const gpu::Launch<MatmulPath>& how = {}) {
    matmul_cuda(a, b, {}, out, how);
}

/// Bytes of a workspace for this path; without a path, the bytes with which matmul_cuda() takes
/// split_k, where that is faster. 0: none is needed. The views may have null pointers: one counts
/// as a multiple of 16.
/// @throws std::invalid_argument  as matmul_cuda(), except for null pointers and overlaps
[[nodiscard]] std::int64_t matmul_workspace_bytes(View<const float> a, View<const float> b,
                                                  View<float> out,
                                                  std::optional<MatmulPath> path = {});

/// The path that matmul_cuda() takes without one in gpu::Launch; the first of these that applies:
///
/// - `shallow` if K <= 32 and both M and N are more than 16
/// - `split_k` if the workspace has matmul_workspace_bytes(), which is 0 where it is not faster
/// - `whole_tiles` if K >= 16 and `out` has room for a tile of 64 x 64 or 32 x 128
/// - `skinny` otherwise
///
/// For arguments that matmul_cuda() accepts.
[[nodiscard]] MatmulPath choose_matmul(View<const float> a, View<const float> b,
                                       const Epilogue& epilogue, View<float> out,
                                       gpu::Workspace workspace = {});

}  // namespace sixdays::day05_matmul
