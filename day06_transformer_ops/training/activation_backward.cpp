// What loop and port of the activations' way back refuse.
#include "day06_transformer_ops/training/activation_backward.hpp"

namespace sixdays::day06_transformer_ops {

void check_activate_backward(const View<const float>& in, const View<const float>& grad,
                             const View<float>& out) {
    check_rows<float>("activate_backward", in, out);
    require_same_shape("activate_backward", "grad", grad, "out", out);
    require_memory("activate_backward", "grad", grad);
    require_same_or_apart("activate_backward", "grad", grad, "out", out);
}

}  // namespace sixdays::day06_transformer_ops
