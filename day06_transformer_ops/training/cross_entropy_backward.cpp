// What loop and port of cross-entropy's way back refuse.
#include "day06_transformer_ops/training/cross_entropy_backward.hpp"

#include "day06_transformer_ops/training/refuse.hpp"

namespace sixdays::day06_transformer_ops {

void check_cross_entropy_backward(const View<const float>& logits,
                                  const View<const std::int64_t>& targets,
                                  const View<const float>& grad, const View<float>& out) {
    constexpr const char* kOp = "cross_entropy_backward";
    if (logits.rank() == 0 || logits.extent(logits.rank() - 1) == 0) {
        refuse(std::string(kOp) + ": logits have shape " + to_string(logits.shape()) +
               ", but need a last dim with at least one logit");
    }
    const Shape rows = rows_along(logits, logits.rank() - 1).first.layout.shape;
    check_rows<float>(kOp, logits, out);
    require_shape(kOp, "targets", targets, rows);
    (void)stretched(kOp, "grad", grad, rows);
    require_apart(kOp, "targets", targets, "out", out);
    require_apart(kOp, "grad", grad, "out", out);
}

}  // namespace sixdays::day06_transformer_ops
