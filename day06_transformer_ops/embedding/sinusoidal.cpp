// The argument checks of the sinusoidal positions.
#include "day06_transformer_ops/embedding/sinusoidal.hpp"

#include <cmath>

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {

void check_sinusoidal_positions(const View<float>& out, double base) {
    require_rank("sinusoidal_positions", "out", out, 2);
    require_output("sinusoidal_positions", out);
    if (!(base > 0) || std::isinf(base)) {
        reject("sinusoidal_positions: base is ", base, ", but must be above 0 and finite");
    }
}

}  // namespace sixdays::day06_transformer_ops
