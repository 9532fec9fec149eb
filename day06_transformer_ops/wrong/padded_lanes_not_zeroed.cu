// Wrong on purpose: lanes behind the row's end hold 0, and are 0 no more when the mean was subtracted.
//
// case: norms take the lengths around their quads, warps and blocks
// refused: name(path) := "registers"
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/steps/norm/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

/// The row, and where sums start: its first element. With a residual, the row is the sum of both,
/// rounded as it will be stored.
template <class T, int THREADS, int FLOATS>
__device__ float load(HeldRow<T, THREADS, FLOATS>& row, const T* in, const T* residual,
                      int length) {
    row.load(in, length, 0);
    if (residual == nullptr) return float(in[0]);
    HeldRow<T, THREADS, FLOATS> old;
    old.load(residual, length, 0);
    for (int q = 0; q < FLOATS / kOfQuad<T>; ++q) {
        for (int e = 0; e < kOfQuad<T>; ++e) row.x[q][e] += old.x[q][e];
        unpack<T>(pack<T>(row.x[q]), row.x[q]);
    }
    return float(T(float(residual[0]) + float(in[0])));
}

/// Elements i to i + 3 of a weight or of a bias, in one load if they lie so.
__device__ float4 four(const View<const float>& v, int i, float otherwise) {
    if (v.data == nullptr) return make_float4(otherwise, otherwise, otherwise, otherwise);
    if (v.stride(0) == 1 && reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0) {
        return *reinterpret_cast<const float4*>(v.data + i);
    }
    return make_float4(v(i), v(i + 1), v(i + 2), v(i + 3));
}

/// What becomes of a quad of z, whose first element is number i.
template <int N>
__device__ void apply(const NormParameters& parameters, float (&z)[N], int i) {
    for (int e = 0; e < N; e += 4) {
        const float4 w = four(parameters.weight, i + e, 1), b = four(parameters.bias, i + e, 0);
        z[e] = fmaf(z[e], w.x, b.x);
        z[e + 1] = fmaf(z[e + 1], w.y, b.y);
        z[e + 2] = fmaf(z[e + 2], w.z, b.z);
        z[e + 3] = fmaf(z[e + 3], w.w, b.w);
    }
}

template <class OP, class T, int THREADS, int FLOATS>
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
        for (int q = 0; q < FLOATS / kOfQuad<T>; ++q) {
            if (row.index(q) >= length) continue;
            for (const float x : row.x[q]) mean += x - first;
        }
        mean = first + row_reduce<THREADS>(mean, Plus()) / N;
    }
    for (int q = 0; q < FLOATS / kOfQuad<T>; ++q) {
        // <- the mistake: where the row has ended, -mean is squared
        for (const float x : row.x[q]) squares += (x - mean) * (x - mean);
    }
    squares = row_reduce<THREADS>(squares, Plus());
    const float scale = 1 / sqrtf(squares / N + parameters.eps);
    if (residual != nullptr) row.store(residual, length);  // nobody reads it any more
    for (int q = 0; q < FLOATS / kOfQuad<T>; ++q) {
        if (row.index(q) >= length) continue;
        for (float& x : row.x[q]) x = (x - mean) * scale;
        apply(parameters, row.x[q], row.index(q));
    }
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
                  with_held(in.length, [&](auto threads, auto floats) {
                      constexpr int THREADS = threads, FLOATS = floats,
                                    BLOCK = THREADS * kRowsOfBlock<THREADS>;
                      const unsigned grid = gpu::blocks_for(rows.size, kRowsOfBlock<THREADS>);
                      norm_registers_kernel<OP, T, THREADS, FLOATS><<<grid, BLOCK, 0, stream>>>(
                          rows, from, sum, to, static_cast<int>(in.length), parameters);
                      gpu::check_launch("norm_registers_kernel", grid, BLOCK);
                  });
              });
}

template void launch_norm_registers<LayerNorm>(const Rows<const float>&, const NormParameters&,
                                               const Rows<float>&, const Rows<float>&, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
