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

}  // namespace sixdays::day03_views
