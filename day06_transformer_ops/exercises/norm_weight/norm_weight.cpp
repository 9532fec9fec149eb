#include "day06_transformer_ops/exercises/norm_weight/norm_weight.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {

void check_norm_weight(const View<const float>& in, const View<const float>& rows,
                       const View<const float>& grad, const View<float>& d_weight) {
    const char* const op = "norm_weight";
    require_rank(op, "in", in, 2);
    require_same_shape(op, "in", in, "grad", grad);
    const auto demand = [&](const char* name, const Shape& shape, const Shape& wanted) {
        if (shape == wanted) return;
        reject("norm_weight: in has shape ", in.shape(), ", so ", name, " must have shape ", wanted,
               ", not ", shape);
    };
    demand("rows", rows.shape(), {in.extent(0), 2});
    demand("d_weight", d_weight.shape(), {in.extent(1)});
    const View<const float> all[] = {in, rows, grad, d_weight};
    const char* const names[] = {"in", "rows", "grad", "d_weight"};
    for (int i = 0; i < 4; ++i) {
        require_contiguous(op, names[i], all[i]);
        require_memory(op, names[i], all[i]);
        if (i < 3 && overlap(all[i], d_weight)) {
            reject("norm_weight: ", names[i], " and d_weight overlap");
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
