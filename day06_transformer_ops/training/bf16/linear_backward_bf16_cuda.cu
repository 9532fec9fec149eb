// The CUDA version. The paths of matmul_bf16 accept K-major and MN-major operands, so all of these
// are read in place, and none is copied to be transposed.
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul_bf16.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"
#include "day06_transformer_ops/training/bf16/linear_backward_bf16.hpp"

namespace sixdays::day06_transformer_ops {

using day05_matmul::matmul_bf16_cuda;

template <class In>
void linear_backward_bf16_cuda(View<const bf16> in, View<const bf16> weight, View<const bf16> grad,
                               View<In> d_in, View<float> d_weight, gpu::Stream stream) {
    check_linear_backward_bf16(in, weight, grad, d_in, d_weight);
    const View<const bf16> x = as_matrix(in), g = as_matrix(grad);
    matmul_bf16_cuda<bf16>(g, transpose(weight), {}, as_matrix(d_in), {.stream = stream});
    // The matrix is stored (out, in), and a product writes along the rows of its output. So this
    // computes the transpose of inᵀ . grad, which is gradᵀ . in.
    matmul_bf16_cuda<bf16>(transpose(g), x, {1, 1}, transpose(d_weight), {.stream = stream});
}
template void linear_backward_bf16_cuda(View<const bf16>, View<const bf16>, View<const bf16>,
                                        View<float>, View<float>, gpu::Stream);
template void linear_backward_bf16_cuda(View<const bf16>, View<const bf16>, View<const bf16>,
                                        View<bf16>, View<float>, gpu::Stream);

}  // namespace sixdays::day06_transformer_ops
