// The CPU reference.
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul_bf16.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"
#include "day06_transformer_ops/training/bf16/linear_backward_bf16.hpp"

namespace sixdays::day06_transformer_ops {

using day05_matmul::matmul_bf16_cpu;

template <class In>
void linear_backward_bf16_cpu(View<const bf16> in, View<const bf16> weight, View<const bf16> grad,
                              View<In> d_in, View<float> d_weight) {
    check_linear_backward_bf16(in, weight, grad, d_in, d_weight);
    const View<const bf16> x = as_matrix(in), g = as_matrix(grad);
    matmul_bf16_cpu<bf16>(g, transpose(weight), {}, as_matrix(d_in));
    matmul_bf16_cpu<bf16>(transpose(x), g, {1, 1}, d_weight);
}
template void linear_backward_bf16_cpu(View<const bf16>, View<const bf16>, View<const bf16>,
                                       View<float>, View<float>);
template void linear_backward_bf16_cpu(View<const bf16>, View<const bf16>, View<const bf16>,
                                       View<bf16>, View<float>);

}  // namespace sixdays::day06_transformer_ops
