/// @file
/// Writing to an element by its multi-index, in 2, 3 and 4 dimensions: loop variables become thread
/// indices.
#pragma once

#include <cstdint>

#include "common/gpu/how.hpp"
#include "common/tensor/arguments.hpp"

namespace sixdays::day01_flat_memory {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_indices().
enum class IndicesPath {
    one_element,  ///< the naive kernel, one thread per element
    vectorized,   ///< one float4 per thread; rows begin at multiples of 16 bytes
    tile          ///< CUDA Tile C++; only on request
};
/// The path that indices_cuda() takes: `vectorized` where rows begin at multiples of 16 bytes and
/// consist of whole float4s, else one_element.
[[nodiscard]] IndicesPath choose_indices(const View<float>& out);
[[nodiscard]] const char* name(IndicesPath path);

/// Writes its own multi-index into every element, read as a number in `base`: with base 10, out(1,
/// 2, 3) = 123. Rounded to float once, so exact up to 2^24.
/// @param base  >= 1; values are distinct if no extent exceeds it
/// @param out   contiguous, of rank 2, 3 or 4; at rank 2, at most kMostRows rows
/// @throws std::invalid_argument  another rank, gaps in out, a null pointer, base < 1, too many
/// rows, or a value that does not fit in 64 bits
void indices_cpu(std::int64_t base, View<float> out);
/// @throws std::invalid_argument  also the path `vectorized` where choose_indices() differs
void indices_cuda(std::int64_t base, View<float> out, const gpu::Launch<IndicesPath>& how = {});
void check_indices(std::int64_t base, const View<float>& out, std::optional<IndicesPath> path = {});

}  // namespace sixdays::day01_flat_memory
