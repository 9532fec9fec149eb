// Step 2: divisions precomputed on the host (walk.hpp), and several loads in flight: a thread
// issues all loads before the first addition.
#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"
#include "day03_views/steps/add_broadcast/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kThreads = 256;

// In flight per thread before the first use: 2 inputs * 4 loads * 4 bytes, so 2,048 threads have
// 64 KiB in flight per SM. An H200 needs about 48 KiB.
constexpr int kEach = 4;

template <int RANK>
__global__ void add_walk_kernel(const __grid_constant__ Walk<RANK, 3> walk, const float* a,
                                const float* b, float* out) {
    const std::uint32_t first = blockIdx.x * kThreads * kEach + threadIdx.x;
    float x[kEach], y[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < walk.size) {
            const Offsets<3> at = walk.offsets(k);
            to[j] = at.of[0];
            x[j] = a[at.of[1]];
            y[j] = b[at.of[2]];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < walk.size) out[to[j]] = x[j] + y[j];
    }
}

}  // namespace

void launch_add_walk(View<const float> a, View<const float> b, View<float> out,
                     gpu::Stream stream) {
    const auto add = [&](View<float> to, View<const float> x, View<const float> y) {
        const auto layouts = simplify(to.layout, x.layout, y.layout);
        with_rank(layouts[0].rank(), [&](auto rank) {
            constexpr int RANK = rank;
            const Walk<RANK, 3> walk(layouts);
            const unsigned grid = gpu::blocks_for(walk.size, kThreads * kEach);
            add_walk_kernel<RANK><<<grid, kThreads, 0, stream>>>(walk, x.data, y.data, to.data);
            gpu::check_launch("add_walk_kernel", grid, kThreads);
        });
    };
    in_pieces(kWalkable, add, out, a, b);
}

}  // namespace sixdays::day03_views
