// Step 5: contiguous lines. A thread issues eight 128-bit loads (float4) before it needs the first
// one, so 256 threads have 32 KiB in flight. The hot loop takes the best of the four values,
// compares it with the best so far, and keeps the number of its float4. The exact index is looked
// up once, at the end. How many threads share a line depends on its length.
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"
#include "day04_argmax/steps/argmax/vector_line.hpp"

namespace sixdays::day04_argmax {
namespace {

template <int THREADS, int LINES, int EACH, int RANK, class OP>
__global__ void vectorized_kernel(const __grid_constant__ LineWalk<RANK> walk, const float* in,
                                  std::uint32_t length, const OP op) {
    const std::uint32_t t = threadIdx.x;  // among the THREADS of its line
    const std::uint32_t k = blockIdx.x * LINES + threadIdx.y;
    // Threads past the last line repeat it: all lanes must reach the shuffles.
    const Offsets<2> at = walk.offsets(min(k, walk.size - 1));
    const VectorLine line(in + at.of[0], length);
    auto mine = take_vectors<OP, THREADS, EACH>(line, 0, line.vectors, t);
    if constexpr (LINES > 1) {
        mine = gpu::warp_reduce<THREADS>(mine, OP::combine);
    } else {
        mine = gpu::block_reduce<THREADS>(mine, OP::combine);
    }
    if (t == 0 && k < walk.size) op.write(at.of[1], mine, line);
}

template <int THREADS, int LINES, int EACH, class Walk, class OP>
void launch(const Walk& walk, const float* in, std::uint32_t length, const OP& op,
            gpu::Stream stream) {
    static_assert(THREADS <= 32 || LINES == 1, "block_reduce combines all threads of a block");
    const unsigned grid = gpu::blocks_for(walk.size, LINES);
    const dim3 block(THREADS, LINES);
    vectorized_kernel<THREADS, LINES, EACH><<<grid, block, 0, stream>>>(walk, in, length, op);
    gpu::check_launch("vectorized_kernel", grid, block);
}

}  // namespace

template <class OP>
void launch_vectorized(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream) {
    walk_lines(lines, out, op, [&](const auto& walk, const float* in, const OP& piece) {
        const auto length = static_cast<std::uint32_t>(lines.length());
        if (length <= 64) return launch<4, 64, 4>(walk, in, length, piece, stream);
        if (length <= 144) return launch<4, 64, 8>(walk, in, length, piece, stream);
        if (length <= 256) return launch<8, 32, 8>(walk, in, length, piece, stream);
        if (length <= 512) return launch<32, 8, 4>(walk, in, length, piece, stream);
        if (length <= 2048) return launch<32, 8, 8>(walk, in, length, piece, stream);
        if (length <= 8192) return launch<128, 1, 8>(walk, in, length, piece, stream);
        launch<256, 1, 8>(walk, in, length, piece, stream);
    });
}

template void launch_vectorized(const Lines&, const Layout&, const Pick<Largest>&, gpu::Stream);
template void launch_vectorized(const Lines&, const Layout&, const Pick<Smallest>&, gpu::Stream);
template void launch_vectorized(const Lines&, const Layout&, const Fold<Add>&, gpu::Stream);
template void launch_vectorized(const Lines&, const Layout&, const Fold<Multiply>&, gpu::Stream);

}  // namespace sixdays::day04_argmax
