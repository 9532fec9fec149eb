// The memory accesses of the warps, for --trace.
#include "common/gpu/buffer.hpp"
#include "day02_strides/bench/bench.hpp"
#include "day02_strides/conventions.hpp"
#include "day02_strides/pack.hpp"
#include "day02_strides/pitched.hpp"
#include "day02_strides/sweep.hpp"

namespace sixdays::day02_strides {

void trace_all() {
    gpu::Buffer<float> memory(64 * 32), sums(64), out(64 * 32);
    memory.fill_bytes(0x3f);
    lesson::trace("sums of the rows of a row-major matrix (64, 32)", [&] {
        sum_columns_cuda(memory.view(Layout({32, 64}, {1, 32})), sums.view({64}));
    });
    lesson::trace("sums of the rows of a column-major matrix (64, 32)", [&] {
        sum_columns_cuda(memory.view(Layout({32, 64}, {64, 1})), sums.view({64}));
    });
    lesson::trace("pitched copy of (50, 32), pitch 40 to 32", [&] {
        pitched_cuda(memory.view(pitched_rows(50, 32, 40)), out.view({50, 32}));
    });
    lesson::trace("pack of a transposed matrix (32, 64), one element per thread", [&] {
        pack_cuda(memory.view(column_major({32, 64})), out.view({32, 64}),
                  {.path = PackPath::any_size});
    });
}

}  // namespace sixdays::day02_strides
