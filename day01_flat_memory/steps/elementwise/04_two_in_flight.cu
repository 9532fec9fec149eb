// Step 4: two quads a thread, and all loads are asked for before the first result is stored. Memory
// is far away, so what counts is how many bytes are on their way at any moment: those per second
// times the seconds of a round trip (Little's law). A multiprocessor full of 2,048 threads has,
// with one input, 4 bytes * 2,048 = 8 KiB in flight in step 1, 32 KiB in step 3 and 64 KiB here;
// with two inputs twice that. An H200 needs about 48 KiB.
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/steps/elementwise/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;

// [kernel]
template <class Op, class T, class... In>
__global__ void two_in_flight_kernel(Op op, Quads run, T* out, const In*... in) {
    // A block owns 2 * blockDim.x quads; a thread takes quad i and the one a
    // block's width later.
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * 2 + threadIdx.x;
    const std::int64_t j = i + blockDim.x;
    if (j < run.count) {
        const auto at_i = each(op, quads_of(in, run)[i]...);
        const auto at_j = each(op, quads_of(in, run)[j]...);
        quads_of(out, run)[i] = at_i;
        quads_of(out, run)[j] = at_j;
    } else if (i < run.count) {
        quads_of(out, run)[i] = each(op, quads_of(in, run)[i]...);
    }
    if (i < run.loose) {  // head and tail: block 0 sees to them
        const std::int64_t k = run.loose_element(i);
        out[k] = op(in[k]...);
    }
}
// [kernel]

}  // namespace

template <class Op, class T, class... In>
void launch_two_in_flight(Op op, std::int64_t n, gpu::Stream stream, T* out, const In*... in) {
    const Quads run(out, n);
    const unsigned grid = gpu::blocks_for(run.threads(), 2 * kThreads);
    two_in_flight_kernel<<<grid, kThreads, 0, stream>>>(op, run, out, in...);
    gpu::check_launch("two_in_flight_kernel", grid, kThreads);
}

template void launch_two_in_flight(Square, std::int64_t, gpu::Stream, float*, const float*);
template void launch_two_in_flight(Scale, std::int64_t, gpu::Stream, float*, const float*);
template void launch_two_in_flight(Saxpy, std::int64_t, gpu::Stream, float*, const float*,
                                   const float*);
template void launch_two_in_flight(Add, std::int64_t, gpu::Stream, float*, const float*,
                                   const float*);
template void launch_two_in_flight(Invert, std::int64_t, gpu::Stream, std::uint8_t*,
                                   const std::uint8_t*);

}  // namespace sixdays::day01_flat_memory
