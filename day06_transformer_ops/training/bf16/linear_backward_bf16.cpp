// The argument checks of linear_backward_bf16.
#include "day06_transformer_ops/training/bf16/linear_backward_bf16.hpp"

#include "day06_transformer_ops/training/backward/linear_backward.hpp"

namespace sixdays::day06_transformer_ops {

template <class In>
void check_linear_backward_bf16(const View<const bf16>& in, const View<const bf16>& weight,
                                const View<const bf16>& grad, const View<In>& d_in,
                                const View<float>& d_weight) {
    require_linear_backward("linear_backward_bf16", in, weight, grad, d_in, {d_weight});
}
template void check_linear_backward_bf16(const View<const bf16>&, const View<const bf16>&,
                                         const View<const bf16>&, const View<float>&,
                                         const View<float>&);
template void check_linear_backward_bf16(const View<const bf16>&, const View<const bf16>&,
                                         const View<const bf16>&, const View<bf16>&,
                                         const View<float>&);

}  // namespace sixdays::day06_transformer_ops
