#include "day06_transformer_ops/exercises/rotate_pair/rotate_pair.hpp"

namespace sixdays::day06_transformer_ops {

void rotate_pair_cpu(View<const float> in, View<const float> table, std::int64_t first,
                     View<float> out) {
    check_rotate_pair(in, table, first, out);
    const std::int64_t half = in.extent(2) / 2;
    for (std::int64_t t = 0; t < in.extent(0); ++t) {
        for (std::int64_t h = 0; h < in.extent(1); ++h) {
            for (std::int64_t i = 0; i < half; ++i) {
                const float a = in(t, h, 2 * i), b = in(t, h, 2 * i + 1);
                const float c = table(first + t, i), s = table(first + t, half + i);
                out(t, h, 2 * i) = a * c - b * s;
                out(t, h, 2 * i + 1) = a * s + b * c;
            }
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
