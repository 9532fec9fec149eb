// What loop and port of layer norm's way back refuse, and what the port keeps.
#include "day06_transformer_ops/training/layer_norm_backward.hpp"

#include "day06_transformer_ops/training/refuse.hpp"

namespace sixdays::day06_transformer_ops {

void check_layer_norm_backward(const View<const float>& in, const NormParameters& parameters,
                               const View<const float>& grad, const View<float>& d_in,
                               const NormGradients& d) {
    constexpr const char* kOp = "layer_norm_backward";
    check_norm<float>(in, parameters, d_in);  // as the norm that writes d_in would refuse
    require_same_shape(kOp, "in", in, "grad", grad);
    require_memory(kOp, "grad", grad);
    require_apart(kOp, "in", in, "d_in", d_in);
    require_apart(kOp, "grad", grad, "d_in", d_in);
    const Shape row = {in.extent(in.rank() - 1)};
    const auto check = [&](const char* name, const View<float>& of) {
        if (of.data == nullptr) return;
        require_gradient(kOp, name, of, row);
        require_apart(kOp, "in", in, name, of);
        require_apart(kOp, "grad", grad, name, of);
        require_apart(kOp, "d_in", d_in, name, of);
        if (parameters.weight.data != nullptr) {
            require_apart(kOp, "weight", parameters.weight, name, of);
        }
    };
    check("d_weight", d.weight);
    check("d_bias", d.bias);
    if (d.weight.data != nullptr && d.bias.data != nullptr) {
        require_apart(kOp, "d_bias", d.bias, "d_weight", d.weight);
    }
}

View<float> layer_norm_rows(gpu::Carver& carver, const View<const float>& in) {
    return carver.take<float>({rows_along(in, in.rank() - 1).count(), 2});
}

std::int64_t layer_norm_backward_workspace_bytes(const View<const float>& in) {
    if (in.rank() == 0) {
        refuse("layer_norm_backward: in has rank 0, but rows lie along the last dim");
    }
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return layer_norm_rows(c, in); });
}

}  // namespace sixdays::day06_transformer_ops
