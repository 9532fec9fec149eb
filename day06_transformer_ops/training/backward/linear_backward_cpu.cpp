// The CPU reference: two products and a sum.
#include "common/tensor/tensor.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/broadcast.hpp"
#include "day04_argmax/reduce.hpp"
#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"

namespace sixdays::day06_transformer_ops {

using day03_views::add_broadcast_cpu;
using day04_argmax::reduce_cpu, day04_argmax::Reduction;
using day05_matmul::matmul_cpu;

void linear_backward_cpu(View<const float> in, View<const float> weight, View<const float> grad,
                         View<float> d_in, const LinearGradients& d) {
    check_linear_backward(in, weight, grad, d_in, d);
    const View<const float> x = as_matrix(in), g = as_matrix(grad);
    Tensor<float> sums({weight.extent(1)});
    // [linear_backward]
    matmul_cpu(g, transpose(weight), as_matrix(d_in));
    matmul_cpu(transpose(x), g, {1, 1}, d.weight);  // 1 * product + 1 * d.weight
    if (d.bias.data != nullptr) {
        reduce_cpu(Reduction::sum, g, {0}, sums.view());
        add_broadcast_cpu(sums.view(), d.bias, d.bias);
    }
    // [linear_backward]
}

}  // namespace sixdays::day06_transformer_ops
