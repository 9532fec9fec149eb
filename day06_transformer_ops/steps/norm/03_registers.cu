// Step 3: the row waits in registers. It is read once, in quads, and mean, variance and result are
// made from what the threads hold: the second pass costs no memory.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/steps/norm/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

// [held]
/// The row, and where sums start: its first element. With a residual, the row is the sum of both,
/// rounded as it will be stored.
template <class T, int THREADS, int FLOATS>
__device__ float load(HeldRow<T, THREADS, FLOATS>& row, const T* in, const T* residual,
                      int length) {
    row.load(in, length, 0);
    if (residual == nullptr) return float(in[0]);
    HeldRow<T, THREADS, FLOATS> old;
    old.load(residual, length, 0);
#pragma unroll
    for (int q = 0; q < row.QUADS; ++q) {
#pragma unroll
        for (int e = 0; e < kOfQuad<T>; ++e) row.x[q][e] += old.x[q][e];
        unpack<T>(pack<T>(row.x[q]), row.x[q]);
    }
    return float(T(float(residual[0]) + float(in[0])));
}

/// What becomes of a quad of z, whose first element is number i. WIDE: weight and bias are there, and
/// can be read in quads.
template <bool WIDE, int N>
__device__ void apply(const NormParameters& parameters, float (&z)[N], int i) {
#pragma unroll
    for (int e = 0; e < N; e += 4) {
        if constexpr (WIDE) {
            const float4 w = *reinterpret_cast<const float4*>(parameters.weight.data + i + e);
            const float4 b = *reinterpret_cast<const float4*>(parameters.bias.data + i + e);
            z[e] = fmaf(z[e], w.x, b.x);
            z[e + 1] = fmaf(z[e + 1], w.y, b.y);
            z[e + 2] = fmaf(z[e + 2], w.z, b.z);
            z[e + 3] = fmaf(z[e + 3], w.w, b.w);
        } else {
            for (int k = e; k < e + 4; ++k) z[k] = parameters(z[k], i + k);
        }
    }
}
// [held]

// [kernel]
template <class OP, bool WIDE, class T, int THREADS, int FLOATS>
__global__ void __launch_bounds__(THREADS* kRowsOfBlock<THREADS>)
    norm_registers_kernel(const __grid_constant__ RowWalk rows, const T* in, T* residual, T* out,
                          int length, const __grid_constant__ NormParameters parameters) {
    const unsigned r = blockIdx.x * kRowsOfBlock<THREADS> + threadIdx.x / THREADS;
    if (r >= rows.size) return;  // all lanes of the warp
    const Offsets<3> at = rows.offsets(r);
    if (residual != nullptr) residual += at.of[2];
    HeldRow<T, THREADS, FLOATS> row;
    const float first = load(row, in + at.of[0], residual, length);
    const float N = static_cast<float>(length);
    float mean = 0, squares = 0;
    if (OP::kCentered) {
        row.fill(length, first);
        row.each([&](float x) { mean += x - first; });
        mean = first + row_reduce<THREADS>(mean, Plus()) / N;
    }
    row.fill(length, mean);  // what is no element is the mean, and adds nothing
    row.each([&](float x) { squares += (x - mean) * (x - mean); });
    squares = row_reduce<THREADS>(squares, Plus());
    const float scale = 1 / sqrtf(squares / N + parameters.eps);
    if (residual != nullptr) row.store(residual, length);  // nobody reads it any more
    row.each([&](float& x) { x = (x - mean) * scale; });
#pragma unroll
    for (int q = 0; q < row.QUADS; ++q) {
        if (row.index(q) < length) apply<WIDE>(parameters, row.x[q], row.index(q));
    }
    row.store(out + at.of[1], length);
}
// [kernel]

}  // namespace

template <class OP, class T>
void launch_norm_registers(const Rows<const T>& in, const NormParameters& parameters,
                           const Rows<T>& residual, const Rows<T>& out, gpu::Stream stream) {
    const auto in_quads = [](const View<const float>& v) {
        return v.data != nullptr && has_wider(v.data, v.layout, sizeof(float));
    };
    const bool wide = in_quads(parameters.weight) && in_quads(parameters.bias);
    walk_rows(
        in, out, residual.first.layout,
        [&](const RowWalk& rows, const T* from, T* to, std::int64_t third) {
            T* const sum = residual.first.data != nullptr ? residual.first.data + third : nullptr;
            with_held<T, sizeof(T) == 4 ? 16 : 32>(in.length, [&](auto threads, auto floats) {
                constexpr int THREADS = threads, FLOATS = floats,
                              BLOCK = THREADS * kRowsOfBlock<THREADS>;
                const auto kernel = wide ? norm_registers_kernel<OP, true, T, THREADS, FLOATS>
                                         : norm_registers_kernel<OP, false, T, THREADS, FLOATS>;
                const unsigned grid = gpu::blocks_for(rows.size, kRowsOfBlock<THREADS>);
                kernel<<<grid, BLOCK, 0, stream>>>(rows, from, sum, to, static_cast<int>(in.length),
                                                   parameters);
                gpu::check_launch("norm_registers_kernel", grid, BLOCK);
            });
        });
}

template void launch_norm_registers<LayerNorm>(const Rows<const float>&, const NormParameters&,
                                               const Rows<float>&, const Rows<float>&, gpu::Stream);
template void launch_norm_registers<LayerNorm>(const Rows<const bf16>&, const NormParameters&,
                                               const Rows<bf16>&, const Rows<bf16>&, gpu::Stream);
template void launch_norm_registers<RmsNorm>(const Rows<const float>&, const NormParameters&,
                                             const Rows<float>&, const Rows<float>&, gpu::Stream);
template void launch_norm_registers<RmsNorm>(const Rows<const bf16>&, const NormParameters&,
                                             const Rows<bf16>&, const Rows<bf16>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
