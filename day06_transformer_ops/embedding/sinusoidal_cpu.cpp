// The CPU reference.
#include <cmath>

#include "day06_transformer_ops/embedding/sinusoidal.hpp"

namespace sixdays::day06_transformer_ops {

void sinusoidal_positions_cpu(View<float> out, double base) {
    check_sinusoidal_positions(out, base);
    const std::int64_t P = out.extent(0), C = out.extent(1);
    for (std::int64_t p = 0; p < P; ++p) {
        for (std::int64_t c = 0; c < C; ++c) {
            const double pair = static_cast<double>(c / 2 * 2) / static_cast<double>(C);
            const double angle = static_cast<double>(p) / std::pow(base, pair);
            out(p, c) = static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
        }
    }
}

}  // namespace sixdays::day06_transformer_ops
