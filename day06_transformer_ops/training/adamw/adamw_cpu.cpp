// The CPU references.
#include <cmath>

#include "day06_transformer_ops/training/adamw/adamw.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

void adamw_loop(const AdamWNumbers& a, const float* gradient, float* first, float* second,
                float* parameters, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
        const float g = gradient[k] * a.clip();
        const float m = a.beta1 * first[k] + (1 - a.beta1) * g;
        const float v = a.beta2 * second[k] + (1 - a.beta2) * g * g;
        first[k] = m;
        second[k] = v;
        parameters[k] = parameters[k] * a.kept - a.rate1 * m / (std::sqrt(v) / a.root2 + a.eps);
    }
}

void gradient_norm_loop(const float* gradient, std::int64_t n, double* out) {
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        sum += double{gradient[k]} * double{gradient[k]};
    }
    *out = std::sqrt(sum);
}

}  // namespace

void adamw_cpu(const AdamWOptions& options, View<const float> gradient, View<float> first,
               View<float> second, View<float> parameters, View<bf16> rounded) {
    check_adamw(options, gradient, first, second, parameters, rounded);
    adamw_loop(adamw_numbers(options), gradient.data, first.data, second.data, parameters.data,
               parameters.size());
    if (rounded.data == nullptr) return;
    for (std::int64_t k = 0; k < parameters.size(); ++k) {
        rounded.data[k] = bf16(parameters.data[k]);
    }
}

void gradient_norm_cpu(View<const float> gradient, View<double> out) {
    check_gradient_norm(gradient, out);
    gradient_norm_loop(gradient.data, gradient.size(), out.data);
}

}  // namespace sixdays::day06_transformer_ops
