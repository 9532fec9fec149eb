// Step 2: a thread stores 16 bytes at once, four adjacent elements of a row: one index computation
// for four elements. The value itself is an offset: that of the element in a tensor whose strides
// are powers of the base, (base * base, base, 1). So one strided index iteration (a Walk, see
// Day 02) gives both the position of the float4 and the value of its first element.
#include "common/gpu/launch.hpp"
#include "common/tensor/vectorized.hpp"
#include "common/tensor/walk.hpp"
#include "day01_flat_memory/steps/indices/steps.hpp"

namespace sixdays::day01_flat_memory {
namespace {

constexpr int kThreads = 256;

template <int RANK>
__global__ void indices_vectorized_kernel(const __grid_constant__ Walk<RANK, 2> walk,
                                          std::int64_t first, float4* out) {
    const std::uint32_t number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number < walk.size) {
        const Offsets<2> at = walk.offsets(number);
        const std::int64_t value = first + at.of[1];
        out[at.of[0]] = make_float4(static_cast<float>(value), static_cast<float>(value + 1),
                                    static_cast<float>(value + 2), static_cast<float>(value + 3));
    }
}

// The value of the first element of each float4, as offsets: strides (base * base, base, 4).
Layout values_of(std::int64_t base, Shape vectors) {
    Strides strides = Dims::filled(vectors.rank, 4);
    std::int64_t power = 1;
    for (int d = vectors.rank - 2; d >= 0; --d) {
        // The largest value fits in 64 bits, so a power that does not belongs to a dimension of
        // extent 1, as do all dimensions to its left. Those strides are never used.
        if (__builtin_mul_overflow(power, base, &power)) break;
        strides[d] = power;
    }
    return Layout(vectors, strides);
}

}  // namespace

void launch_indices_vectorized(std::int64_t base, View<float> out, gpu::Stream stream) {
    const View<float4> vectors(reinterpret_cast<float4*>(out.data), wider(out.layout, 4));
    const auto launch = [&](const View<float4>& to, const Cut& values) {
        const auto layouts = simplify(to.layout, values.layout);
        with_rank(layouts[0].rank(), [&](auto rank) {
            constexpr int RANK = rank;
            const Walk<RANK, 2> walk(layouts);
            const unsigned grid = gpu::blocks_for(walk.size, kThreads);
            indices_vectorized_kernel<RANK>
                <<<grid, kThreads, 0, stream>>>(walk, values.first, to.data);
            gpu::check_launch("indices_vectorized_kernel", grid, kThreads);
        });
    };
    in_pieces(kWalkable, launch, vectors, Cut{values_of(base, vectors.layout.shape)});
}

}  // namespace sixdays::day01_flat_memory
