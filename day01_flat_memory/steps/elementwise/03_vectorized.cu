// Step 3, float4: a thread loads 16 bytes at once, four floats. A quarter of the instructions moves
// the same bytes, and four times as many bytes are in flight. A float4 is aligned to 16 bytes, so
// up to three floats before the first aligned one (the scalar head) and up to three after the last
// whole float4 (the scalar tail) are processed one by one: common/tensor/vectorized.hpp.
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/elementwise/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;

template <class Op, class T, class... In>
__global__ void vectorized_kernel(Op op, VectorizedRun run, T* out, const In*... in) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < run.count) {
        vectors_of(out, run)[i] = each(op, vectors_of(in, run)[i]...);
    }
    if (i < run.scalars) {  // scalar head and tail, at most 6 floats
        const std::int64_t k = run.scalar_element(i);
        out[k] = op(in[k]...);
    }
}

}  // namespace

template <class Op, class T, class... In>
void launch_vectorized(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in) {
    const VectorizedRun run(out, n);
    const unsigned grid = gpu::blocks_for(run.threads(), kThreads);
    vectorized_kernel<<<grid, kThreads, 0, stream>>>(op, run, out, in...);
    gpu::check_launch("vectorized_kernel", grid, kThreads);
}

template void launch_vectorized(Square, std::int64_t, gpu::Stream, float*, const float*);
template void launch_vectorized(Scale, std::int64_t, gpu::Stream, float*, const float*);
template void launch_vectorized(Saxpy, std::int64_t, gpu::Stream, float*, const float*,
                                const float*);
template void launch_vectorized(Add, std::int64_t, gpu::Stream, float*, const float*, const float*);
template void launch_vectorized(Invert, std::int64_t, gpu::Stream, std::uint8_t*,
                                const std::uint8_t*);

}  // namespace sixdays::day01_flat_memory
