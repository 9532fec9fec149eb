/// @file
/// Pack: read a tensor of any strides and write its elements one after the other, in row-major
/// order. The kernel of this day that takes a layout as it is, whatever it is: row-major or
/// column-major, pitched, permuted, flipped, broadcast.
#pragma once

#include "common/gpu/how.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day02_strides {

/// How the port goes from an element's number to its offset: the ladder, slowest first.
enum class PackPath {
    any_size,       // the twin: 64-bit numbers and divisions, an element a thread
    fast_division,  // 02: fewer dims, 32-bit numbers, division by multiplication
    by_rank,        // 03: a kernel for each rank
    in_flight,      // 04: eight elements a thread
    quads,          // 05: elements of 16 bytes, one a thread
    tile,           // never chosen unasked: CUDA Tile C++; 4 dims at most, no negative strides
};
[[nodiscard]] const char* name(PackPath path);

/// out(i, j, ...) = in(i, j, ...)
/// @param in   shape S of rank 0 to 8, any strides: 0 and negative ones too
/// @param out  shape S, contiguous; may be `in` itself, but not overlap it otherwise
/// @throws std::invalid_argument  other shapes or strides, a null pointer, overlap
void pack_cpu(View<const float> in, View<float> out);
/// @throws std::invalid_argument  also a path that cannot take these views
void pack_cuda(View<const float> in, View<float> out, const gpu::Launch<PackPath>& how = {});
void check_pack(const View<const float>& in, const View<float>& out,
                std::optional<PackPath> path = {});

/// Can the path take what check_pack() takes? 02 to 04 count fewer than 2^31 elements. Quads are
/// also counted below 2^31, and need rows of whole quads at multiples of 16 bytes: an innermost dim
/// of stride 1, all other strides, its extent and both addresses multiples of 4 elements. `tile`
/// needs 4 dims at most once they are simplified, and strides that are not negative.
[[nodiscard]] bool can_pack(PackPath path, const View<const float>& in, const View<float>& out);

/// What pack_cuda takes: quads, else in_flight, else any_size.
[[nodiscard]] PackPath choose_pack(const View<const float>& in, const View<float>& out);

/// The layout of `in` with as few dims as it can be walked with beside a contiguous `out`.
[[nodiscard]] Layout simplified(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day02_strides
