/// @file
/// Launchers of the optimization steps, one idea per file: `diff` two of them to see it. Step 1 is
/// the naive kernel in transpose_cuda.cu. They check nothing; see TransposePath for their
/// requirements.
#pragma once

#include "common/gpu/stream.hpp"
#include "day03_views/steps/transpose/matrices.hpp"

namespace sixdays::day03_views {

/// Steps 2 to 4, like the naive kernel, take one matrix (M, N).
void launch_transpose_write_coalesced(const float* in, std::int64_t M, std::int64_t N,
                                      std::int64_t pitch_in, std::int64_t pitch_out, float* out,
                                      gpu::Stream stream);
void launch_transpose_shared_tile(const float* in, std::int64_t M, std::int64_t N,
                                  std::int64_t pitch_in, std::int64_t pitch_out, float* out,
                                  gpu::Stream stream);
void launch_transpose_padded(const float* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in,
                             std::int64_t pitch_out, float* out, gpu::Stream stream);

/// From step 5 on, a stack of matrices in one launch, elements of more sizes, any extents.
void launch_transpose_in_flight(const Matrices& x, gpu::Stream stream);
void launch_transpose_vectorized(Matrices x, gpu::Stream stream);
void launch_transpose_small_elements(const Matrices& x, gpu::Stream stream);
void launch_transpose_whole_sectors(const Matrices& x, gpu::Stream stream);
void launch_transpose_short_rows(const Matrices& x, gpu::Stream stream);
void launch_transpose_short_rows_vectorized(const Matrices& x, gpu::Stream stream);

}  // namespace sixdays::day03_views
