#include "day06_transformer_ops/exercises/add_rms_norm/add_rms_norm.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {

void check_add_rms_norm(const View<const float>& in, const View<const float>& weight, float eps,
                        const View<float>& residual, const View<float>& out) {
    const char* const op = "add_rms_norm";
    require_rank(op, "in", in, 2);
    require_rank(op, "weight", weight, 1);
    require_same_shape(op, "in", in, "residual", residual);
    require_same_shape(op, "in", in, "out", out);
    if (weight.extent(0) != in.extent(1)) {
        reject("add_rms_norm: in has shape ", in.shape(), ", so weight must have shape (",
               in.extent(1), "), not ", weight.shape());
    }
    if (!(eps > 0)) {
        reject("add_rms_norm: eps is ", eps, ", but it must be positive");
    }
    const View<const float> all[] = {in, weight, residual, out};
    const char* const names[] = {"in", "weight", "residual", "out"};
    for (int i = 0; i < 4; ++i) {
        require_contiguous(op, names[i], all[i]);
        require_memory(op, names[i], all[i]);
        for (int j = 0; j < i; ++j) {
            if (overlap(all[i], all[j])) {
                reject("add_rms_norm: ", names[j], " and ", names[i], " overlap");
            }
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
