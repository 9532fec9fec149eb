/// @file
/// The ladder: one transpose, eight kernels, one idea a file. `diff` two neighbours to see the
/// idea. All take and refuse what transpose_cuda does; steps 1 to 4 and 6 for elements of 4 bytes,
/// called float, step 5 for all, step 7 for 1 and 2 bytes, step 8 for 2 and 4.
#pragma once

#include "day03_views/matrices.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {

/// Step 1: neighbouring lanes read neighbours. They write a pitch apart.
void transpose_read_coalesced(View<const float> in, View<float> out, gpu::Stream stream = {});

/// Step 2: neighbouring lanes write neighbours. They read a pitch apart.
void transpose_write_coalesced(View<const float> in, View<float> out, gpu::Stream stream = {});

/// Step 3: both are neighbours, by way of a 32 x 32 tile in shared memory; its banks collide.
void transpose_shared_tile(View<const float> in, View<float> out, gpu::Stream stream = {});

/// Step 4: the tile's rows are one element longer, so that a column lies in 32 different banks.
void transpose_padded(View<const float> in, View<float> out, gpu::Stream stream = {});

/// Step 5: all loads of a thread are under way before the first is needed, up to 64 bytes of them.
void transpose_in_flight(const BytesIn& in, const BytesOut& out, gpu::Stream stream = {});

/// Step 6: 16 bytes a load and a store.
/// @throws std::invalid_argument  also where rows begin elsewhere than at multiples of 16 bytes
void transpose_sixteen_bytes(View<const float> in, View<float> out, gpu::Stream stream = {});

/// Step 7: the same for small elements: those of 2 or 4 rows are packed into one word.
/// @throws std::invalid_argument  as step 6; elements of 4 bytes or more
void transpose_packed_bytes(const BytesIn& in, const BytesOut& out, gpu::Stream stream = {});

/// Step 8: rows that begin anywhere, cut where the sectors of `out` begin.
/// @throws std::invalid_argument  elements of other than 2 or 4 bytes
void transpose_whole_sectors(const BytesIn& in, const BytesOut& out, gpu::Stream stream = {});

// The last four for whoever has a stack of matrices already: unchecked, not empty.
void launch_in_flight(const Matrices& x, int element, gpu::Stream stream);
void launch_sixteen_bytes(Matrices x, gpu::Stream stream);
void launch_packed_bytes(const Matrices& x, int element, gpu::Stream stream);
void launch_whole_sectors(const Matrices& x, int element, gpu::Stream stream);

}  // namespace sixdays::day03_views
