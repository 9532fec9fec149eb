// Wrong on purpose: the loop was copied into the kernel whole, and one thread walks it alone. Every
// value is right; only the access report shows that no other lane ever works.
//
// case: each warp asks once for many neighbours, and every lane works
// refused: touched->requests == port.requests
#include "common/gpu/launch.hpp"
#include "day01_flat_memory/elementwise.hpp"

namespace sixdays::day01_flat_memory {
namespace {

__global__ void square_kernel(const float* in, std::int64_t n, float* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        out[i] = in[i] * in[i];
    }
}

}  // namespace

void square_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_square(in, out);
    const std::int64_t n = out.size();
    if (n == 0) return;
    square_kernel<<<1, 1, 0, stream>>>(in.data, n, out.data);
    gpu::check_launch("square_kernel", 1, 1);
}

}  // namespace sixdays::day01_flat_memory
