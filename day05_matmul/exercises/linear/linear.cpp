#include "day05_matmul/exercises/linear/linear.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day05_matmul {

void check_linear(const View<const float>& x, const View<const float>& w,
                  const View<const float>& bias, const View<float>& out) {
    const char* const op = "linear";
    require_rank(op, "x", x, 2);
    require_rank(op, "w", w, 2);
    require_rank(op, "bias", bias, 1);
    require_rank(op, "out", out, 2);
    const std::int64_t T = x.extent(0), C = x.extent(1), OC = w.extent(0);
    if (w.extent(1) != C || bias.extent(0) != OC || out.extent(0) != T || out.extent(1) != OC) {
        reject("linear: x has shape ", x.layout.shape, ", w ", w.layout.shape, ", bias ",
               bias.layout.shape, ", out ", out.layout.shape,
               "; they must be (T, C), (OC, C), (OC) and (T, OC)");
    }
    require_rows_fit(op, "out", out);
    require_memory(op, "x", x);
    require_memory(op, "w", w);
    require_memory(op, "bias", bias);
    require_output(op, out);
    if (overlap(x, out) || overlap(w, out) || overlap(bias, out)) {
        reject("linear: out overlaps an input, which would be overwritten before it is read");
    }
}

}  // namespace sixdays::day05_matmul
