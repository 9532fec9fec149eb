// The twins, and their launchers.
#include "common/gpu/launch.hpp"
#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/embedding/int8.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kInt8Threads = 128;

__global__ void quantize_int8_kernel(const __grid_constant__ View<const float> in,
                                     const __grid_constant__ View<const std::uint8_t> kept,
                                     const __grid_constant__ View<std::int8_t> values,
                                     const __grid_constant__ View<float> scales) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kInt8Threads + threadIdx.x;
    if (r < in.extent(0)) {
        float largest = 0;
        for (std::int64_t c = 0; c < in.extent(1); ++c) {
            const float size = std::fabs(in(r, c));
            const bool counts = kept.data == nullptr || kept(c) == 0;
            if (counts && (size > largest || size != size)) largest = size;  // NaN propagates
        }
        const bool finite = largest < INFINITY;
        const float scale = finite ? largest / 127 : NAN;
        scales(r) = scale;
        for (std::int64_t c = 0; c < in.extent(1); ++c) {
            const bool counts = kept.data == nullptr || kept(c) == 0;
            const float steps = counts && scale > 0 ? std::rint(in(r, c) / scale) : 0;
            values(r, c) = static_cast<std::int8_t>(std::fmin(std::fmax(steps, -127.0f), 127.0f));
        }
    }
}

__global__ void dequantize_int8_kernel(const __grid_constant__ View<const std::int8_t> values,
                                       ScalePer per,
                                       const __grid_constant__ View<const float> scales,
                                       const __grid_constant__ View<float> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kInt8Threads + threadIdx.x;
    const std::int64_t r = k / out.extent(1), c = k - r * out.extent(1);
    if (r < out.extent(0)) {
        const float scale = scales(per == ScalePer::row ? r : c);
        out(r, c) = static_cast<float>(values(r, c)) * scale;
    }
}

}  // namespace

void quantize_int8_cuda(View<const float> in, ScalePer per, View<const std::uint8_t> kept,
                        View<std::int8_t> values, View<float> scales, gpu::Stream stream) {
    check_quantize_int8(in, per, kept, values, scales);
    if (per == ScalePer::column) in = transpose(in), values = transpose(values);
    if (in.extent(0) == 0) return;
    const unsigned grid = gpu::blocks_for(in.extent(0), kInt8Threads);
    quantize_int8_kernel<<<grid, kInt8Threads, 0, stream>>>(in, kept, values, scales);
    gpu::check_launch("quantize_int8_kernel", grid, kInt8Threads);
}

void dequantize_int8_cuda(View<const std::int8_t> values, ScalePer per, View<const float> scales,
                          View<float> out, gpu::Stream stream) {
    check_dequantize_int8(values, per, scales, out);
    if (out.size() == 0) return;
    const unsigned grid = gpu::blocks_for(out.size(), kInt8Threads);
    dequantize_int8_kernel<<<grid, kInt8Threads, 0, stream>>>(values, per, scales, out);
    gpu::check_launch("dequantize_int8_kernel", grid, kInt8Threads);
}

}  // namespace sixdays::day06_transformer_ops
