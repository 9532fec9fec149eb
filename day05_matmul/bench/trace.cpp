// Which memory the warps access, for --trace.
#include "common/gpu/buffer.hpp"
#include "common/lesson/lesson.hpp"
#include "day05_matmul/bench/bench.hpp"

namespace sixdays::day05_matmul {

void trace_all() {
    const std::int64_t M = 128, N = 128, K = 32;
    gpu::Buffer<float> a(M * K), b(K * N), out(M * N);
    a.fill_bytes(0x3f);
    b.fill_bytes(0x3f);
    for (const MatmulStep& step : ladder()) {
        lesson::trace("128 x 128 outputs, K = 32, step " + step.name(), [&] {
            matmul_cuda(a.view({M, K}), b.view({K, N}), out.view({M, N}), {.path = step.path});
        });
    }
    for (const MatmulPath path : {MatmulPath::shared_tile, MatmulPath::transposed_tile}) {
        lesson::trace(std::string("b is a transposed view of (N, K), ") + name(path), [&] {
            matmul_cuda(a.view({M, K}), transpose(b.view({N, K})), out.view({M, N}),
                        {.path = path});
        });
    }
}

}  // namespace sixdays::day05_matmul
