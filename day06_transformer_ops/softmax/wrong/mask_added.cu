// Wrong on purpose: -infinity is added to what the mask hides. Where a NaN stands, or +infinity, the
// sum is NaN; it should have been selected away.
//
// case: masked_softmax shares among what the mask lets through, and never computes with the rest
// refused: got nan
#include "common/gpu/launch.hpp"
#include "day06_transformer_ops/softmax/softmax.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr int kThreads = 128;

__global__ void masked_softmax_kernel(const __grid_constant__ Rows<const float> in,
                                      const __grid_constant__ Rows<const std::uint8_t> mask,
                                      const __grid_constant__ Rows<float> out) {
    const std::int64_t r = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (r < in.count()) {
        const Row<const float> x = in.row(r);
        const Row<const std::uint8_t> seen = mask.row(r);
        const Row<float> y = out.row(r);
        const auto score = [&](std::int64_t i) {
            return x[i] + (seen[i] != 0 ? 0 : -INFINITY);  // <- the mistake
        };
        float m = -INFINITY, sum = 0;
        for (std::int64_t i = 0; i < in.length; ++i) m = std::fmax(m, score(i));
        for (std::int64_t i = 0; i < in.length; ++i) sum += std::exp(score(i) - m);
        for (std::int64_t i = 0; i < in.length; ++i) y[i] = std::exp(score(i) - m) / sum;
    }
}

}  // namespace

template <>
void masked_softmax_cuda<float>(View<const float> in, View<const std::uint8_t> mask, int dim,
                                View<float> out, const gpu::Launch<SoftmaxPath>& how) {
    check_masked_softmax<float>(in, mask, dim, out);
    if (out.size() == 0) return;
    const int d = checked_dim("masked_softmax", dim, in.rank());
    const View<const std::uint8_t> seen = broadcast_to(mask, in.shape());
    const unsigned grid = gpu::blocks_for(rows_along(in, d).count(), kThreads);
    masked_softmax_kernel<<<grid, kThreads, 0, how.stream>>>(rows_along(in, d), rows_along(seen, d),
                                                             rows_along(out, d));
    gpu::check_launch("masked_softmax_kernel", grid, kThreads);
}

}  // namespace sixdays::day06_transformer_ops
