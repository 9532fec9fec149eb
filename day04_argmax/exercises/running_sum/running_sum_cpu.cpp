#include "day04_argmax/exercises/running_sum/running_sum.hpp"

namespace sixdays::day04_argmax {

void running_sum_cpu(View<const float> in, View<float> out) {
    check_running_sum(in, out);
    for (std::int64_t m = 0; m < in.extent(0); ++m) {
        float sum = 0;
        for (std::int64_t n = 0; n < in.extent(1); ++n) {
            sum += in(m, n);
            out(m, n) = sum;
        }
    }
}

}  // namespace sixdays::day04_argmax
