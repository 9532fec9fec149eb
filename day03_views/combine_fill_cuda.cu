// The ports that only write. No load is waited for; what counts is that a store moves 16 bytes.
#include "day03_views/combine_fill.hpp"

#include <algorithm>

#include "common/gpu/launch.hpp"
#include "common/tensor/walk.hpp"

namespace sixdays::day03_views {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;  // quads a thread writes

// [fill]
template <int RANK>
__global__ void fill_kernel(const __grid_constant__ Walk<RANK, 1> walk, float value, float* out) {
    const std::uint32_t k = blockIdx.x * kThreads + threadIdx.x;
    if (k < walk.size) {
        out[walk.offsets(k).of[0]] = value;
    }
}
// [fill]

// One run of n floats. `head` of them lie before the first multiple of 16 bytes;
// from there on quads are written. Head and tail are at most 6 floats.
// [fill_quads]
__global__ void fill_quads_kernel(float value, std::int64_t n, std::int64_t head, float* out) {
    const std::int64_t first = std::int64_t{blockIdx.x} * kThreads * kEach + threadIdx.x;
    float4* out4 = reinterpret_cast<float4*>(out + head);
    const std::int64_t quads = (n - head) / 4;
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t q = first + j * kThreads;
        if (q < quads) out4[q] = make_float4(value, value, value, value);
    }
    if (first < n - 4 * quads) {
        out[first < head ? first : 4 * quads + first] = value;
    }
}
// [fill_quads]

}  // namespace

// --- launchers -----------------------------------------------------------------------------------
namespace {

// One run of memory, cut for 16-byte stores.
struct Run {
    std::int64_t head = 0;  // floats before the first multiple of 16 bytes, 0 to 3
    unsigned grid = 0;

    explicit Run(const View<float>& out) {
        const auto past =
            static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out.data) % 16);
        head = std::min<std::int64_t>((16 - past) % 16 / 4, out.size());
        const std::int64_t quads = (out.size() - head) / 4, loose = out.size() - 4 * quads;
        grid = gpu::blocks_for(std::max(quads, loose), kThreads * kEach);
    }
};

void fill_any_layout(float value, View<float> out, gpu::Stream stream) {
    const auto fill = [&](View<float> piece) {
        const auto layouts = simplify(piece.layout);
        with_rank(layouts[0].rank(), [&](auto rank) {
            constexpr int RANK = rank;
            const Walk<RANK, 1> walk(layouts);
            const unsigned grid = gpu::blocks_for(walk.size, kThreads);
            fill_kernel<RANK><<<grid, kThreads, 0, stream>>>(walk, value, piece.data);
            gpu::check_launch("fill_kernel", grid, kThreads);
        });
    };
    in_pieces(kWalkable, fill, out);
}

}  // namespace

void fill_cuda(float value, View<float> out, gpu::Stream stream) {
    check_fill(out);
    if (out.size() == 0) return;
    if (choose_fill(out) == FillPath::any_layout) return fill_any_layout(value, out, stream);
    const Run run(out);
    fill_quads_kernel<<<run.grid, kThreads, 0, stream>>>(value, out.size(), run.head, out.data);
    gpu::check_launch("fill_quads_kernel", run.grid, kThreads);
}

}  // namespace sixdays::day03_views
