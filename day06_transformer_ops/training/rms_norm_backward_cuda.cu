// The loop's twins and the launcher: a kernel for rows, and one for columns, as layer norm has them.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/training/rms_norm_backward.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

// [rms_norm_backward]
// A thread, a row. scales: of each row, for the kernel after this one.
__global__ void rms_norm_backward_kernel(const __grid_constant__ Rows<const float> in,
                                         const __grid_constant__ NormParameters parameters,
                                         const __grid_constant__ Rows<const float> grad,
                                         const __grid_constant__ Rows<float> d_in,
                                         const __grid_constant__ View<float> scales) {
    const std::int64_t C = in.length;
    const float N = static_cast<float>(C);
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const float> x = in.row(r), g = grad.row(r);
        const Row<float> dx = d_in.row(r);
        // 1. the scale, as on the way there
        float squares = 0;
        for (std::int64_t i = 0; i < C; ++i) {
            squares += x[i] * x[i];
        }
        const float scale = 1 / std::sqrt(squares / N + parameters.eps);
        // 2. what it carries to all of the row
        float of_scale = 0;
        for (std::int64_t i = 0; i < C; ++i) {
            of_scale += g[i] * weight_of(parameters, i) * (x[i] * scale);
        }
        // 3. the gradient of x
        for (std::int64_t i = 0; i < C; ++i) {
            const float h = g[i] * weight_of(parameters, i);
            dx[i] = scale * (h - x[i] * scale * (of_scale / N));
        }
        scales(r) = scale;
    }
}
// [rms_norm_backward]

// 4. and of the parameters: a thread, a column.
__global__ void rms_norm_columns_kernel(const __grid_constant__ Rows<const float> in,
                                        const __grid_constant__ Rows<const float> grad,
                                        const __grid_constant__ View<const float> scales,
                                        const __grid_constant__ NormGradients d) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < in.length) {
        float of_weight = 0, of_bias = 0;
        for (std::int64_t r = 0; r < in.count(); ++r) {
            const float g = grad.row(r)[i];
            of_weight += g * (in.row(r)[i] * scales(r));
            of_bias += g;
        }
        if (d.weight.data != nullptr) d.weight(i) += of_weight;
        if (d.bias.data != nullptr) d.bias(i) += of_bias;
    }
}

}  // namespace

void rms_norm_backward_cuda(View<const float> in, const NormParameters& parameters,
                            View<const float> grad, View<float> d_in, const NormGradients& d,
                            gpu::Workspace workspace, gpu::Stream stream) {
    check_norm_backward("rms_norm_backward", in, parameters, grad, d_in, d);
    if (in.size() == 0) return;
    const int last = in.rank() - 1;
    const Rows<const float> x = rows_along(in, last), g = rows_along(grad, last);
    const View<float> scales = gpu::carve("rms_norm_backward", workspace,
                                          [&](gpu::Carver& c) { return rms_norm_left(c, in); });
    unsigned grid = gpu::blocks_for(x.count(), kThreads);
    rms_norm_backward_kernel<<<grid, kThreads, 0, stream>>>(x, parameters, g,
                                                            rows_along(d_in, last), scales);
    gpu::check_launch("rms_norm_backward_kernel", grid, kThreads);
    if (d.weight.data == nullptr && d.bias.data == nullptr) return;
    grid = gpu::blocks_for(x.length, kThreads);
    rms_norm_columns_kernel<<<grid, kThreads, 0, stream>>>(x, g, scales, d);
    gpu::check_launch("rms_norm_columns_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
