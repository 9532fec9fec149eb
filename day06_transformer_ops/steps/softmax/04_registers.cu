// Step 4: the row waits in registers. It is read once, in quads, and maximum, sum and result are made
// from what the threads hold. As many threads take a row as its length asks for, so that each holds
// 16 numbers, or 32 of a long row.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/steps/softmax/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [kernel]
template <class OP, class T, int THREADS, int FLOATS>
__global__ void __launch_bounds__(THREADS* kRowsOfBlock<THREADS>)
    softmax_registers_kernel(const __grid_constant__ RowWalk rows, const T* in, T* out, int length,
                             std::int64_t seen) {
    const unsigned r = blockIdx.x * kRowsOfBlock<THREADS> + threadIdx.x / THREADS;
    if (r >= rows.size) return;  // all lanes of the warp
    const Offsets<3> at = rows.offsets(r);
    const int n = static_cast<int>(seen + at.of[2]);
    HeldRow<T, THREADS, FLOATS> row;
    row.load(in + at.of[0], n, -INFINITY);  // exp(-infinity) adds nothing
    float m = -INFINITY;
    row.each([&](float x) { m = fmaxf(m, x); });
    m = row_reduce<THREADS>(m, Larger());
    float sum = 0;
    row.each([&](float& x) { sum += OP::term(x = OP::held(x - m)); });
    const float tail = OP::tail(row_reduce<THREADS>(sum, Plus()));
    row.each([&](float& x) { x = OP::of(x, tail); });
    row.fill(n, 0);
    row.store(out + at.of[1], length);
}
// [kernel]

}  // namespace

template <class OP, class T>
void launch_softmax_registers(const Rows<const T>& in, const Rows<T>& out, std::int64_t tokens,
                              gpu::Stream stream) {
    const std::int64_t seen = first_sees(in.length, tokens);
    const Layout token = token_layout(in.first.shape(), tokens);
    walk_rows(in, out, token, [&](const RowWalk& rows, const T* from, T* to, std::int64_t t) {
        with_held<T, 32>(in.length, [&](auto threads, auto floats) {
            constexpr int THREADS = threads, FLOATS = floats,
                          BLOCK = THREADS * kRowsOfBlock<THREADS>;
            const unsigned grid = gpu::blocks_for(rows.size, kRowsOfBlock<THREADS>);
            softmax_registers_kernel<OP, T, THREADS, FLOATS>
                <<<grid, BLOCK, 0, stream>>>(rows, from, to, static_cast<int>(in.length), seen + t);
            gpu::check_launch("softmax_registers_kernel", grid, BLOCK);
        });
    });
}

template void launch_softmax_registers<Shares>(const Rows<const float>&, const Rows<float>&,
                                               std::int64_t, gpu::Stream);
template void launch_softmax_registers<Shares>(const Rows<const bf16>&, const Rows<bf16>&,
                                               std::int64_t, gpu::Stream);
template void launch_softmax_registers<LogShares>(const Rows<const float>&, const Rows<float>&,
                                                  std::int64_t, gpu::Stream);
template void launch_softmax_registers<LogShares>(const Rows<const bf16>&, const Rows<bf16>&,
                                                  std::int64_t, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
