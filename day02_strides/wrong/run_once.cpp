// For compute-sanitizer, which watches a GPU: each port that has a wrong twin, once, over memory of
// exactly the size it needs. Linked with one wrong kernel at a time, it shows what that tool says
// where the emulator says what wrong/*.cu announce (common/emulator/tests/beside_gpu/sanitizer.py).
#include <cstdio>
#include <exception>

#include "common/gpu/buffer.hpp"
#include "common/gpu/device.hpp"
#include "day02_strides/steps/steps.hpp"
#include "day02_strides/sweep.hpp"

using namespace sixdays;
using namespace sixdays::day02_strides;

namespace {

// As much memory as a layout needs, element i holding i.
gpu::Buffer<float> memory_of(const Layout& layout) {
    Tensor<float> host(Shape{required_span(layout)});
    for (std::int64_t i = 0; i < host.size(); ++i) host(i) = static_cast<float>(i);
    return gpu::Buffer<float>(host);
}

}  // namespace

int main() {
    try {
        const Layout matrix = row_major({20, 33}), pitched({20, 33}, {40, 1});
        const Layout flipped({20, 33}, {-33, 1}), permuted({5, 7, 9}, {9, 45, 1});
        const gpu::Buffer<float> rows = memory_of(matrix), padded = memory_of(pitched);
        const gpu::Buffer<float> heads = memory_of(permuted);
        gpu::Buffer<float> sums(33), out(20 * 33), gathered(5 * 7 * 9);
        sum_columns_cuda(rows.view(matrix), sums.view({33}));
        pitched_one_element(padded.view(pitched), out.view({20, 33}));
        gather_unravel(rows.view(flipped, 19 * 33), out.view({20, 33}));
        gather_unravel(heads.view(permuted), gathered.view({5, 7, 9}));
        gather_cuda(padded.view(pitched), out.view({20, 33}));
        gpu::synchronize();
        (void)sums.download();
        (void)out.download();
        (void)gathered.download();
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 1;
    }
    std::printf("done\n");
    return 0;
}
