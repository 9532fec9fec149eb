// The twin, and its launcher.
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/embedding/sinusoidal.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kSinusoidalThreads = 256;

// One thread per element; neighbouring threads write neighbouring columns.
__global__ void sinusoidal_positions_kernel(const __grid_constant__ View<float> out, double base) {
    const std::int64_t C = out.extent(1);
    const std::int64_t k = std::int64_t{blockIdx.x} * kSinusoidalThreads + threadIdx.x;
    const std::int64_t p = k / C, c = k - p * C;
    if (p < out.extent(0)) {
        const double pair = static_cast<double>(c / 2 * 2) / static_cast<double>(C);
        const double angle = static_cast<double>(p) / std::pow(base, pair);
        out(p, c) = static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
}

}  // namespace

void sinusoidal_positions_cuda(View<float> out, double base, gpu::Stream stream) {
    check_sinusoidal_positions(out, base);
    if (out.size() == 0) return;
    const unsigned grid = gpu::blocks_for(out.size(), kSinusoidalThreads);
    sinusoidal_positions_kernel<<<grid, kSinusoidalThreads, 0, stream>>>(out, base);
    gpu::check_launch("sinusoidal_positions_kernel", grid, kSinusoidalThreads);
}

}  // namespace sixdays::day06_transformer_ops
