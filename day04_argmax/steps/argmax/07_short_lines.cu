// Step 7: short lines, packed one after another in memory. One warp per line of 17 elements would
// be mostly idle; with one thread per line, lanes read 17 elements apart. But all lines of a block
// form one contiguous run, so the block copies the run to shared memory in 128-bit copies
// (cp.async, common/gpu/ptx.hpp). Then each thread reduces one line there.
#include "common/gpu/launch.hpp"
#include "common/gpu/ptx.hpp"
#include "day04_argmax/steps/argmax/steps.hpp"
#include "day04_argmax/steps/argmax/vector_line.hpp"

namespace sixdays::day04_argmax {
namespace {

constexpr int kThreads = 128;  // threads per block, and lines per block

/// Copies a run of memory; its offset from a multiple of 16 bytes stays the
/// same.
__device__ void stage(const VectorLine& run, float* shared) {
    for (std::uint32_t q = threadIdx.x; q < run.vectors; q += kThreads) {
        if (run.begin <= q && q < run.end) {
            gpu::copy_async<16>(shared + 4 * q, run.line - run.past + 4 * q);
            continue;
        }
        for (std::uint32_t i = 4 * q; i < 4 * q + 4; ++i) {
            const bool inside = i >= run.past && i - run.past < run.length;
            if (inside) gpu::copy_async<4>(shared + i, run.line + i - run.past);
        }
    }
    gpu::copy_async_commit();
}

/// TURN: the lines of `sharing` lanes begin in the same bank. These lanes start
/// at different elements of their lines and wrap around.
template <bool TURN, int RANK, class OP>
__global__ void short_lines_kernel(const __grid_constant__ LineWalk<RANK> walk, const float* in,
                                   std::uint32_t length, std::uint32_t sharing, const OP op) {
    extern __shared__ __align__(16) float shared[];
    const std::uint32_t first = blockIdx.x * kThreads;
    const std::uint32_t lines = min(walk.size - first, kThreads);
    const VectorLine run(in + walk.offsets(first).of[0], lines * length);
    stage(run, shared);
    const std::uint32_t t = threadIdx.x;
    const std::int64_t to = walk.offsets(first + t).of[1];  // while the copies are in flight
    gpu::copy_async_wait<0>();
    __syncthreads();
    if (t >= lines) return;
    const float* line = shared + run.past + t * length;
    // [kernel]
    std::uint32_t i = TURN ? t % 32 * sharing / 32 : 0;
    auto behind = OP::none(), mine = OP::none();
#pragma unroll 4
    for (std::uint32_t seen = 0; seen < length; ++seen) {
        if (TURN && i == length) {  // wrap: elements from here on precede those seen so far
            behind = mine;
            mine = OP::none();
            i = 0;
        }
        OP::take(mine, line[i], i);
        ++i;
    }
    mine = OP::combine(mine, behind);
    // [kernel]
    op.write(to, mine);
}

}  // namespace

template <class OP>
void launch_short_lines(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream) {
    walk_lines(lines, out, op, [&](const auto& walk, const float* in, const OP& piece) {
        const auto length = static_cast<std::uint32_t>(lines.length());
        // Lines of `length` words begin in 32 / sharing different banks, `sharing` lanes in each.
        // `sharing` is the largest power of two that divides both 32 and the length.
        std::uint32_t sharing = 1;
        while (sharing < 32 && length % (2 * sharing) == 0) sharing *= 2;
        const unsigned grid = gpu::blocks_for(walk.size, kThreads);
        const std::size_t bytes = 4 * (std::size_t{kThreads} * length + 4);
        const auto launch = [&](auto turn) {
            constexpr bool TURN = turn;
            short_lines_kernel<TURN>
                <<<grid, kThreads, bytes, stream>>>(walk, in, length, sharing, piece);
            gpu::check_launch("short_lines_kernel", grid, kThreads, bytes);
        };
        if (sharing == 1) return launch(std::false_type());
        launch(std::true_type());
    });
}

template void launch_short_lines(const Lines&, const Layout&, const Pick<Largest>&, gpu::Stream);
template void launch_short_lines(const Lines&, const Layout&, const Pick<Smallest>&, gpu::Stream);
template void launch_short_lines(const Lines&, const Layout&, const Fold<Add>&, gpu::Stream);
template void launch_short_lines(const Lines&, const Layout&, const Fold<Multiply>&, gpu::Stream);

}  // namespace sixdays::day04_argmax
