// The naive kernel, and the launchers. Faster versions are in steps/transpose/.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day03_views/steps/transpose/steps.hpp"
#include "day03_views/tiles.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {

// --- the naive kernel ----------------------------------------------------------------------------
namespace {

// [transpose]
template <class T>
__global__ void transpose_kernel(  // in (M, N), out (N, M)
    const T* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in, std::int64_t pitch_out,
    T* out) {
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::int64_t n = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (m < M && n < N) {
        out[n * pitch_out + m] = in[m * pitch_in + n];
    }
}
// [transpose]

// --- launchers -----------------------------------------------------------------------------------

template <class T>
void launch_transpose_one_element(const T* in, std::int64_t M, std::int64_t N,
                                  std::int64_t pitch_in, std::int64_t pitch_out, T* out,
                                  gpu::Stream stream) {
    const dim3 block(32, 8);
    const dim3 grid(gpu::blocks_for(N, 32), gpu::blocks_for(M, 8));
    transpose_kernel<T><<<grid, block, 0, stream>>>(in, M, N, pitch_in, pitch_out, out);
    gpu::check_launch("transpose_kernel", grid, block);
}

void launch(TransposePath path, const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    const Matrices x = matrices_to_transpose(in, out);
    const auto one_by_one = [&](auto launch_step) {  // steps 2 to 4: one launch per matrix
        for_each_matrix(in.as<float>(), out.as<float>(),
                        [&](auto... matrix) { launch_step(matrix..., stream); });
    };
    switch (path) {
        case TransposePath::one_element:
            return with_element(in.element, [&](auto element) {
                using T = decltype(element);
                for_each_matrix(in.as<T>(), out.as<T>(), [&](auto... matrix) {
                    launch_transpose_one_element<T>(matrix..., stream);
                });
            });
        case TransposePath::write_coalesced:
            return one_by_one(launch_transpose_write_coalesced);
        case TransposePath::shared_tile:
            return one_by_one(launch_transpose_shared_tile);
        case TransposePath::padded:
            return one_by_one(launch_transpose_padded);
        case TransposePath::in_flight:
            return launch_transpose_in_flight(x, stream);
        case TransposePath::vectorized:
            return launch_transpose_vectorized(x, stream);
        case TransposePath::small_elements:
            return launch_transpose_small_elements(x, stream);
        case TransposePath::whole_sectors:
            return launch_transpose_whole_sectors(x, stream);
        case TransposePath::short_rows:
            return launch_transpose_short_rows(x, stream);
        case TransposePath::short_rows_vectorized:
            return launch_transpose_short_rows_vectorized(x, stream);
        case TransposePath::tile:
            return gpu::by_tile("transpose", [&] { launch_transpose_tiles(in, out, stream); });
    }
}

}  // namespace

void transpose_untyped_cuda(const UntypedIn& in, const UntypedOut& out,
                            const gpu::Launch<TransposePath>& how) {
    check_transpose(in, out, how.path);
    if (out.layout.size() == 0) return;
    launch(how.path ? *how.path : choose_transpose(in, out), in, out, how.stream);
}

}  // namespace sixdays::day03_views
