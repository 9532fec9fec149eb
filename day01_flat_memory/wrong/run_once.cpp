// For compute-sanitizer, which watches a GPU: each port that has a wrong twin, once, over memory of
// exactly the size it needs. Linked with one wrong kernel at a time, it shows what that tool says
// where the emulator says what wrong/*.cu announce (common/emulator/tests/beside_gpu/sanitizer.py).
#include <cstdio>
#include <exception>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day01_flat_memory/picture.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;

int main() {
    try {
        const std::int64_t n = 1000, H = 20, W = 33;
        Tensor<float> x({n});
        for (std::int64_t i = 0; i < n; ++i) x(i) = static_cast<float>(i);
        const gpu::Buffer<float> in(x);
        gpu::Buffer<float> out(n);
        square_cuda(in.view({n}), out.view({n}));
        gpu::synchronize();
        (void)out.download();
        gpu::Buffer<std::uint8_t> pixels(H * W);
        picture_cuda({}, pixels.view({H, W}));
        gpu::synchronize();
        (void)pixels.download();
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 1;
    }
    std::printf("done\n");
    return 0;
}
