// The memory accesses of the warps, for --trace.
#include "common/gpu/buffer.hpp"
#include "day01_flat_memory/bench/bench.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day01_flat_memory/indices.hpp"
#include "day01_flat_memory/picture.hpp"

namespace sixdays::day01_flat_memory {

void trace_all() {
    const std::int64_t n = 1024;
    gpu::Buffer<float> a(n + 1), b(n + 1), out(n + 1);
    for (auto* buffer : {&a, &b}) buffer->fill_bytes(0x3f);
    gpu::Buffer<std::uint8_t> pixels(16 * 64);
    const auto add = [&](ElementwisePath path, std::int64_t in_past, std::int64_t out_past) {
        const Layout all = row_major({n});
        add_cuda(a.view(all, in_past), b.view(all, in_past), out.view(all, out_past),
                 {.path = path});
    };
    lesson::trace("add, one element per thread, 1,024 elements",
                  [&] { add(ElementwisePath::one_element, 0, 0); });
    lesson::trace("add, one element per thread, every pointer 4 bytes past a multiple of 32",
                  [&] { add(ElementwisePath::one_element, 1, 1); });
    lesson::trace("add, grid-stride loop", [&] { add(ElementwisePath::grid_stride, 0, 0); });
    lesson::trace("add, 16 bytes per load", [&] { add(ElementwisePath::vectorized, 0, 0); });
    lesson::trace("add, any address, inputs 4 bytes past a multiple of 32",
                  [&] { add(ElementwisePath::any_address, 1, 0); });
    lesson::trace("indices, one element per thread, a matrix of 16 x 64", [&] {
        indices_cuda(64, out.view({16, 64}), {.path = IndicesPath::one_element});
    });
    lesson::trace("picture, 16 x 64 pixels of one byte", [&] {
        picture_cuda({}, pixels.view({16, 64}));
    });
}

}  // namespace sixdays::day01_flat_memory
