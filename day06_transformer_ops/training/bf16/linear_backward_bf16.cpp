// The argument checks of linear_backward_bf16.
#include "day06_transformer_ops/training/bf16/linear_backward_bf16.hpp"

#include "day05_matmul/matmul_bf16.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"
#include "day06_transformer_ops/training/reject.hpp"

namespace sixdays::day06_transformer_ops {

void check_linear_backward_bf16(const View<const bf16>& in, const View<const bf16>& weight,
                                const View<const bf16>& grad, const View<float>& d_in,
                                const View<float>& d_weight) {
    constexpr const char* kOp = "linear_backward_bf16";
    require_rows(kOp, "in", in);
    require_rows(kOp, "grad", grad);
    require_rank(kOp, "weight", weight, 2);
    Shape rows = in.shape();
    rows[rows.rank - 1] = weight.extent(1);
    require_extents(kOp, "grad", grad, rows);
    require_extents(kOp, "d_in", d_in, in.shape());
    require_apart(kOp, "in", in, "d_in", d_in);
    require_apart(kOp, "weight", weight, "d_weight", d_weight);
    require_apart(kOp, "d_in", d_in, "d_weight", d_weight);
    // The products check the rest, before the first of them writes.
    const View<const bf16> x = as_matrix(in), g = as_matrix(grad);
    day05_matmul::check_matmul_bf16<bf16>(g, transpose(weight), {}, as_matrix(d_in));
    day05_matmul::check_matmul_bf16<bf16>(transpose(x), g, {1, 1}, d_weight);
}

}  // namespace sixdays::day06_transformer_ops
