// For compute-sanitizer, which watches a GPU: each port that has a wrong twin, once, over memory of
// exactly the size it needs. Linked with one wrong kernel at a time, it shows what that tool says
// where the emulator says what wrong/*.cu announce (common/emulator/tests/beside_gpu/sanitizer.py).
#include <cstdio>
#include <exception>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/steps/steps.hpp"

using namespace sixdays;
using namespace sixdays::day03_views;

int main() {
    try {
        const std::int64_t M = 20, N = 33;
        Tensor<float> x({M, N});
        for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
        const gpu::Buffer<float> in(x);
        gpu::Buffer<float> out(M * N);
        transpose_padded(in.view({M, N}), out.view({N, M}));
        gpu::synchronize();
        (void)out.download();
        copy_cuda(flip(in.view({M, N}), 1), out.view({M, N}));
        gpu::synchronize();
        (void)out.download();
        copy_cuda(transpose(in.view({M, N})), out.view({N, M}));
        gpu::synchronize();
        (void)out.download();
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 1;
    }
    std::printf("done\n");
    return 0;
}
