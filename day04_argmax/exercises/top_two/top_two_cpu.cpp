#include "day04_argmax/exercises/top_two/top_two.hpp"

namespace sixdays::day04_argmax {

void top_two_cpu(View<const float> in, View<std::int64_t> out) {
    check_top_two(in, out);
    for (std::int64_t m = 0; m < in.extent(0); ++m) {
        // Element 1 comes first only if it is better.
        std::int64_t first = beats(in(m, 1), in(m, 0)) ? 1 : 0;
        std::int64_t second = 1 - first;
        for (std::int64_t n = 2; n < in.extent(1); ++n) {
            if (beats(in(m, n), in(m, first))) {
                second = first;
                first = n;
            } else if (beats(in(m, n), in(m, second))) {
                second = n;
            }
        }
        out(m, 0) = first;
        out(m, 1) = second;
    }
}

}  // namespace sixdays::day04_argmax
