#include "day05_matmul/exercises/find_the_race/find_the_race.hpp"

namespace sixdays::day05_matmul {

void find_the_race_cpu(View<const float> a, View<const float> b, View<float> out) {
    check_find_the_race(a, b, out);
    const std::int64_t N = out.extent(0);
    for (std::int64_t m = 0; m < N; ++m) {
        for (std::int64_t n = 0; n < N; ++n) {
            float sum = 0;
            for (std::int64_t k = 0; k < N; ++k) {
                sum += a(m, k) * b(k, n);
            }
            out(m, n) = sum;
        }
    }
}

}  // namespace sixdays::day05_matmul
