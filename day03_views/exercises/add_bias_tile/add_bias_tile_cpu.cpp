#include "day03_views/exercises/add_bias_tile/add_bias_tile.hpp"

namespace sixdays::day03_views {

void add_bias_tile_cpu(View<const float> in, View<const float> bias, View<float> out) {
    check_add_bias_tile(in, bias, out);
    for (std::int64_t m = 0; m < out.extent(0); ++m) {
        for (std::int64_t n = 0; n < out.extent(1); ++n) {
            out(m, n) = in(m, n) + bias(n);
        }
    }
}

}  // namespace sixdays::day03_views
