#include "day03_views/exercises/split_heads/split_heads.hpp"

namespace sixdays::day03_views {

void split_heads_cpu(View<const float> in, View<float> out) {
    check_split_heads(in, out);
    const std::int64_t B = out.extent(0), H = out.extent(1), T = out.extent(2), D = out.extent(3);
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < H; ++h) {
            for (std::int64_t t = 0; t < T; ++t) {
                for (std::int64_t c = 0; c < D; ++c) {
                    out(b, h, t, c) = in(b, t, h * D + c);
                }
            }
        }
    }
}

}  // namespace sixdays::day03_views
