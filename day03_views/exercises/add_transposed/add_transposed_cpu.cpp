#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/exercises/add_transposed/add_transposed.hpp"

namespace sixdays::day03_views {

void add_transposed_cpu(View<const float> a, View<float> out) {
    check_add_transposed(a, out);
    const View<const float> t = transpose(a);
    const std::int64_t N = out.extent(0);
    for (std::int64_t m = 0; m < N; ++m) {
        for (std::int64_t n = 0; n < N; ++n) {
            out(m, n) = a(m, n) + t(m, n);
        }
    }
}

void check_add_transposed(const View<const float>& a, const View<float>& out) {
    const char* const op = "add_transposed";
    require_rank(op, "a", a, 2);
    if (a.extent(0) != a.extent(1)) {
        refuse("add_transposed: a has shape " + to_string(a.layout.shape) +
               ", but only a square matrix has the shape of its transpose");
    }
    require_same_shape(op, "a", a, "out", out);
    require_contiguous(op, "a", a);
    require_contiguous(op, "out", out);
    require_memory(op, "a", a);
    require_memory(op, "out", out);
    if (overlap(a, out)) {
        refuse(
            "add_transposed: a and out overlap; elements would be overwritten before they were "
            "read");
    }
}

}  // namespace sixdays::day03_views
