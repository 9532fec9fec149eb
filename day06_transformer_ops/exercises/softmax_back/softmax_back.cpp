#include "day06_transformer_ops/exercises/softmax_back/softmax_back.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {

void check_softmax_back(const View<const float>& p, const View<const float>& grad,
                        const View<float>& d_in) {
    const char* const op = "softmax_back";
    require_rank(op, "p", p, 2);
    require_same_shape(op, "p", p, "grad", grad);
    require_same_shape(op, "p", p, "d_in", d_in);
    const View<const float> all[] = {p, grad, d_in};
    const char* const names[] = {"p", "grad", "d_in"};
    for (int i = 0; i < 3; ++i) {
        require_contiguous(op, names[i], all[i]);
        require_memory(op, names[i], all[i]);
        if (i < 2 && overlap(all[i], d_in)) {
            reject("softmax_back: ", names[i], " and d_in overlap");
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
