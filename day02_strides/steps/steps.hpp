/// @file
/// The ladder: one gather, one idea a file, and a first step of the pitched copy.
/// `diff` two neighbours to see the idea. All take and refuse what gather_cuda does.
#pragma once

#include <cstdint>

#include "common/tensor/fast_division.hpp"
#include "day02_strides/gather.hpp"
#include "day02_strides/pitched.hpp"

namespace sixdays::day02_strides {

/// Step 1: unravel the thread's number in 64 bits, then one sum of products. Any size.
void gather_unravel(View<const float> in, View<float> out, gpu::Stream stream = {});

/// Step 2: fewer dims (simplify), and division by multiplication (FastDivisor).
/// @throws std::invalid_argument  also from 2^31 elements on
void gather_fast_division(View<const float> in, View<float> out, gpu::Stream stream = {});

/// Step 3: a kernel per rank, so that the compiler writes the loop over dims out, and eight loads a
/// thread under way.
/// @throws std::invalid_argument  also from 2^31 elements on
void gather_by_rank(View<const float> in, View<float> out, gpu::Stream stream = {});

/// Step 3 over quads of 16 bytes, two loads a thread under way.
/// @throws std::invalid_argument  also where choose_gather() could not say quads
void gather_quads(View<const float> in, View<float> out, gpu::Stream stream = {});

/// Step 4: no walk at all: both are one run of memory. (Day 01's `add`, with one input and no sum.)
/// @throws std::invalid_argument  also where choose_gather() does not say straight
void gather_straight(View<const float> in, View<float> out, gpu::Stream stream = {});

/// The walk of steps 2 and 3: the extents, prepared for division, and the strides of `in`.
/// Innermost dim first, because that is the one which the remainder of the first division gives.
struct Walk {
    std::uint32_t n = 0;                 // elements, or quads
    int rank = 0;                        // of the simplified layouts, at least 1
    FastDivisor extent[kMaxRank];        // 1 beyond the rank
    std::int64_t stride[kMaxRank] = {};  // 0 beyond the rank
};

/// Elements, or runs of 4 of them, that a Walk counts in one step.
enum class WalkBy { element = 1, quad = 4 };

/// Can the walk go in such steps? `quad` needs an innermost dim of stride 1, all other strides, its
/// extent and both addresses multiples of 4 elements. Both need fewer than 2^31 steps.
[[nodiscard]] bool can_walk(const View<const float>& in, const View<float>& out, WalkBy step);

/// @throws std::invalid_argument  can_walk() says no
[[nodiscard]] Walk walk_of(const View<const float>& in, const View<float>& out, WalkBy step);

/// The pitched copy with one thread for one element: the loop's body.
/// @throws std::invalid_argument  as pitched_cuda, and more rows than a grid of 65,535 * 8 has
void pitched_one_element(View<const float> in, View<float> out, gpu::Stream stream = {});
void check_pitched_one_element(const View<const float>& in, const View<float>& out);

}  // namespace sixdays::day02_strides
