#include "common/gpu/fill.hpp"

#include "common/gpu/launch.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/vectorized.hpp"
#include "common/tensor/walk.hpp"

namespace sixdays::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;  // float4s that a thread stores

template <int RANK>
__global__ void fill_kernel(float value, const __grid_constant__ Walk<RANK, 1> walk, float* out) {
    const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k < walk.size) out[walk.offsets(k).of[0]] = value;
}

__global__ void fill_vectorized_kernel(float value, const __grid_constant__ VectorizedRun run,
                                       float* out) {
    const std::int64_t first = std::int64_t{blockIdx.x} * kThreads * kEach + threadIdx.x;
    float4* vectors = reinterpret_cast<float4*>(out + run.head);
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t q = first + j * kThreads;
        if (q < run.count) vectors[q] = make_float4(value, value, value, value);
    }
    if (first < run.scalars) out[run.scalar_element(first)] = value;
}

void fill_run(float value, float* out, std::int64_t n, Stream stream) {
    const VectorizedRun run(out, n);
    const unsigned grid = blocks_for(run.threads(), kThreads * kEach);
    fill_vectorized_kernel<<<grid, kThreads, 0, stream>>>(value, run, out);
    check_launch("fill_vectorized_kernel", grid, kThreads);
}

void fill_any_layout(float value, View<float> out, Stream stream) {
    const auto layouts = simplify(out.layout);
    with_rank(layouts[0].rank(), [&](auto rank) {
        constexpr int RANK = rank;
        const Walk<RANK, 1> walk(layouts);
        const unsigned grid = blocks_for(walk.size, kThreads);
        fill_kernel<RANK><<<grid, kThreads, 0, stream>>>(value, walk, out.data);
        check_launch("fill_kernel", grid, kThreads);
    });
}

}  // namespace

void fill(float value, View<float> out, Stream stream) {
    require_output("fill", out);
    if (out.size() == 0) return;
    const Layout simple = simplify(out.layout)[0];
    if (simple.rank() == 1 && simple.stride(0) == 1) {
        return fill_run(value, out.data, out.size(), stream);
    }
    in_pieces(
        kWalkable, [&](View<float> piece) { fill_any_layout(value, piece, stream); }, out);
}

}  // namespace sixdays::gpu
