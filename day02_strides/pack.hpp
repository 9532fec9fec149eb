/// @file
/// Pack: read a tensor of any strides and write its elements contiguously, in row-major order. This
/// is the day's kernel for any layout: row-major or column-major, pitched, permuted, flipped,
/// broadcast.
#pragma once

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_pack(). They
/// differ in how an offset is computed from a flat index; the optimization steps, slowest first.
enum class PackPath {
    any_size,       ///< naive: 64-bit indices and divisions, one element per thread
    fast_division,  ///< 02: fewer dimensions, 32-bit indices, division by multiplication
    by_rank,        ///< 03: one kernel per rank
    in_flight,      ///< 04: eight elements per thread
    vectorized,     ///< 05: float4, one per thread
    tile,           ///< only on request: CUDA Tile C++; at most 4 dimensions, no negative strides
};
[[nodiscard]] const char* name(PackPath path);

/// Reads a tensor of any strides and writes its elements contiguously, in row-major order: out(i,
/// j, ...) = in(i, j, ...).
/// @param in   shape S of rank 0 to 8, any strides, including 0 and negative ones
/// @param out  shape S, contiguous; may be `in` itself, but must not otherwise overlap it
/// @throws std::invalid_argument  different shapes, gaps in out, a null pointer, overlap
void pack_cpu(View<const float> in, View<float> out);
/// @throws std::invalid_argument  also a path that does not support these views, see can_pack()
void pack_cuda(View<const float> in, View<float> out, const gpu::Launch<PackPath>& how = {});
void check_pack(const View<const float>& in, const View<float>& out,
                std::optional<PackPath> path = {});

/// Whether the path supports views that check_pack() accepts. fast_division, by_rank and in_flight
/// need fewer than 2^31 elements. `vectorized` needs fewer than 2^31 float4s and an innermost
/// dimension of stride 1; its extent, all other strides and both addresses are multiples of 4
/// elements, so that every float4 is aligned to 16 bytes. `tile` needs at most 4 dimensions after
/// simplify() and no stride < 0.
[[nodiscard]] bool can_pack(PackPath path, const View<const float>& in, const View<float>& out);

/// The path that pack_cuda takes: vectorized, else in_flight, else any_size.
[[nodiscard]] PackPath choose_pack(const View<const float>& in, const View<float>& out);

/// The layout of `in` with the fewest dimensions that describe it next to a contiguous `out`.
[[nodiscard]] Layout simplified(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day02_strides
