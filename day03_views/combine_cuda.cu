// The ports. One thread takes one number, or four, and finds each tensor's element by its strides.
#include "day03_views/combine.hpp"

#include "common/gpu/launch.hpp"
#include "common/tensor/arguments.hpp"
#include "day03_views/copy.hpp"
#include "common/tensor/walk.hpp"

namespace sixdays::day03_views {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;

// What a thread asks for before it needs the first of it: 2 inputs * 4 loads * 4 bytes, so that
// 2,048 threads have 64 KiB under way. An H200 needs about 48.
constexpr int kEach = 4;

// [add_broadcast]
template <int RANK>
__global__ void add_broadcast_kernel(const __grid_constant__ Walk<RANK, 3> walk, const float* a,
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
        if (first + j * kThreads < walk.size) {
            out[to[j]] = x[j] + y[j];
        }
    }
}
// [add_broadcast]

__device__ float4 sum(float4 p, float4 q) {
    return make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
}

// Four neighbours, or, where the last dim has stride 0, one element that will be seen four times.
__device__ float4 load_quad(const float* p, bool repeats) {
    if (repeats) return make_float4(*p, 0, 0, 0);
    return *reinterpret_cast<const float4*>(p);
}
// Not done while loading, for it would wait for the load.
__device__ float4 spread(float4 q, bool repeats) {
    return repeats ? make_float4(q.x, q.x, q.x, q.x) : q;
}

// One input may be a bias that stays in cache, so the other alone must keep memory busy: four loads
// of 16 bytes are 64 KiB in 1,024 threads.
// [add_quads]
template <int RANK>
__global__ void __launch_bounds__(kThreads)
    add_quads_kernel(const __grid_constant__ Walk<RANK, 3> quads, bool a_repeats, bool b_repeats,
                     const float* a, const float* b, float* out) {
    const std::uint32_t first = blockIdx.x * kThreads * kEach + threadIdx.x;
    float4 x[kEach], y[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < quads.size) {
            const Offsets<3> at = quads.offsets(k);
            to[j] = at.of[0];
            x[j] = load_quad(a + at.of[1], a_repeats);
            y[j] = load_quad(b + at.of[2], b_repeats);
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < quads.size) {
            *reinterpret_cast<float4*>(out + to[j]) =
                sum(spread(x[j], a_repeats), spread(y[j], b_repeats));
        }
    }
}
// [add_quads]

// [where]
template <int RANK>
__global__ void where_kernel(const __grid_constant__ Walk<RANK, 4> walk, const std::uint8_t* mask,
                             const float* a, const float* b, float* out) {
    const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k < walk.size) {
        const Offsets<4> at = walk.offsets(k);
        // Both are asked for while the mask is still on its way.
        const float x = a[at.of[2]], y = b[at.of[3]];
        out[at.of[0]] = mask[at.of[1]] != 0 ? x : y;
    }
}
// [where]

}  // namespace

// --- launchers -----------------------------------------------------------------------------------
namespace {

void add_quads(View<float> out, View<const float> a, View<const float> b, gpu::Stream stream) {
    auto layouts = simplify(out.layout, a.layout, b.layout);
    const int last = layouts[0].rank() - 1;
    const bool a_repeats = layouts[1].stride(last) == 0, b_repeats = layouts[2].stride(last) == 0;
    for (Layout& layout : layouts) layout = quads_of(layout);
    with_rank(layouts[0].rank(), [&](auto rank) {
        constexpr int RANK = rank;
        const Walk<RANK, 3> quads(layouts);
        const unsigned grid = gpu::blocks_for(quads.size, kThreads * kEach);
        add_quads_kernel<RANK><<<grid, kThreads, 0, stream>>>(quads, a_repeats,
                                                              b_repeats,  // see load_quad()
                                                              a.data, b.data, out.data);
        gpu::check_launch("add_quads_kernel", grid, kThreads);
    });
}

void add_any_layout(View<float> out, View<const float> a, View<const float> b, gpu::Stream stream) {
    const auto layouts = simplify(out.layout, a.layout, b.layout);
    with_rank(layouts[0].rank(), [&](auto rank) {
        constexpr int RANK = rank;
        const Walk<RANK, 3> walk(layouts);
        const unsigned grid = gpu::blocks_for(walk.size, kThreads * kEach);
        add_broadcast_kernel<RANK><<<grid, kThreads, 0, stream>>>(walk, a.data, b.data, out.data);
        gpu::check_launch("add_broadcast_kernel", grid, kThreads);
    });
}

}  // namespace

void add_broadcast_cuda(View<const float> a, View<const float> b, View<float> out,
                        gpu::Stream stream) {
    check_add_broadcast(a, b, out);
    if (out.size() == 0) return;
    const auto add = [&](auto out_piece, auto a_piece, auto b_piece) {
        switch (choose_add_broadcast(a_piece, b_piece, out_piece)) {
            case AddBroadcastPath::quads:
                return add_quads(out_piece, a_piece, b_piece, stream);
            case AddBroadcastPath::any_layout:
                return add_any_layout(out_piece, a_piece, b_piece, stream);
        }
    };
    const Shape& shape = out.layout.shape;
    in_pieces(kWalkable, add, out, broadcast_to(a, shape), broadcast_to(b, shape));
}

void where_cuda(View<const std::uint8_t> mask, View<const float> a, View<const float> b,
                View<float> out, gpu::Stream stream) {
    check_where(mask, a, b, out);
    if (out.size() == 0) return;
    const auto where = [&](auto out_piece, auto mask_piece, auto a_piece, auto b_piece) {
        const auto layouts =
            simplify(out_piece.layout, mask_piece.layout, a_piece.layout, b_piece.layout);
        with_rank(layouts[0].rank(), [&](auto rank) {
            constexpr int RANK = rank;
            const Walk<RANK, 4> walk(layouts);
            const unsigned grid = gpu::blocks_for(walk.size, kThreads);
            where_kernel<RANK><<<grid, kThreads, 0, stream>>>(walk, mask_piece.data, a_piece.data,
                                                              b_piece.data, out_piece.data);
            gpu::check_launch("where_kernel", grid, kThreads);
        });
    };
    const Shape& shape = out.layout.shape;
    in_pieces(kWalkable, where, out, broadcast_to(mask, shape), broadcast_to(a, shape),
              broadcast_to(b, shape));
}

// [concat]
void concat_cuda(const std::vector<View<const float>>& pieces, int dim, View<float> out,
                 gpu::Stream stream) {
    check_concat(pieces, dim, out);
    const int d = checked_dim("concat", dim, out.rank());
    std::int64_t begin = 0;
    for (const View<const float>& piece : pieces) {
        const std::int64_t end = begin + piece.extent(d);
        copy_cuda(piece, slice(out, d, begin, end), stream);
        begin = end;
    }
}
// [concat]

}  // namespace sixdays::day03_views
