// Step 3: a register-resident row. It is read once, with 128-bit loads, and mean, variance and
// result are computed from registers: the second pass reads no memory. bf16 stays 16 bits wide in
// registers, and each pass widens it again: half the registers, so twice the rows in flight.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/norm/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

/// The results for a vector of z, whose first element has index i. WIDE: weight and bias, if
/// present, can be read with 128-bit loads.
template <bool WIDE, int N>
__device__ void apply(const NormParameters& parameters, float (&z)[N], int i) {
#pragma unroll
    for (int e = 0; e < N; e += 4) {
        if constexpr (WIDE) {
            const float *weight = parameters.weight.data, *bias = parameters.bias.data;
            float4 w = make_float4(1, 1, 1, 1), b = make_float4(0, 0, 0, 0);
            if (weight != nullptr) w = *reinterpret_cast<const float4*>(weight + i + e);
            if (bias != nullptr) b = *reinterpret_cast<const float4*>(bias + i + e);
            z[e] = fmaf(z[e], w.x, b.x);
            z[e + 1] = fmaf(z[e + 1], w.y, b.y);
            z[e + 2] = fmaf(z[e + 2], w.z, b.z);
            z[e + 3] = fmaf(z[e + 3], w.w, b.w);
        } else {
            for (int k = e; k < e + 4; ++k) z[k] = parameters(z[k], i + k);
        }
    }
}

// inv_length: 1 / length. With few vectors per thread, an SM has room for 1,280 threads
// of small blocks, with 48 registers each; or for 1,024 of large ones, with 64.
template <class OP, bool WIDE, class T, int THREADS, int VECTORS,
          int BLOCK = THREADS* kRowsOfBlock<THREADS>>
__global__ void __launch_bounds__(BLOCK, VECTORS <= 4 ? 1280 / BLOCK : 1)
    norm_registers_kernel(const __grid_constant__ RowWalk rows, const T* in, T* residual, T* out,
                          int length, float inv_length,
                          const __grid_constant__ NormParameters parameters) {
    const unsigned r = blockIdx.x * kRowsOfBlock<THREADS> + threadIdx.x / THREADS;
    if (r >= rows.size) return;  // all lanes of the warp
    const Offsets<3> at = rows.offsets(r);
    if (residual != nullptr) residual += at.of[2];
    in += at.of[0];
    HeldRow<T, THREADS, VECTORS> row;
    const auto each = [&](const auto& f) { row.each_vector(length, f); };
    const auto each_number = [&](const auto& f) {
        each([&](int, const uint4& vector) {
            float x[kPerVector<T>];
            unpack<T>(vector, x);
            for (const float number : x) f(number);
        });
    };
    each([&](int i, uint4& vector) { vector = __ldcs(reinterpret_cast<const uint4*>(in + i)); });
    float first = float(in[0]), mean = 0, squares = 0;
    if (residual != nullptr) {  // the row is the sum of both
        first = float(T(first + float(residual[0])));
        each([&](int i, uint4& vector) {
            vector = sum_of<T>(vector, *reinterpret_cast<const uint4*>(residual + i));
        });
    }
    if (OP::kCentered) {
        each_number([&](float x) { mean += x - first; });
        mean = first + row_reduce<THREADS>(mean, Plus()) * inv_length;
    }
    each_number([&](float x) { squares += (x - mean) * (x - mean); });
    squares = row_reduce<THREADS>(squares, Plus());
    const float scale = rsqrtf(squares * inv_length + parameters.eps);
    T* const y = out + at.of[1];
    each([&](int i, const uint4& vector) {
        // The old residual is no longer needed.
        if (residual != nullptr) *reinterpret_cast<uint4*>(residual + i) = vector;
        float x[kPerVector<T>];
        unpack<T>(vector, x);
        for (float& z : x) z = (z - mean) * scale;
        apply<WIDE>(parameters, x, i);
        __stcs(reinterpret_cast<uint4*>(y + i), pack<T>(x));
    });
}

/// Calls f(threads, vectors), both constants, large enough to hold a row of this many vectors. A
/// row in a single warp needs no barrier.
template <class F>
void with_held_vectors(std::int64_t vectors, const F& f) {
    using std::integral_constant;
    constexpr integral_constant<int, 32> warp;
    if (vectors <= 32) return f(warp, integral_constant<int, 1>());
    if (vectors <= 64) return f(warp, integral_constant<int, 2>());
    if (vectors <= 96) return f(warp, integral_constant<int, 3>());
    if (vectors <= 128) return f(warp, integral_constant<int, 4>());
    if (vectors <= 160) return f(warp, integral_constant<int, 5>());
    if (vectors <= 192) return f(integral_constant<int, 64>(), integral_constant<int, 3>());
    if (vectors <= 224) return f(warp, integral_constant<int, 7>());
    constexpr integral_constant<int, 4> four;
    if (vectors <= 512) return f(integral_constant<int, 128>(), four);
    if (vectors <= 1024) return f(integral_constant<int, 256>(), four);
    if (vectors <= 2048) return f(integral_constant<int, 512>(), four);
    return f(integral_constant<int, 1024>(), four);  // kMostHeld floats
}

}  // namespace

template <class OP, class T>
void launch_norm_registers(const Rows<const T>& in, const NormParameters& parameters,
                           const Rows<T>& residual, const Rows<T>& out, gpu::Stream stream) {
    const auto vectorized = [](const View<const float>& v) {
        return v.data == nullptr || has_wider(v.data, v.layout, sizeof(float));
    };
    const bool wide = vectorized(parameters.weight) && vectorized(parameters.bias);
    walk_rows(
        in, out, residual.first.layout,
        [&](const RowWalk& rows, const T* from, T* to, std::int64_t third) {
            T* const sum = residual.first.data != nullptr ? residual.first.data + third : nullptr;
            with_held_vectors(in.length / kPerVector<T>, [&](auto threads, auto vectors) {
                constexpr int THREADS = threads, VECTORS = vectors,
                              BLOCK = THREADS * kRowsOfBlock<THREADS>;
                const auto kernel = wide ? norm_registers_kernel<OP, true, T, THREADS, VECTORS>
                                         : norm_registers_kernel<OP, false, T, THREADS, VECTORS>;
                const unsigned grid = gpu::blocks_for(rows.size, kRowsOfBlock<THREADS>);
                kernel<<<grid, BLOCK, 0, stream>>>(rows, from, sum, to, static_cast<int>(in.length),
                                                   1 / static_cast<float>(in.length), parameters);
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
