// The argument checks of the activations' backward pass.
#include "day06_transformer_ops/training/backward/activation_backward.hpp"

#include <utility>

#include "common/tensor/names.hpp"
#include "day06_transformer_ops/training/reject.hpp"

namespace sixdays::day06_transformer_ops {

template <class T>
void check_activate_backward(const View<const Same<T>>& in, const View<const Same<T>>& grad,
                             const View<T>& out, std::optional<ActivationBackwardPath> path) {
    check_rows<T>("activate_backward", in, out);
    require_same_shape("activate_backward", "grad", grad, "out", out);
    require_memory("activate_backward", "grad", grad);
    require_same_or_apart("activate_backward", "grad", grad, "out", out);
    require_known_path("activate_backward", path);
    if (path == ActivationPath::tile) {
        reject(
            "activate_backward: the path 'tile' exists only for the forward pass; without a path "
            "the backward pass takes 'one element' or 'vectorized'");
    }
    if (path != ActivationPath::vectorized || out.size() == 0 ||
        choose_activation<T>(in, grad, out) == path) {
        return;
    }
    reject(
        "activate_backward: the path 'vectorized' needs rows of whole vectors that begin at "
        "multiples of "
        "16 bytes; in has ",
        in.layout, ", grad ", grad.layout, ", out ", out.layout);
}
template void check_activate_backward(const View<const float>&, const View<const float>&,
                                      const View<float>&, std::optional<ActivationBackwardPath>);
template void check_activate_backward(const View<const bf16>&, const View<const bf16>&,
                                      const View<bf16>&, std::optional<ActivationBackwardPath>);

void check_activate_gated_backward(const View<const float>& gate, const View<const float>& in,
                                   const View<const float>& grad, const View<float>& d_gate,
                                   const View<float>& d_in) {
    constexpr const char* kOp = "activate_gated_backward";
    require_memory(kOp, "gate", gate);
    require_shape(kOp, "in", in, gate.shape());
    require_shape(kOp, "grad", grad, gate.shape());
    require_gradient(kOp, "d_gate", d_gate, gate.shape());
    require_gradient(kOp, "d_in", d_in, gate.shape());
    for (const auto& [name, written] : {std::pair{"d_gate", d_gate}, {"d_in", d_in}}) {
        require_apart(kOp, "gate", gate, name, written);
        require_apart(kOp, "in", in, name, written);
        require_apart(kOp, "grad", grad, name, written);
    }
    require_apart_or_between(kOp, "d_gate", d_gate, "d_in", d_in);
}

}  // namespace sixdays::day06_transformer_ops
