// What loop and port of the activations' way back refuse.
#include "day06_transformer_ops/training/activation_backward.hpp"

namespace sixdays::day06_transformer_ops {

void check_activate_backward(const View<const float>& in, const View<const float>& grad,
                             const View<float>& out, std::optional<ActivationBackwardPath> path) {
    check_rows<float>("activate_backward", in, out);
    require_same_shape("activate_backward", "grad", grad, "out", out);
    require_memory("activate_backward", "grad", grad);
    require_same_or_apart("activate_backward", "grad", grad, "out", out);
    if (path != ActivationPath::quads || out.size() == 0 ||
        choose_activation<float>(in, grad, out) == path) {
        return;
    }
    refuse(
        "activate_backward: the path 'quads' needs rows of whole quads that begin at multiples of "
        "16 bytes; in has " +
        to_string(in.layout) + ", grad " + to_string(grad.layout) + ", out " +
        to_string(out.layout));
}

}  // namespace sixdays::day06_transformer_ops
