#include "day04_argmax/exercises/running_sum/running_sum.hpp"
#include "common/tensor/arguments.hpp"

namespace sixdays::day04_argmax {

void check_running_sum(const View<const float>& in, const View<float>& out) {
    const char* const op = "running_sum";
    require_rank(op, "in", in, 2);
    require_same_shape(op, "in", in, "out", out);
    require_contiguous(op, "in", in);
    require_contiguous(op, "out", out);
    require_memory(op, "in", in);
    require_memory(op, "out", out);
    if (overlap(in, out)) {
        reject("running_sum: in and out overlap");
    }
}

}  // namespace sixdays::day04_argmax
