#include "day03_views/exercises/add_transposed/add_transposed.hpp"
#include "common/tensor/arguments.hpp"

namespace sixdays::day03_views {

void check_add_transposed(const View<const float>& a, const View<float>& out) {
    const char* const op = "add_transposed";
    require_rank(op, "a", a, 2);
    if (a.extent(0) != a.extent(1)) {
        reject("add_transposed: a has shape ", a.shape(),
               ", but it must be square to be added to its transpose");
    }
    require_same_shape(op, "a", a, "out", out);
    require_contiguous(op, "a", a);
    require_contiguous(op, "out", out);
    require_memory(op, "a", a);
    require_memory(op, "out", out);
    if (overlap(a, out)) {
        reject(
            "add_transposed: a and out overlap; elements of a would be overwritten before they "
            "are read");
    }
}

}  // namespace sixdays::day03_views
