// The twins, and the launchers.
#include "common/gpu/launch.hpp"
#include "common/gpu/reduce.hpp"
#include "day06_transformer_ops/training/adamw/adamw.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 256;

// [adamw]
template <bool ROUNDS>
__global__ void adamw_kernel(const __grid_constant__ AdamWNumbers a, const float* gradient,
                             float* first, float* second, float* parameters, std::int64_t n,
                             bf16* rounded) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (k < n) {
        const float g = gradient[k] * a.clip();
        const float m = a.beta1 * first[k] + (1 - a.beta1) * g;
        const float v = a.beta2 * second[k] + (1 - a.beta2) * g * g;
        first[k] = m;
        second[k] = v;
        parameters[k] = parameters[k] * a.kept - a.rate1 * m / (std::sqrt(v) / a.root2 + a.eps);
        if (ROUNDS) rounded[k] = bf16(parameters[k]);
    }
}
// [adamw]

// Each block processes every kNormBlocks-th piece of the gradient; the next kernel sums the blocks.
__global__ void squares_kernel(const float* gradient, std::int64_t n, double* of_block) {
    double sum = 0;
    const std::int64_t step = std::int64_t{kNormBlocks} * kThreads;
    for (std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; k < n; k += step) {
        sum += double{gradient[k]} * double{gradient[k]};
    }
    sum = gpu::block_reduce<kThreads>(sum, gpu::Plus());
    if (threadIdx.x == 0) of_block[blockIdx.x] = sum;
}
__global__ void norm_kernel(const double* of_block, double* out) {
    const double sum = gpu::block_reduce<kNormBlocks>(of_block[threadIdx.x], gpu::Plus());
    if (threadIdx.x == 0) *out = sqrt(sum);
}

}  // namespace

void adamw_cuda(const AdamWOptions& options, View<const float> gradient, View<float> first,
                View<float> second, View<float> parameters, View<bf16> rounded,
                gpu::Stream stream) {
    check_adamw(options, gradient, first, second, parameters, rounded);
    if (parameters.size() == 0) return;
    const unsigned grid = gpu::blocks_for(parameters.size(), kThreads);
    const auto kernel = rounded.data != nullptr ? adamw_kernel<true> : adamw_kernel<false>;
    kernel<<<grid, kThreads, 0, stream>>>(adamw_numbers(options), gradient.data, first.data,
                                          second.data, parameters.data, parameters.size(),
                                          rounded.data);
    gpu::check_launch("adamw_kernel", grid, kThreads);
}

void gradient_norm_cuda(View<const float> gradient, View<double> out, gpu::Workspace workspace,
                        gpu::Stream stream) {
    check_gradient_norm(gradient, out);
    const View<double> of_block = gpu::carve(
        "gradient_norm", workspace, [](gpu::Carver& c) { return c.take<double>({kNormBlocks}); });
    squares_kernel<<<kNormBlocks, kThreads, 0, stream>>>(gradient.data, gradient.size(),
                                                         of_block.data);
    gpu::check_launch("squares_kernel", kNormBlocks, kThreads);
    norm_kernel<<<1, kNormBlocks, 0, stream>>>(of_block.data, out.data);
    gpu::check_launch("norm_kernel", 1, kNormBlocks);
}

}  // namespace sixdays::day06_transformer_ops
