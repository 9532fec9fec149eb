// Step 4: a column or a single value is repeated along each row. An element is loaded once and
// fills 16 bytes of `out`. Nearly all traffic is stores: the lanes of a warp share one element of
// `in`, or a few.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/copy/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;  // 16-byte stores per thread

__device__ uint4 repeated(std::uint32_t x) {
    return make_uint4(x, x, x, x);
}
__device__ uint4 repeated(std::uint8_t x) {
    return repeated(x * 0x01010101u);
}
__device__ uint4 repeated(std::uint16_t x) {
    return repeated(x * 0x00010001u);
}
__device__ uint4 repeated(std::uint64_t x) {
    const unsigned low = static_cast<unsigned>(x), high = static_cast<unsigned>(x >> 32);
    return make_uint4(low, high, low, high);
}
__device__ uint4 repeated(uint4 x) {
    return x;
}

template <class T, int RANK>
__global__ void copy_repeat_kernel(const T* in, const __grid_constant__ Walk<RANK, 2> walk,
                                   uint4* out) {
    const std::uint32_t first = blockIdx.x * (kEach * kThreads) + threadIdx.x;
    T value[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < walk.size) {
            const Offsets<2> at = walk.offsets(k);
            to[j] = at.of[0];
            value[j] = in[at.of[1]];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < walk.size) out[to[j]] = repeated(value[j]);
    }
}

void launch(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    with_element_and_rank(in.element, out.layout.rank(), [&](auto element, auto rank) {
        using T = decltype(element);
        constexpr int RANK = rank;
        const Walk<RANK, 2> walk({out.layout, in.layout});
        const unsigned grid = gpu::blocks_for(walk.size, kEach * kThreads);
        copy_repeat_kernel<T, RANK><<<grid, kThreads, 0, stream>>>(
            static_cast<const T*>(in.data), walk, static_cast<uint4*>(out.data));
        gpu::check_launch("copy_repeat_kernel", grid, kThreads);
    });
}

}  // namespace

void launch_copy_repeat(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    const auto piece = [&](const UntypedOut& to, const UntypedIn& from) {
        launch(from, to, stream);
    };
    in_pieces(kWalkable, piece, out, in);
}

}  // namespace sixdays::day03_views
