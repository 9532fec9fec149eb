// The twins and the launchers. There is one kernel per norm for rows, and one for columns, because
// the gradient of a weight is a sum over all rows. One thread per column adds it up, always in the
// same order.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"
#include "day06_transformer_ops/training/backward/steps/steps.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

// One thread per row. rows: (rows, 2), mean and scale of each, for the next kernel.
__global__ void layer_norm_backward_kernel(const __grid_constant__ Rows<const float> in,
                                           const __grid_constant__ NormParameters parameters,
                                           const __grid_constant__ Rows<const float> grad,
                                           const __grid_constant__ Rows<float> d_in,
                                           const __grid_constant__ View<float> rows) {
    const std::int64_t C = in.length;
    const float N = static_cast<float>(C);
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const float> x = in.row(r), g = grad.row(r);
        const Row<float> dx = d_in.row(r);
        // 1. mean and scale, as in the forward pass
        float sum = 0;
        for (std::int64_t i = 0; i < C; ++i) {
            sum += x[i] - x[0];
        }
        const float mean = x[0] + sum / N;
        float squares = 0;
        for (std::int64_t i = 0; i < C; ++i) {
            squares += (x[i] - mean) * (x[i] - mean);
        }
        const float scale = 1 / std::sqrt(squares / N + parameters.eps);
        // 2. gradient through the row's mean and variance
        float of_mean = 0, of_scale = 0;
        for (std::int64_t i = 0; i < C; ++i) {
            const float h = g[i] * weight_of(parameters, i);
            of_mean += h;
            of_scale += h * ((x[i] - mean) * scale);
        }
        // 3. the gradient of x
        for (std::int64_t i = 0; i < C; ++i) {
            const float h = g[i] * weight_of(parameters, i);
            const float z = (x[i] - mean) * scale;
            dx[i] += scale * (h - of_mean / N - z * (of_scale / N));
        }
        rows(r, 0) = mean;
        rows(r, 1) = scale;
    }
}

// The same, with mean 0, because RMS norm subtracts none.
__global__ void rms_norm_backward_kernel(const __grid_constant__ Rows<const float> in,
                                         const __grid_constant__ NormParameters parameters,
                                         const __grid_constant__ Rows<const float> grad,
                                         const __grid_constant__ Rows<float> d_in,
                                         const __grid_constant__ View<float> rows) {
    const std::int64_t C = in.length;
    const float N = static_cast<float>(C);
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const float> x = in.row(r), g = grad.row(r);
        const Row<float> dx = d_in.row(r);
        // 1. the scale, as in the forward pass
        float squares = 0;
        for (std::int64_t i = 0; i < C; ++i) {
            squares += x[i] * x[i];
        }
        const float scale = 1 / std::sqrt(squares / N + parameters.eps);
        // 2. gradient through the scale
        float of_scale = 0;
        for (std::int64_t i = 0; i < C; ++i) {
            of_scale += g[i] * weight_of(parameters, i) * (x[i] * scale);
        }
        // 3. the gradient of x
        for (std::int64_t i = 0; i < C; ++i) {
            const float h = g[i] * weight_of(parameters, i);
            dx[i] += scale * (h - x[i] * scale * (of_scale / N));
        }
        rows(r, 0) = 0;
        rows(r, 1) = scale;
    }
}

// 4. the gradients of the parameters: one thread per column.
__global__ void norm_columns_kernel(const __grid_constant__ Rows<const float> in,
                                    const __grid_constant__ Rows<const float> grad,
                                    const __grid_constant__ View<const float> rows,
                                    const __grid_constant__ NormGradients d) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < in.length) {
        float of_weight = 0, of_bias = 0;
        for (std::int64_t r = 0; r < in.count(); ++r) {
            const float z = (in.row(r)[i] - rows(r, 0)) * rows(r, 1);
            const float g = grad.row(r)[i];
            of_weight += g * z;
            of_bias += g;
        }
        if (d.weight.data != nullptr) d.weight(i) += of_weight;
        if (d.bias.data != nullptr) d.bias(i) += of_bias;
    }
}

// Runs after the row kernel of either norm.
void launch_columns(const Rows<const float>& x, const Rows<const float>& g, const View<float>& rows,
                    const NormGradients& d, gpu::Stream stream) {
    if (d.weight.data == nullptr && d.bias.data == nullptr) return;
    const unsigned grid = gpu::blocks_for(x.length, kThreads);
    norm_columns_kernel<<<grid, kThreads, 0, stream>>>(x, g, rows, d);
    gpu::check_launch("norm_columns_kernel", grid, kThreads);
}

void launch_row_per_thread(const Rows<const float>& x, const NormParameters& parameters,
                           const Rows<const float>& g, const Rows<float>& d_in,
                           const NormGradients& d, const View<float>& rows, gpu::Stream stream) {
    const unsigned grid = gpu::blocks_for(x.count(), kThreads);
    layer_norm_backward_kernel<<<grid, kThreads, 0, stream>>>(x, parameters, g, d_in, rows);
    gpu::check_launch("layer_norm_backward_kernel", grid, kThreads);
    launch_columns(x, g, rows, d, stream);
}

}  // namespace

void layer_norm_backward_cuda(View<const float> in, const NormParameters& parameters,
                              View<const float> grad, View<float> d_in, const NormGradients& d,
                              const gpu::Launch<LayerNormBackwardPath>& how) {
    const auto [path, x, g, dx] =
        plan_norm_backward("layer_norm_backward", in, parameters, grad, d_in, d, how);
    if (in.size() == 0) return;
    const LayerNormLeft left = gpu::carve("layer_norm_backward", how.workspace,
                                          [&](gpu::Carver& c) { return layer_norm_left(c, in); });
    switch (path) {
        case LayerNormBackwardPath::row_per_thread:
            return launch_row_per_thread(x, parameters, g, dx, d, left.rows, how.stream);
        case LayerNormBackwardPath::registers:
            return launch_layer_norm_backward_registers(x, parameters, g, dx, d, left.parts,
                                                        how.stream);
        case LayerNormBackwardPath::ahead:
            return launch_norm_backward_ahead(true, x, parameters, g, dx, d, left.parts,
                                              how.stream);
    }
}

void rms_norm_backward_cuda(View<const float> in, const NormParameters& parameters,
                            View<const float> grad, View<float> d_in, const NormGradients& d,
                            gpu::Workspace workspace, gpu::Stream stream) {
    const auto [path, x, g, dx] =
        plan_norm_backward("rms_norm_backward", in, parameters, grad, d_in, d);
    if (in.size() == 0) return;
    const LayerNormLeft left = gpu::carve("rms_norm_backward", workspace,
                                          [&](gpu::Carver& c) { return layer_norm_left(c, in); });
    if (path == LayerNormBackwardPath::ahead) {
        return launch_norm_backward_ahead(false, x, parameters, g, dx, d, left.parts, stream);
    }
    const unsigned grid = gpu::blocks_for(x.count(), kThreads);
    rms_norm_backward_kernel<<<grid, kThreads, 0, stream>>>(x, parameters, g, dx, left.rows);
    gpu::check_launch("rms_norm_backward_kernel", grid, kThreads);
    launch_columns(x, g, left.rows, d, stream);
}

}  // namespace sixdays::day06_transformer_ops
