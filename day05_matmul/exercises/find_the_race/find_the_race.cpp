#include "day05_matmul/exercises/find_the_race/find_the_race.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day05_matmul {

void check_find_the_race(const View<const float>& a, const View<const float>& b,
                         const View<float>& out) {
    const char* const op = "find_the_race";
    require_rank(op, "a", a, 2);
    if (a.extent(0) != a.extent(1)) {
        reject("find_the_race: a has shape ", a.layout.shape, ", but it must be square");
    }
    require_same_shape(op, "a", a, "b", b);
    require_same_shape(op, "a", a, "out", out);
    require_contiguous(op, "a", a);
    require_contiguous(op, "b", b);
    require_contiguous(op, "out", out);
    require_memory(op, "a", a);
    require_memory(op, "b", b);
    require_memory(op, "out", out);
    if (overlap(a, out) || overlap(b, out)) {
        reject(
            "find_the_race: out overlaps an input, which would be overwritten while it is still "
            "being read");
    }
}

}  // namespace sixdays::day05_matmul
