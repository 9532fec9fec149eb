#include <cmath>

#include "day06_transformer_ops/exercises/norm_rows_tile/norm_rows_tile.hpp"

namespace sixdays::day06_transformer_ops {

void norm_rows_tile_cpu(View<const float> in, View<float> out) {
    check_norm_rows_tile(in, out);
    const std::int64_t N = in.extent(1);
    const float count = static_cast<float>(N);
    for (std::int64_t m = 0; m < in.extent(0); ++m) {
        float sum = 0;
        for (std::int64_t n = 0; n < N; ++n) {
            sum += in(m, n);
        }
        const float mean = sum / count;
        float squares = 0;
        for (std::int64_t n = 0; n < N; ++n) {
            squares += (in(m, n) - mean) * (in(m, n) - mean);
        }
        const float root = std::sqrt(squares / count + 1e-5f);
        for (std::int64_t n = 0; n < N; ++n) {
            out(m, n) = (in(m, n) - mean) / root;
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
