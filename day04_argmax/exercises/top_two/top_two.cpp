#include "day04_argmax/exercises/top_two/top_two.hpp"
#include "common/tensor/arguments.hpp"

namespace sixdays::day04_argmax {

void check_top_two(const View<const float>& in, const View<std::int64_t>& out) {
    const char* const op = "top_two";
    require_rank(op, "in", in, 2);
    require_rank(op, "out", out, 2);
    if (in.extent(1) < 2) {
        reject("top_two: in has shape ", in.shape(), ", but a row needs at least two elements");
    }
    if (out.shape() != Shape{in.extent(0), 2}) {
        reject("top_two: in has shape ", in.shape(), ", so out must have shape ",
               Shape{in.extent(0), 2}, ", not ", out.shape());
    }
    require_memory(op, "in", in);
    require_output(op, out);
    require_same_or_apart(op, "in", in, "out", out);
}

}  // namespace sixdays::day04_argmax
