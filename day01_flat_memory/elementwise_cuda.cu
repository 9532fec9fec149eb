// The kernels: one loop iteration becomes one thread. A thread computes its i from blockIdx (its
// block's number), blockDim (threads per block) and threadIdx (its number in the block). These are
// 32-bit, so blockIdx.x is widened before the product can wrap: std::int64_t{blockIdx.x}.
// The grid is rounded up to whole blocks, so the last block may have threads without an element.
// The guard `i < n` makes them do nothing.
#include "day01_flat_memory/elementwise.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "common/gpu/launch.hpp"
#include "common/gpu/tile.hpp"
#include "day01_flat_memory/steps/elementwise/steps.hpp"
#include "day01_flat_memory/tiles.hpp"

namespace sixdays::day01_flat_memory {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kThreads = 256;  // per block: 8 warps of 32 threads

__global__ void square_kernel(const float* in, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * in[i];
    }
}

__global__ void scale_kernel(float alpha, const float* in, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = alpha * in[i];
    }
}

__global__ void saxpy_kernel(float alpha, const float* x, const float* y, std::int64_t n,
                             float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = std::fma(alpha, x[i], y[i]);
    }
}

// [add]
__global__ void add_kernel(const float* a, const float* b, std::int64_t n, float* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}
// [add]

__global__ void invert_kernel(const std::uint8_t* in, std::int64_t n, std::uint8_t* out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = static_cast<std::uint8_t>(255 - in[i]);
    }
}

// --- launchers -----------------------------------------------------------------------------------

// The faster kernels in steps/elementwise/ take the operation as a functor. Step 1 is not among
// them: it is each operation's own kernel, above.
template <class Op, class T, class... In>
void launch_step(ElementwisePath path, Op op, gpu::Stream stream, View<T> out, View<In>... in) {
    const std::int64_t n = out.size();
    switch (path) {
        case ElementwisePath::one_element:
        case ElementwisePath::tile:
            break;
        case ElementwisePath::grid_stride:
            return launch_grid_stride(op, n, stream, out.data, in.data...);
        case ElementwisePath::vectorized:
            return launch_vectorized(op, n, stream, out.data, in.data...);
        case ElementwisePath::any_address:
            return launch_any_address(op, n, stream, out.data, in.data...);
    }
    throw std::logic_error("launch_step: this path is not one of its steps");
}

}  // namespace

void add_cuda(View<const float> a, View<const float> b, View<float> out,
              const gpu::Launch<ElementwisePath>& how) {
    check_add(a, b, out, how.path);
    const std::int64_t n = out.size();
    if (n == 0) return;  // a grid of 0 blocks is an error, not an empty launch
    const ElementwisePath path = how.path.value_or(choose_elementwise(out, a, b));
    if (path == ElementwisePath::tile) {
        return gpu::by_tile("add", [&] { launch_add_tile(a, b, out, how.stream); });
    }
    if (path != ElementwisePath::one_element) {
        return launch_step(path, Add{}, how.stream, out, a, b);
    }
    const unsigned grid = gpu::blocks_for(n, kThreads);
    add_kernel<<<grid, kThreads, 0, how.stream>>>(a.data, b.data, n, out.data);
    gpu::check_launch("add_kernel", grid, kThreads);
}

void square_cuda(View<const float> in, View<float> out, const gpu::Launch<ElementwisePath>& how) {
    check_square(in, out, how.path);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const ElementwisePath path = how.path.value_or(choose_elementwise(out, in));
    if (path == ElementwisePath::tile) {
        return gpu::by_tile("square", [&] { launch_square_tile(in, out, how.stream); });
    }
    if (path != ElementwisePath::one_element) {
        return launch_step(path, Square{}, how.stream, out, in);
    }
    const unsigned grid = gpu::blocks_for(n, kThreads);
    square_kernel<<<grid, kThreads, 0, how.stream>>>(in.data, n, out.data);
    gpu::check_launch("square_kernel", grid, kThreads);
}

void scale_cuda(float alpha, View<const float> in, View<float> out,
                const gpu::Launch<ElementwisePath>& how) {
    check_scale(in, out, how.path);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const ElementwisePath path = how.path.value_or(choose_elementwise(out, in));
    if (path == ElementwisePath::tile) {
        return gpu::by_tile("scale", [&] { launch_scale_tile(alpha, in, out, how.stream); });
    }
    if (path != ElementwisePath::one_element) {
        return launch_step(path, Scale{alpha}, how.stream, out, in);
    }
    const unsigned grid = gpu::blocks_for(n, kThreads);
    scale_kernel<<<grid, kThreads, 0, how.stream>>>(alpha, in.data, n, out.data);
    gpu::check_launch("scale_kernel", grid, kThreads);
}

void saxpy_cuda(float alpha, View<const float> x, View<const float> y, View<float> out,
                const gpu::Launch<ElementwisePath>& how) {
    check_saxpy(x, y, out, how.path);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const ElementwisePath path = how.path.value_or(choose_elementwise(out, x, y));
    if (path == ElementwisePath::tile) {
        return gpu::by_tile("saxpy", [&] { launch_saxpy_tile(alpha, x, y, out, how.stream); });
    }
    if (path != ElementwisePath::one_element) {
        return launch_step(path, Saxpy{alpha}, how.stream, out, x, y);
    }
    const unsigned grid = gpu::blocks_for(n, kThreads);
    saxpy_kernel<<<grid, kThreads, 0, how.stream>>>(alpha, x.data, y.data, n, out.data);
    gpu::check_launch("saxpy_kernel", grid, kThreads);
}

void invert_cuda(View<const std::uint8_t> in, View<std::uint8_t> out,
                 const gpu::Launch<ElementwisePath>& how) {
    check_invert(in, out, how.path);
    const std::int64_t n = out.size();
    if (n == 0) return;
    const ElementwisePath path = how.path.value_or(choose_elementwise(out, in));
    if (path == ElementwisePath::tile) {
        return gpu::by_tile("invert", [&] { launch_invert_tile(in, out, how.stream); });
    }
    if (path != ElementwisePath::one_element) {
        return launch_step(path, Invert{}, how.stream, out, in);
    }
    const unsigned grid = gpu::blocks_for(n, kThreads);
    invert_kernel<<<grid, kThreads, 0, how.stream>>>(in.data, n, out.data);
    gpu::check_launch("invert_kernel", grid, kThreads);
}

}  // namespace sixdays::day01_flat_memory
