// The CUDA version: two products, and sums for the bias.
#include <algorithm>

#include "common/gpu/launch.hpp"
#include "common/tensor/half.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.hpp"
#include "day04_argmax/reduce.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"

namespace sixdays::day06_transformer_ops {

using day03_views::add_broadcast_cuda;
using day04_argmax::reduce_cuda, day04_argmax::reduce_workspace_bytes, day04_argmax::Reduction;
using day05_matmul::matmul_cuda, day05_matmul::matmul_workspace_bytes;

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kRows = 64;  // of a part

// Few columns and many rows keep few threads busy. So this is a two-pass reduction: sums over 64
// rows each, then the sum of these. (parts, 64, N); one part if 64 does not divide the rows.
template <class T>
View<const T> in_parts(const View<const T>& g) {
    const std::int64_t parts = g.extent(0) % kRows == 0 ? g.extent(0) / kRows : 1;
    return reshape(g, {parts, parts == 1 ? g.extent(0) : kRows, g.extent(1)});
}

// The first pass: a thread per column of a part.
template <class T>
__global__ void sum_parts_kernel(const __grid_constant__ View<const T> parts,
                                 const __grid_constant__ View<float> out) {
    const std::int64_t k = std::int64_t{blockIdx.x} * kThreads + threadIdx.x, N = out.extent(1);
    if (k < out.size()) {
        float sum = 0;
        for (std::int64_t m = 0; m < parts.extent(1); ++m) sum += float(parts(k / N, m, k % N));
        out(k / N, k % N) = sum;
    }
}

// The sums for a bias, and the workspace of the second pass.
struct Sums {
    gpu::Workspace room;
    View<float> of_parts;  // (parts, N)
    View<float> all;       // (N)
};
template <class T>
Sums sums_of(gpu::Carver& carver, const View<const T>& g) {
    Sums sums;
    const Shape of_parts = {in_parts(g).extent(0), g.extent(1)};
    sums.room = carver.lend(reduce_workspace_bytes(View<const float>(nullptr, of_parts), {0}));
    sums.of_parts = carver.take<float>(of_parts);
    sums.all = carver.take<float>({g.extent(1)});
    return sums;
}

}  // namespace

template <class T>
std::int64_t bias_backward_workspace_bytes(const View<const T>& grad) {
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return sums_of(c, as_matrix(grad)); });
}
template std::int64_t bias_backward_workspace_bytes(const View<const float>&);
template std::int64_t bias_backward_workspace_bytes(const View<const bf16>&);

template <class T>
void bias_backward_cuda(View<const T> grad, View<float> d_bias, gpu::Workspace workspace,
                        gpu::Stream stream) {
    check_bias_backward(grad, d_bias);
    const View<const T> g = as_matrix(grad);
    const auto [room, of_parts, sums] =
        gpu::carve("bias_backward", workspace, [&](gpu::Carver& c) { return sums_of(c, g); });
    if (of_parts.size() > 0) {
        const unsigned grid = gpu::blocks_for(of_parts.size(), kThreads);
        sum_parts_kernel<T><<<grid, kThreads, 0, stream>>>(in_parts(g), of_parts);
        gpu::check_launch("sum_parts_kernel", grid, kThreads);
    }
    reduce_cuda(Reduction::sum, of_parts, {0}, sums, {.workspace = room, .stream = stream});
    add_broadcast_cuda(sums, d_bias, d_bias, {.stream = stream});
}
template void bias_backward_cuda(View<const float>, View<float>, gpu::Workspace, gpu::Stream);
template void bias_backward_cuda(View<const bf16>, View<float>, gpu::Workspace, gpu::Stream);

std::int64_t linear_backward_workspace_bytes(const View<const float>& in,
                                             const View<const float>& weight,
                                             const View<const float>& grad,
                                             const LinearGradients& d) {
    check_linear_shapes(in, weight, grad, d);
    const View<const float> x = as_matrix(in), g = as_matrix(grad);
    const View<float> d_in(nullptr, x.shape());
    return std::max({matmul_workspace_bytes(g, transpose(weight), d_in),
                     matmul_workspace_bytes(transpose(x), g, d.weight),
                     bias_backward_workspace_bytes(grad)});
}

void linear_backward_cuda(View<const float> in, View<const float> weight, View<const float> grad,
                          View<float> d_in, const LinearGradients& d, gpu::Workspace workspace,
                          gpu::Stream stream) {
    check_linear_backward(in, weight, grad, d_in, d);
    const View<const float> x = as_matrix(in), g = as_matrix(grad);
    const std::int64_t bytes = linear_backward_workspace_bytes(in, weight, grad, d);
    const gpu::Workspace room =
        gpu::carve("linear_backward", workspace, [&](gpu::Carver& c) { return c.lend(bytes); });
    const gpu::Launch<day05_matmul::MatmulPath> how{.workspace = room, .stream = stream};
    matmul_cuda(g, transpose(weight), as_matrix(d_in), how);
    matmul_cuda(transpose(x), g, {1, 1}, d.weight, how);  // 1 * product + 1 * d.weight
    if (d.bias.data != nullptr) bias_backward_cuda(g, d.bias, room, stream);
}

}  // namespace sixdays::day06_transformer_ops
