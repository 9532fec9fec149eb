/// @file
/// The matrix product of 16-bit numbers: out(m, n) = sum over k of a(m, k) * b(k, n), with a and b
/// bf16 or f16, and sums and out float. The lesson of tensor cores: a warp multiplies whole small
/// matrices with one instruction.
///
/// For all versions: T is bf16 or f16. Shapes, strides, the stack of matrices and the epilogue are
/// those of matmul.hpp. A product of two 16-bit numbers is exact in a float, so only adding rounds:
/// an output is off by (9 ceil(K / 8) + 4) 2^-23 (|alpha| sum |a b| + |beta out| + |bias|) at most.
/// (A little more than twice what a float product is off by: a tensor core adds eight products and
/// the sum so far at once, and cuts off what a float cannot hold, where an addition rounds.)
/// @throws std::invalid_argument  as matmul_cpu(); a path that cannot take these views
#pragma once

#include <optional>

#include "common/gpu/device.hpp"
#include "common/tensor/half.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

/// The ladder, one idea a step.
enum class MatmulBf16Path {
    one_element,   // a thread, an element: the loop's twin, without a tensor core
    one_warp,      // 02: a warp, 16 x 8 outputs; each lane fetches its own fragments
    shared_tiles,  // 03: fragments come from tiles in shared memory that lie swizzled; any layout
    ring,          // 04: tiles in flight; a and b whose rows or columns are quads
    fragments_ahead,  // 05: the same, and the next fragments come while these are multiplied
    warpgroups,       // 06: Hopper's copy engine fills the tiles, its wgmma multiplies from there
    persistent,       // 07: the same by blocks that stay and take tile after tile
    tile,             // CUDA Tile C++, never chosen unasked; strides that are not negative
};
[[nodiscard]] const char* name(MatmulBf16Path path);

template <class T>
void matmul_bf16_cpu(View<const T> a, View<const T> b, const Epilogue& epilogue, View<float> out);
template <class T>
void matmul_bf16_cuda(View<const T> a, View<const T> b, const Epilogue& epilogue, View<float> out,
                      const gpu::Launch<MatmulBf16Path>& how = {});

template <class T>
void check_matmul_bf16(View<const T> a, View<const T> b, const Epilogue& epilogue, View<float> out,
                       std::optional<MatmulBf16Path> path = {});

/// The fastest path for views that check_matmul_bf16() has not refused.
template <class T>
[[nodiscard]] MatmulBf16Path choose_matmul_bf16(View<const T> a, View<const T> b,
                                                bool on_hopper = gpu::on_hopper());

}  // namespace sixdays::day05_matmul
