#include "day06_transformer_ops/exercises/causal_row/causal_row.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {

void check_causal_row(const View<const float>& q, const View<const float>& k,
                      const View<const float>& v, const View<float>& out) {
    const char* const op = "causal_row";
    require_rank(op, "q", q, 2);
    require_same_shape(op, "q", q, "k", k);
    require_same_shape(op, "q", q, "v", v);
    require_same_shape(op, "q", q, "out", out);
    if (q.extent(1) < 1 || q.extent(1) > 32) {
        reject("causal_row: q has shape ", q.shape(),
               ", but a head must have 1 to 32 channels here, one per lane");
    }
    require_memory(op, "q", q);
    require_memory(op, "k", k);
    require_memory(op, "v", v);
    require_output(op, out);
    if (overlap(q, out) || overlap(k, out) || overlap(v, out)) {
        reject("causal_row: out overlaps an input, which would be overwritten before it is read");
    }
}

}  // namespace sixdays::day06_transformer_ops
