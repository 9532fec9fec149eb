// The memory accesses of the warps, for --trace.
#include "common/gpu/buffer.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/bench/bench.hpp"
#include "day03_views/copy.hpp"
#include "day03_views/transpose.hpp"

namespace sixdays::day03_views {

void trace_all() {
    const std::int64_t n = 64;
    gpu::Buffer<float> a(n * n), b(n * n);
    a.fill_bytes(0x3f);
    const Shape square{n, n};
    const auto step = [&](const char* title, TransposePath path) {
        lesson::trace(title,
                      [&] { transpose_cuda(a.view(square), b.view(square), {.path = path}); });
    };
    step("transpose of 64 x 64 floats, one element per thread", TransposePath::one_element);
    step("writes coalesced", TransposePath::write_coalesced);
    step("shared tile", TransposePath::shared_tile);
    step("padded tile", TransposePath::padded);
    step("64 bytes in flight per thread", TransposePath::in_flight);
    step("vectorized", TransposePath::vectorized);
    lesson::trace("the same bytes as a matrix of 128 x 128 bytes, small elements", [&] {
        transpose_untyped_cuda({a.data(), 1, row_major({2 * n, 2 * n})},
                               {b.data(), 1, row_major({2 * n, 2 * n})},
                               {.path = TransposePath::small_elements});
    });
    const std::int64_t M = 1025, N = 63;
    gpu::Buffer<float> odd(M * N), transposed(M * N);
    odd.fill_bytes(0x3f);
    const auto odd_rows = [&](const char* title, TransposePath path) {
        lesson::trace(title, [&] {
            transpose_cuda(odd.view({M, N}), transposed.view({N, M}), {.path = path});
        });
    };
    odd_rows("1,025 x 63 floats, 64 bytes in flight per thread", TransposePath::in_flight);
    odd_rows("1,025 x 63 floats, whole sectors", TransposePath::whole_sectors);
    lesson::trace("copy, rows of 32 floats, 64 apart", [&] {
        copy_cuda(columns(a.view(square), 0, 32), b.view({n, 32}));
    });
    lesson::trace("copy, 1,344 x 3 to 3 x 1,344", [&] {
        copy_cuda(transpose(a.view({1344, 3})), b.view({3, 1344}));
    });
}

}  // namespace sixdays::day03_views
