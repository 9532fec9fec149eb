/// @file
/// The matrix product of 16-bit elements: out(m, n) = sum over k of a(m, k) * b(k, n), with a and b
/// bf16 or f16, sums float, and out float or as a and b. The lesson of tensor cores: a warp multiplies
/// whole small matrices with one instruction.
#pragma once

#include <optional>

#include "common/gpu/device.hpp"
#include "common/tensor/half.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_matmul_bf16(). The
/// ladder, one idea per step.
enum class MatmulBf16Path {
    one_element,      ///< one thread per element: the naive kernel, without a tensor core
    one_warp,         ///< 02: 16 x 8 outputs per warp; each lane fetches its own fragments
    shared_tiles,     ///< 03: fragments come from swizzled tiles in shared memory; any layout
    ring,             ///< 04: tiles in flight; rows or columns of a and b allow 16-byte copies
    fragments_ahead,  ///< 05: as ring, and fragments are loaded while the previous are multiplied
    warpgroups,       ///< 06: TMA fills the tiles, wgmma multiplies from shared memory (Hopper)
    persistent,       ///< 07: TMA and wgmma in a persistent kernel (Hopper)
    ping_pong,  ///< 08: the same; one consumer stores while the other multiplies (Hopper); for
                ///< outputs that the copy engine can store, and without alpha and swish
    tile,       ///< CUDA Tile C++, only on request; strides that are not negative
};
[[nodiscard]] const char* name(MatmulBf16Path path);

/// The matrix product of 16-bit elements with an epilogue: sum = sum over k of a(m, k) * b(k, n),
/// and out(m, n) = epilogue(sum). T is bf16 or f16; sums are float, and out is float or T. A product
/// of two 16-bit elements is exact in a float, so only adding rounds, and an out of 16 bits.
/// @param a    (..., M, K), any strides. The dimensions before the last two are a stack of
/// matrices, broadcast as in NumPy
/// @param b    (..., K, N), any strides
/// @param epilogue  as in matmul_cpu(): bias (N), of any stride; not relu and swish both
/// @param out  (..., M, N), any strides, injective, disjoint from a, b and bias
/// @throws std::invalid_argument  a rank below 2, shapes that do not match, relu and swish, out not
/// injective, a null pointer, overlap
template <class T, class Out = float>
void matmul_bf16_cpu(View<const T> a, View<const T> b, const Epilogue& epilogue, View<Out> out);
/// The error of an output is at most (9 ceil(K / 8) + 4) 2^-23 (|alpha| sum |a b| + |beta out| +
/// |bias|). That is a little more than twice the bound of a float product: the model is a tensor
/// core that adds eight products and the sum so far at once and truncates what a float cannot hold,
/// where an addition rounds. An out of 16 bits is rounded once more, to nearest.
/// @throws std::invalid_argument  also a path that does not support these views
template <class T, class Out = float>
void matmul_bf16_cuda(View<const T> a, View<const T> b, const Epilogue& epilogue, View<Out> out,
                      const gpu::Launch<MatmulBf16Path>& how = {});

template <class T, class Out = float>
void check_matmul_bf16(View<const T> a, View<const T> b, const Epilogue& epilogue, View<Out> out,
                       std::optional<MatmulBf16Path> path = {});

/// The path that matmul_bf16_cuda() takes: on Hopper ping_pong, where it is possible and out has 16
/// bits or it was measured to be faster (takes_turns()), or persistent for floats; else
/// fragments_ahead, where the operands allow it; else shared_tiles. For views that
/// check_matmul_bf16() accepts.
template <class T, class Out = float>
[[nodiscard]] MatmulBf16Path choose_matmul_bf16(View<const T> a, View<const T> b,
                                                const Epilogue& epilogue, View<Out> out,
                                                bool on_hopper = gpu::on_hopper());

}  // namespace sixdays::day05_matmul
