// Wrong on purpose: behind the row's end lanes hold the first element, which added nothing to the mean,
// and they are not given the mean before differences from it are squared.
//
// case: norms take the lengths around their quads, warps and blocks
// refused: name(path) := "registers"
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/norm/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

template <class OP, int THREADS, int QUADS>
__global__ void __launch_bounds__(THREADS* kRowsOfBlock<THREADS>)
    norm_registers_kernel(const __grid_constant__ RowWalk rows, const float* in, float* residual,
                          float* out, int length,
                          const __grid_constant__ NormParameters parameters) {
    const unsigned r = blockIdx.x * kRowsOfBlock<THREADS> + threadIdx.x / THREADS;
    if (r >= rows.size) return;  // all lanes of the warp
    const Offsets<3> at = rows.offsets(r);
    if (residual != nullptr) residual += at.of[2];
    in += at.of[0];
    HeldRow<float, THREADS, QUADS> row;
    row.load(in, length, 0);
    float first = in[0];
    if (residual != nullptr) {  // the row is the sum of both
        first += residual[0];
        row.change([&](int i, float& x) { x += i < length ? residual[i] : 0; });
    }
    const float N = static_cast<float>(length);
    float mean = 0, squares = 0;
    if (OP::kCentered) {
        row.fill(length, first);
        row.each([&](float x) { mean += x - first; });
        mean = first + row_reduce<THREADS>(mean, Plus()) / N;
    }
    // <- the mistake: row.fill(length, mean) is missing
    row.each([&](float x) { squares += (x - mean) * (x - mean); });
    squares = row_reduce<THREADS>(squares, Plus());
    const float scale = 1 / sqrtf(squares / N + parameters.eps);
    if (residual != nullptr) row.store(residual, length);  // nobody reads it any more
    row.change([&](int i, float& x) {
        if (i < length) x = parameters((x - mean) * scale, i);
    });
    row.store(out + at.of[1], length);
}

}  // namespace

template <class OP, class T>
void launch_norm_registers(const Rows<const T>& in, const NormParameters& parameters,
                           const Rows<T>& residual, const Rows<T>& out, gpu::Stream stream) {
    walk_rows(in, out, residual.first.layout,
              [&](const RowWalk& rows, const T* from, T* to, std::int64_t third) {
                  T* const sum =
                      residual.first.data != nullptr ? residual.first.data + third : nullptr;
                  with_held<T>(in.length, [&](auto threads, auto quads) {
                      constexpr int THREADS = threads, QUADS = quads,
                                    BLOCK = THREADS * kRowsOfBlock<THREADS>;
                      const unsigned grid = gpu::blocks_for(rows.size, kRowsOfBlock<THREADS>);
                      norm_registers_kernel<OP, THREADS, QUADS><<<grid, BLOCK, 0, stream>>>(
                          rows, from, sum, to, static_cast<int>(in.length), parameters);
                      gpu::check_launch("norm_registers_kernel", grid, BLOCK);
                  });
              });
}

template void launch_norm_registers<LayerNorm>(const Rows<const float>&, const NormParameters&,
                                               const Rows<float>&, const Rows<float>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
