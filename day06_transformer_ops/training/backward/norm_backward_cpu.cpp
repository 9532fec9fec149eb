// The CPU references.
#include "day06_transformer_ops/training/backward/norm_backward.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

void layer_norm_backward_loop(const Rows<const float>& in, const NormParameters& parameters,
                              const Rows<const float>& grad, const Rows<float>& d_in,
                              const NormGradients& d) {
    const std::int64_t C = in.length;
    const float N = static_cast<float>(C);
    for (std::int64_t r = 0; r < in.count(); ++r) {
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
        // [layer_norm_backward]
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
        // 4. the gradients of the parameters
        for (std::int64_t i = 0; i < C; ++i) {
            const float z = (x[i] - mean) * scale;
            if (d.weight.data != nullptr) d.weight(i) += g[i] * z;
            if (d.bias.data != nullptr) d.bias(i) += g[i];
        }
        // [layer_norm_backward]
    }
}

void rms_norm_backward_loop(const Rows<const float>& in, const NormParameters& parameters,
                            const Rows<const float>& grad, const Rows<float>& d_in,
                            const NormGradients& d) {
    const std::int64_t C = in.length;
    const float N = static_cast<float>(C);
    for (std::int64_t r = 0; r < in.count(); ++r) {
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
        // 4. the gradients of the parameters
        for (std::int64_t i = 0; i < C; ++i) {
            if (d.weight.data != nullptr) d.weight(i) += g[i] * (x[i] * scale);
            if (d.bias.data != nullptr) d.bias(i) += g[i];
        }
    }
}

}  // namespace

void layer_norm_backward_cpu(View<const float> in, const NormParameters& parameters,
                             View<const float> grad, View<float> d_in, const NormGradients& d) {
    const auto plan = plan_norm_backward("layer_norm_backward", in, parameters, grad, d_in, d);
    if (in.size() > 0) layer_norm_backward_loop(plan.in, parameters, plan.grad, plan.d_in, d);
}

void rms_norm_backward_cpu(View<const float> in, const NormParameters& parameters,
                           View<const float> grad, View<float> d_in, const NormGradients& d) {
    const auto plan = plan_norm_backward("rms_norm_backward", in, parameters, grad, d_in, d);
    if (in.size() > 0) rms_norm_backward_loop(plan.in, parameters, plan.grad, plan.d_in, d);
}

}  // namespace sixdays::day06_transformer_ops
