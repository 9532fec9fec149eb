// The port: one kernel for all types, four elements a thread under way.
#include "day03_views/combine_convert.hpp"

#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"

namespace sixdays::day03_views {

// --- kernel --------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;

// [convert]
template <int RANK, class From, class To>
__global__ void convert_kernel(const __grid_constant__ Walk<RANK, 2> walk, const From* in,
                               To* out) {
    const std::uint32_t first = blockIdx.x * kThreads * kEach + threadIdx.x;
    From x[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < walk.size) {
            const Offsets<2> at = walk.offsets(k);
            to[j] = at.of[0];
            x[j] = in[at.of[1]];
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < walk.size) {
            out[to[j]] = static_cast<To>(static_cast<float>(x[j]));
        }
    }
}
// [convert]

}  // namespace

// --- launcher ------------------------------------------------------------------------------------

template <class From, class To>
void convert_cuda(View<const From> in, View<To> out, gpu::Stream stream) {
    check_convert(in, out);
    if (out.size() == 0) return;
    const auto convert = [&](View<To> to, View<const From> from) {
        const auto layouts = simplify(to.layout, from.layout);
        with_rank(layouts[0].rank(), [&](auto rank) {
            constexpr int RANK = rank;
            const Walk<RANK, 2> walk(layouts);
            const unsigned grid = gpu::blocks_for(walk.size, kThreads * kEach);
            convert_kernel<RANK><<<grid, kThreads, 0, stream>>>(walk, from.data, to.data);
            gpu::check_launch("convert_kernel", grid, kThreads);
        });
    };
    in_pieces(kWalkable, convert, out, in);
}

template void convert_cuda(View<const float>, View<bf16>, gpu::Stream);
template void convert_cuda(View<const float>, View<f16>, gpu::Stream);
template void convert_cuda(View<const bf16>, View<float>, gpu::Stream);
template void convert_cuda(View<const bf16>, View<f16>, gpu::Stream);
template void convert_cuda(View<const f16>, View<float>, gpu::Stream);
template void convert_cuda(View<const f16>, View<bf16>, gpu::Stream);

}  // namespace sixdays::day03_views
