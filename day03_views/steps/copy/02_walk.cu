// Step 2: any layout, with three optimizations. The host has simplified the layouts and precomputed
// the divisions, so two offsets take only a few multiplications (walk.hpp). Elements are as wide as
// the rows allow, up to 16 bytes. And a thread loads up to eight of them before it stores the
// first.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/copy/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kThreads = 256;

// Loads in flight per thread: with 2,048 threads 64 KiB for loads of 4 or 16 bytes, 128 KiB for 8.
// An H200 needs about 48 KiB.
template <class T>
constexpr int kLoads = sizeof(T) == 16 ? 2 : 8;

template <class T, int RANK>
__global__ void copy_walk_kernel(const T* in, const __grid_constant__ Walk<RANK, 2> walk, T* out) {
    constexpr int kEach = kLoads<T>;
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
        if (first + j * kThreads < walk.size) out[to[j]] = value[j];
    }
}

void launch(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    with_element_and_rank(in.element, out.layout.rank(), [&](auto element, auto rank) {
        using T = decltype(element);
        constexpr int RANK = rank;
        const Walk<RANK, 2> walk({out.layout, in.layout});
        const unsigned grid = gpu::blocks_for(walk.size, kLoads<T> * kThreads);
        copy_walk_kernel<T, RANK><<<grid, kThreads, 0, stream>>>(static_cast<const T*>(in.data),
                                                                 walk, static_cast<T*>(out.data));
        gpu::check_launch("copy_walk_kernel", grid, kThreads);
    });
}

}  // namespace

void launch_copy_walk(const UntypedIn& in, const UntypedOut& out, gpu::Stream stream) {
    const auto piece = [&](const UntypedOut& to, const UntypedIn& from) {
        launch(from, to, stream);
    };
    in_pieces(kWalkable, piece, out, in);
}

}  // namespace sixdays::day03_views
