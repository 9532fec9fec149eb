// The CUDA version: two products and a sum. This file has no kernel: every line calls one.
#include <algorithm>

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

// The sums for a bias, and their workspace.
struct Sums {
    gpu::Workspace room;
    View<float> of_rows;  // (parts, N): partial sums over 64 rows each
    View<float> all;      // (N)
};

// Few columns and many rows keep few threads busy. So this is a two-pass reduction: sums over 64
// rows each, then the sum of these. (parts, 64, N); one part if 64 does not divide the rows.
View<const float> in_parts(const View<const float>& g) {
    constexpr std::int64_t kRows = 64;
    const std::int64_t parts = g.extent(0) % kRows == 0 ? g.extent(0) / kRows : 1;
    return reshape(g, {parts, parts == 1 ? g.extent(0) : kRows, g.extent(1)});
}

Sums sums_of(gpu::Carver& carver, const View<const float>& g) {
    const View<float> of_rows(nullptr, Shape{in_parts(g).extent(0), g.extent(1)});
    Sums sums;
    sums.room = carver.lend(
        std::max(reduce_workspace_bytes(in_parts(g), {1}), reduce_workspace_bytes(of_rows, {0})));
    sums.of_rows = carver.take<float>(of_rows.shape());
    sums.all = carver.take<float>({g.extent(1)});
    return sums;
}

}  // namespace

std::int64_t bias_backward_workspace_bytes(const View<const float>& grad) {
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return sums_of(c, as_matrix(grad)); });
}

void bias_backward_cuda(View<const float> grad, View<float> d_bias, gpu::Workspace workspace,
                        gpu::Stream stream) {
    check_bias_backward(grad, d_bias);
    const View<const float> g = as_matrix(grad);
    const auto [room, of_rows, sums] =
        gpu::carve("bias_backward", workspace, [&](gpu::Carver& c) { return sums_of(c, g); });
    const gpu::Launch<day04_argmax::ReducePath> how{.workspace = room, .stream = stream};
    reduce_cuda(Reduction::sum, in_parts(g), {1}, of_rows, how);
    reduce_cuda(Reduction::sum, of_rows, {0}, sums, how);
    add_broadcast_cuda(sums, d_bias, d_bias, {.stream = stream});
}

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
