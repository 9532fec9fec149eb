// The naive kernels, and the launchers. Faster versions: steps/add_broadcast/ and steps/where/.
#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/steps/add_broadcast/steps.hpp"
#include "day03_views/steps/where/steps.hpp"
#include "day03_views/tiles.hpp"

namespace sixdays::day03_views {

// --- the twins -----------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

__global__ void add_broadcast_kernel(const __grid_constant__ View<const float> a,
                                     const __grid_constant__ View<const float> b,
                                     const __grid_constant__ View<float> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        out(at) = a(at) + b(at);
    }
}

// [where]
__global__ void where_kernel(const __grid_constant__ View<const std::uint8_t> mask,
                             const __grid_constant__ View<const float> a,
                             const __grid_constant__ View<const float> b,
                             const __grid_constant__ View<float> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        out(at) = mask(at) != 0 ? a(at) : b(at);
    }
}
// [where]

__global__ void pad_kernel(const __grid_constant__ View<const float> in,
                           const __grid_constant__ Dims before, float value,
                           const __grid_constant__ View<float> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < out.size()) {
        const Index at = unravel(k, out.shape());
        Index from = at;
        bool inside = true;
        for (int d = 0; d < in.rank(); ++d) {
            from[d] = at[d] - before[d];
            inside = inside && 0 <= from[d] && from[d] < in.extent(d);
        }
        out(at) = inside ? in(from) : value;
    }
}

}  // namespace

// --- launchers -----------------------------------------------------------------------------------

void add_broadcast_cuda(View<const float> a, View<const float> b, View<float> out,
                        const gpu::Launch<AddBroadcastPath>& how) {
    check_add_broadcast(a, b, out, how.path);
    if (out.size() == 0) return;
    const gpu::Stream stream = how.stream;
    const AddBroadcastPath path = how.path ? *how.path : choose_add_broadcast(a, b, out);
    a = broadcast_to(a, out.shape());
    b = broadcast_to(b, out.shape());
    switch (path) {
        case AddBroadcastPath::one_element: {
            const unsigned grid = gpu::blocks_for(out.size(), kThreads);
            add_broadcast_kernel<<<grid, kThreads, 0, stream>>>(a, b, out);
            return gpu::check_launch("add_broadcast_kernel", grid, kThreads);
        }
        case AddBroadcastPath::any_layout:
            return launch_add_walk(a, b, out, stream);
        case AddBroadcastPath::vectorized:
            return launch_add_vectorized(a, b, out, stream);
        case AddBroadcastPath::tile: {
            const AddViews seen = simplified(a, b, out);
            return gpu::by_tile("add_broadcast",
                                [&] { launch_add_tile(seen.a, seen.b, seen.out, stream); });
        }
    }
}

void where_cuda(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                View<float> out, const gpu::Launch<WherePath>& how) {
    check_where(mask, a, b, out, how.path);
    if (out.size() == 0) return;
    const gpu::Stream stream = how.stream;
    const WherePath path = how.path ? *how.path : choose_where(mask, a, b, out);
    const Shape& shape = out.shape();
    mask = broadcast_to(mask, shape);
    a = broadcast_to(a, shape);
    b = broadcast_to(b, shape);
    switch (path) {
        case WherePath::one_element: {
            const unsigned grid = gpu::blocks_for(out.size(), kThreads);
            where_kernel<<<grid, kThreads, 0, stream>>>(mask, a, b, out);
            return gpu::check_launch("where_kernel", grid, kThreads);
        }
        case WherePath::any_layout:
            return launch_where_walk(mask, a, b, out, stream);
    }
}

void pad_cuda(View<const float> in, const Dims& before, float value, View<float> out,
              gpu::Stream stream) {
    check_pad(in, before, out);
    if (out.size() == 0) return;
    const unsigned grid = gpu::blocks_for(out.size(), kThreads);
    pad_kernel<<<grid, kThreads, 0, stream>>>(in, before, value, out);
    gpu::check_launch("pad_kernel", grid, kThreads);
}

void concat_cuda(const std::vector<View<const float>>& pieces, int dim, View<float> out,
                 gpu::Stream stream) {
    check_concat(pieces, dim, out);
    const int d = checked_dim("concat", dim, out.rank());
    std::int64_t begin = 0;
    for (const View<const float>& piece : pieces) {
        const std::int64_t end = begin + piece.extent(d);
        copy_cuda(piece, slice(out, d, begin, end), {.stream = stream});
        begin = end;
    }
}

}  // namespace sixdays::day03_views
