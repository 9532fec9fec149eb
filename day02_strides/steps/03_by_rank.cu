// Step 3: a kernel for each rank, and eight loads of 4 bytes a thread under way before the first is
// stored: 64 KiB a multiprocessor of 2,048 threads, where one load each would be 8. Where the
// innermost dim is made of aligned runs of 4, the same kernel walks by quads: a quarter of the
// divisions moves the same bytes, two loads of 16 bytes under way.
#include "common/gpu/launch.hpp"
#include "day02_strides/steps/steps.hpp"

namespace sixdays::day02_strides {
namespace {

// Where element `number` of the output lies in the input. With the rank known, the compiler writes
// the loop out; the outermost dim needs no division: what is left is its index.
// [offset_of]
template <int RANK>
__device__ std::int64_t offset_of(std::uint32_t number, const Walk& walk) {
    std::int64_t from = 0;
    for (int d = 0; d < RANK - 1; ++d) {
        const std::uint32_t quotient = walk.extent[d].quotient(number);
        const std::uint32_t index = number - quotient * walk.extent[d].divisor;
        from += index * walk.stride[d];
        number = quotient;
    }
    return from + number * walk.stride[RANK - 1];
}
// [offset_of]

// A block owns IN_FLIGHT * blockDim.x elements of the output; a thread takes every blockDim.x-th of
// them, so the lanes of a warp stay neighbours. Beyond the end the last element is read once more:
// that costs nothing, and no load waits behind an `if`.
// [gather]
template <class Element, int RANK, int IN_FLIGHT>
__global__ void gather_walk_kernel(const Element* in, const __grid_constant__ Walk walk,
                                   Element* out) {
    const std::uint32_t first = blockIdx.x * blockDim.x * IN_FLIGHT + threadIdx.x;
    Element x[IN_FLIGHT];
    for (int u = 0; u < IN_FLIGHT; ++u) {
        const std::uint32_t number = first + u * blockDim.x;
        const std::uint32_t last = walk.n - 1;
        x[u] = in[offset_of<RANK>(number < last ? number : last, walk)];
    }
    for (int u = 0; u < IN_FLIGHT; ++u) {
        const std::uint32_t number = first + u * blockDim.x;
        if (number < walk.n) out[number] = x[u];
    }
}
// [gather]

// One kernel for each rank up to 4. Ranks above take the kernel for 8, with dims of extent 1.
template <class Element, int IN_FLIGHT>
void launch_walk(const Element* in, const Walk& walk, Element* out, const char* kernel,
                 gpu::Stream stream) {
    constexpr int kThreads = 256;
    const unsigned grid = gpu::blocks_for(walk.n, IN_FLIGHT * kThreads);
    switch (walk.rank) {
        case 1:
            gather_walk_kernel<Element, 1, IN_FLIGHT><<<grid, kThreads, 0, stream>>>(in, walk, out);
            break;
        case 2:
            gather_walk_kernel<Element, 2, IN_FLIGHT><<<grid, kThreads, 0, stream>>>(in, walk, out);
            break;
        case 3:
            gather_walk_kernel<Element, 3, IN_FLIGHT><<<grid, kThreads, 0, stream>>>(in, walk, out);
            break;
        case 4:
            gather_walk_kernel<Element, 4, IN_FLIGHT><<<grid, kThreads, 0, stream>>>(in, walk, out);
            break;
        default:
            gather_walk_kernel<Element, 8, IN_FLIGHT><<<grid, kThreads, 0, stream>>>(in, walk, out);
    }
    gpu::check_launch(kernel, grid, kThreads);
}

}  // namespace

void gather_by_rank(View<const float> in, View<float> out, gpu::Stream stream) {
    check_gather(in, out);
    if (out.size() == 0) return;
    const Walk walk = walk_of(in, out, WalkBy::element);
    launch_walk<float, 8>(in.data, walk, out.data, "gather_walk_kernel<float>", stream);
}

void gather_quads(View<const float> in, View<float> out, gpu::Stream stream) {
    check_gather(in, out);
    if (out.size() == 0) return;
    const Walk walk = walk_of(in, out, WalkBy::quad);
    const float4* in4 = reinterpret_cast<const float4*>(in.data);
    float4* out4 = reinterpret_cast<float4*>(out.data);
    launch_walk<float4, 2>(in4, walk, out4, "gather_walk_kernel<float4>", stream);
}

}  // namespace sixdays::day02_strides
