// Which memory the warps access, for --trace.
#include "common/gpu/buffer.hpp"
#include "common/lesson/lesson.hpp"
#include "day04_argmax/argmax.hpp"
#include "day04_argmax/bench/bench.hpp"

namespace sixdays::day04_argmax {

void trace_all() {
    const Tensor<float> x =
        lesson::filled<float>({64, 256}, [](std::int64_t i) { return i * 7919 % 16381; });
    const gpu::Buffer<float> device(x);
    const View<const float> in = device.view({64, 256});
    gpu::Buffer<std::int64_t> out(2048);
    const auto step = [&](const char* title, ArgmaxPath path, int dim) {
        lesson::trace(title, [&] {
            argmax_cuda(in, dim, out.view(Shape{dim == 0 ? 256 : 64}), {.path = path});
        });
    };
    step("argmax of (64, 256) over dim 1, one thread per line", ArgmaxPath::one_thread, 1);
    step("the same over dim 0", ArgmaxPath::one_thread, 0);
    step("dim 1, one block per line, tree in shared memory", ArgmaxPath::shared_tree, 1);
    step("dim 1, one warp per line", ArgmaxPath::warp, 1);
    step("dim 1, 128-bit loads", ArgmaxPath::vectorized, 1);
    lesson::trace("lines of 17 elements, through shared memory", [&] {
        argmax_cuda({device.data(), Shape{900, 17}}, 1, out.view(Shape{900}),
                    {.path = ArgmaxPath::short_lines});
    });
    step("dim 0, lanes across lines", ArgmaxPath::strided, 0);
}

}  // namespace sixdays::day04_argmax
