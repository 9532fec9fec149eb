/// @file
/// The launchers of the ladder, one idea per file: `diff` two adjacent steps to see it. Step 1 is
/// the naive kernel in matmul_cuda.cu. Launchers check nothing: MatmulPath lists what each
/// supports.
#pragma once

#include "common/gpu/stream.hpp"
#include "day05_matmul/steps/matmul/problem.hpp"

namespace sixdays::day05_matmul {

/// All but one_element, which takes the views themselves.
void launch_matmul(MatmulPath path, const Problem& x, gpu::Workspace workspace, gpu::Stream stream);

void launch_matmul_lanes_along_n(Problem x, gpu::Stream stream);
void launch_matmul_shared_tile(Problem x, gpu::Stream stream);
void launch_matmul_transposed_tile(Problem x, gpu::Stream stream);
void launch_matmul_column_per_thread(Problem x, gpu::Stream stream);
void launch_matmul_square_per_thread(Problem x, gpu::Stream stream);
void launch_matmul_vectorized(Problem x, gpu::Stream stream);
void launch_matmul_warp_tiles(Problem x, gpu::Stream stream);
void launch_matmul_ring(Problem x, gpu::Stream stream);
void launch_matmul_fragments(Problem x, gpu::Stream stream);
void launch_matmul_serpentine(Problem x, gpu::Stream stream);
void launch_matmul_spread_copies(Problem x, gpu::Stream stream);
void launch_matmul_whole_tiles(WholeTile cut, Problem x, gpu::Stream stream);
void launch_matmul_skinny(Problem x, gpu::Stream stream);
void launch_matmul_shallow(Problem x, gpu::Stream stream);

/// @param parts  memory for parts_of(x) times all outputs
void launch_matmul_split_k(Problem x, float* parts, gpu::Stream stream);

}  // namespace sixdays::day05_matmul
