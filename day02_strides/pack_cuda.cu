// The naive kernel, and the launcher. Work that is the same for all threads is done once, on the
// CPU, before the launch. The faster kernels are in steps/pack/.
#include "day02_strides/pack.hpp"

#include <cstdint>

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "day02_strides/steps/pack/steps.hpp"
#include "day02_strides/tiles.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr int kThreads = 256;

// One thread per element: the loop's body, with the thread's flat index in place of `for`.
// unravel() divides once per dimension, in 64 bits: much arithmetic for 8 bytes of traffic.
// [pack]
__global__ void pack_kernel(  // out row-major
    const __grid_constant__ View<const float> in, std::int64_t n, float* out) {
    const std::int64_t number = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (number < n) {
        const Index index = unravel(number, in.shape());
        out[number] = in.data[offset(in.layout, index)];
    }
}
// [pack]

void pack_any_size(const View<const float>& in, std::int64_t n, float* out, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(n, kThreads);
    pack_kernel<<<grid, kThreads, 0, stream>>>(in, n, out);
    gpu::check_launch("pack_kernel", grid, kThreads);
}

}  // namespace

void pack_cuda(View<const float> in, View<float> out, const gpu::Launch<PackPath>& how) {
    check_pack(in, out, how.path);
    if (out.size() == 0 || in.data == out.data) return;  // empty, or in place: nothing to move
    const Layout walk = simplified(in, out);
    const gpu::Stream stream = how.stream;
    switch (how.path.value_or(choose_pack(in, out))) {
        case PackPath::any_size:
            return pack_any_size(in, out.size(), out.data, stream);
        case PackPath::fast_division:
            return pack_fast_division(in.data, walk, out.data, stream);
        case PackPath::by_rank:
            return pack_by_rank(in.data, walk, out.data, stream);
        case PackPath::in_flight:
            return pack_in_flight(in.data, walk, out.data, stream);
        case PackPath::vectorized:
            return pack_vectors(in.data, walk, out.data, stream);
        case PackPath::tile:
            return gpu::by_tile("pack", [&] { launch_pack_tile(in.data, walk, out, stream); });
    }
}

}  // namespace sixdays::day02_strides
