// Step 4: a register-resident row. It is read once, with 128-bit loads, and maximum, sum and result
// are computed from registers. The number of threads per row grows with its length, so that each
// holds at most four vectors: then 32 registers are enough for floats, and occupancy is full. While
// some warps wait for memory, others compute.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/softmax/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

/// Blocks that must fit on an SM: the compiler may use 32 registers per thread, or, where bf16 is
/// widened 48, or 64 in a block of 512.
template <class T, int THREADS>
constexpr int kBlocks = (sizeof(T) == 4 ? 2048 : 1280) / (THREADS * kRowsOfBlock<THREADS>);

template <class OP, class T, int THREADS, int VECTORS>
__device__ void softmax_of(HeldRow<T, THREADS, VECTORS>& row) {
    float m = -INFINITY;
    row.each([&](float x) { m = fmaxf(m, x); });
    m = row_reduce<THREADS>(m, Larger());
    float sum = 0;
    row.each([&](float x) { sum += OP::term(OP::held(x - m)); });
    const float tail = OP::tail(row_reduce<THREADS>(sum, Plus()));
    row.change([&](int, float& x) { x = OP::of(OP::held(x - m), tail); });
}

template <class OP, class T, int THREADS, int VECTORS>
__global__ void __launch_bounds__(THREADS* kRowsOfBlock<THREADS>, kBlocks<T, THREADS>)
    softmax_registers_kernel(const __grid_constant__ RowWalk rows, const T* in, T* out, int length,
                             std::int64_t seen) {
    const unsigned r = blockIdx.x * kRowsOfBlock<THREADS> + threadIdx.x / THREADS;
    if (r >= rows.size) return;  // all lanes of the warp
    const Offsets<3> at = rows.offsets(r);
    const int n = static_cast<int>(seen + at.of[2]);
    HeldRow<T, THREADS, VECTORS> row;
    row.load(in + at.of[0], n, -INFINITY);  // exp(-infinity) adds nothing
    softmax_of<OP>(row);
    row.fill(n, 0);
    row.store(out + at.of[1], length);
}

// A masked element counts as -infinity, like the padding past the row's end.
template <class T, int THREADS, int VECTORS>
__global__ void __launch_bounds__(THREADS* kRowsOfBlock<THREADS>, kBlocks<T, THREADS>)
    masked_softmax_registers_kernel(const __grid_constant__ RowWalk rows, const T* in,
                                    const std::uint8_t* mask, std::int64_t stride, T* out,
                                    int length) {
    const unsigned r = blockIdx.x * kRowsOfBlock<THREADS> + threadIdx.x / THREADS;
    if (r >= rows.size) return;  // all lanes of the warp
    const Offsets<3> at = rows.offsets(r);
    const Row<const std::uint8_t> seen = {mask + at.of[2], stride};
    HeldRow<T, THREADS, VECTORS> row;
    row.load(in + at.of[0], length, -INFINITY);
    row.change([&](int i, float& x) {
        if (i < length && seen[i] == 0) x = -INFINITY;
    });
    softmax_of<Softmax>(row);
    row.store(out + at.of[1], length);
}

}  // namespace

template <class OP, class T>
void launch_softmax_registers(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                              gpu::Stream stream) {
    const std::int64_t seen = first_sees(in.length, tokens);
    const Layout token = token_layout(in.first.shape(), tokens);
    walk_rows(in, out, token, [&](const RowWalk& rows, const T* from, T* to, std::int64_t t) {
        with_held<T>(in.length, [&](auto threads, auto vectors) {
            constexpr int THREADS = threads, VECTORS = vectors,
                          BLOCK = THREADS * kRowsOfBlock<THREADS>;
            const unsigned grid = gpu::blocks_for(rows.size, kRowsOfBlock<THREADS>);
            softmax_registers_kernel<OP, T, THREADS, VECTORS>
                <<<grid, BLOCK, 0, stream>>>(rows, from, to, static_cast<int>(in.length), seen + t);
            gpu::check_launch("softmax_registers_kernel", grid, BLOCK);
        });
    });
}

template <class T>
void launch_masked_softmax(const Rows<const T>& in, const Rows<const std::uint8_t>& mask,
                           const Rows<T>& out, gpu::Stream stream) {
    const auto run = [&](const RowWalk& rows, const T* from, T* to, std::int64_t t) {
        with_held<T>(in.length, [&](auto threads, auto vectors) {
            constexpr int THREADS = threads, VECTORS = vectors,
                          BLOCK = THREADS * kRowsOfBlock<THREADS>;
            const unsigned grid = gpu::blocks_for(rows.size, kRowsOfBlock<THREADS>);
            masked_softmax_registers_kernel<T, THREADS, VECTORS><<<grid, BLOCK, 0, stream>>>(
                rows, from, mask.first.data + t, mask.stride, to, static_cast<int>(in.length));
            gpu::check_launch("masked_softmax_registers_kernel", grid, BLOCK);
        });
    };
    walk_rows(in, out, mask.first.layout, run);
}

template void launch_masked_softmax(const Rows<const float>&, const Rows<const std::uint8_t>&,
                                    const Rows<float>&, gpu::Stream);
template void launch_masked_softmax(const Rows<const bf16>&, const Rows<const std::uint8_t>&,
                                    const Rows<bf16>&, gpu::Stream);
template void launch_softmax_registers<Softmax>(const Rows<const float>&, const Rows<float>&,
                                                std::int64_t, gpu::Stream);
template void launch_softmax_registers<Softmax>(const Rows<const bf16>&, const Rows<bf16>&,
                                                std::int64_t, gpu::Stream);
template void launch_softmax_registers<LogSoftmax>(const Rows<const float>&, const Rows<float>&,
                                                   std::int64_t, gpu::Stream);
template void launch_softmax_registers<LogSoftmax>(const Rows<const bf16>&, const Rows<bf16>&,
                                                   std::int64_t, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
