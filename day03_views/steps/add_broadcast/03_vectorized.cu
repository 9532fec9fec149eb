// Step 3: one float4 instead of one element. An input that repeats along the last dimension, such
// as a bias (M, 1), is a single float for the whole float4.
#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"
#include "day03_views/steps/add_broadcast/steps.hpp"

namespace sixdays::day03_views {
namespace {

constexpr int kThreads = 256;

// One input may be a bias that stays in cache, so the loads of the other must saturate memory: four
// loads of 16 bytes are 64 KiB in flight for 1,024 threads.
constexpr int kEach = 4;

__device__ float4 sum(float4 p, float4 q) {
    return make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
}

// Four adjacent elements, or one element for all four where the last dimension has stride 0.
__device__ float4 vector_or_one(const float* p, bool repeats) {
    if (repeats) return make_float4(*p, 0, 0, 0);
    return *reinterpret_cast<const float4*>(p);
}
// Separate from the load, because it would wait for it.
__device__ float4 spread(float4 q, bool repeats) {
    return repeats ? make_float4(q.x, q.x, q.x, q.x) : q;
}

template <int RANK>
__global__ void __launch_bounds__(kThreads)
    add_vectorized_kernel(const __grid_constant__ Walk<RANK, 3> vectors, bool a_repeats,
                          bool b_repeats, const float* a, const float* b, float* out) {
    const std::uint32_t first = blockIdx.x * kThreads * kEach + threadIdx.x;
    float4 x[kEach], y[kEach];
    std::int64_t to[kEach];
    for (int j = 0; j < kEach; ++j) {
        const std::uint32_t k = first + j * kThreads;
        if (k < vectors.size) {
            const Offsets<3> at = vectors.offsets(k);
            to[j] = at.of[0];
            x[j] = vector_or_one(a + at.of[1], a_repeats);
            y[j] = vector_or_one(b + at.of[2], b_repeats);
        }
    }
    for (int j = 0; j < kEach; ++j) {
        if (first + j * kThreads < vectors.size) {
            *reinterpret_cast<float4*>(out + to[j]) =
                sum(spread(x[j], a_repeats), spread(y[j], b_repeats));
        }
    }
}

// A quarter of the elements along the last dimension, four times as far apart. Strides still count
// floats, and a stride of 0 stays 0.
Layout first_of_vectors(Layout layout) {
    const int last = layout.rank() - 1;
    layout.shape[last] /= 4;
    layout.strides[last] *= 4;
    return layout;
}

}  // namespace

void launch_add_vectorized(View<const float> a, View<const float> b, View<float> out,
                           gpu::Stream stream) {
    const auto layouts = simplify(out.layout, a.layout, b.layout);
    const int last = layouts[0].rank() - 1;
    const bool a_repeats = layouts[1].stride(last) == 0, b_repeats = layouts[2].stride(last) == 0;
    const auto add = [&](View<float> to, View<const float> x, View<const float> y) {
        with_rank(to.rank(), [&](auto rank) {
            constexpr int RANK = rank;
            const Walk<RANK, 3> vectors({to.layout, x.layout, y.layout});
            const unsigned grid = gpu::blocks_for(vectors.size, kThreads * kEach);
            add_vectorized_kernel<RANK><<<grid, kThreads, 0, stream>>>(
                vectors, a_repeats, b_repeats, x.data, y.data, to.data);
            gpu::check_launch("add_vectorized_kernel", grid, kThreads);
        });
    };
    in_pieces(kWalkable, add, View<float>(out.data, first_of_vectors(layouts[0])),
              View<const float>(a.data, first_of_vectors(layouts[1])),
              View<const float>(b.data, first_of_vectors(layouts[2])));
}

}  // namespace sixdays::day03_views
