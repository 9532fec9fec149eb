#include "day06_transformer_ops/exercises/softmax_rows/softmax_rows.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {

void check_softmax_rows(const View<const float>& in, const View<float>& out) {
    const char* const op = "softmax_rows";
    require_rank(op, "in", in, 2);
    require_same_shape(op, "in", in, "out", out);
    require_contiguous(op, "in", in);
    require_contiguous(op, "out", out);
    require_memory(op, "in", in);
    require_memory(op, "out", out);
    if (overlap(in, out)) {
        reject("softmax_rows: in and out overlap");
    }
}

}  // namespace sixdays::day06_transformer_ops
