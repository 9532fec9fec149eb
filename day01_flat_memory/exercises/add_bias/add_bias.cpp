// Argument checks shared by the CPU reference and the CUDA version.
#include "day01_flat_memory/exercises/add_bias/add_bias.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day01_flat_memory {

void check_add_bias(const View<const float>& in, const View<const float>& bias,
                    const View<float>& out) {
    const char* const op = "add_bias";
    require_rank(op, "out", out, 2);
    require_rows_fit(op, "out", out);
    require_contiguous(op, "out", out);
    require_memory(op, "out", out);
    require_same_shape(op, "in", in, "out", out);
    require_contiguous(op, "in", in);
    require_memory(op, "in", in);
    require_same_or_apart(op, "in", in, "out", out);
    require_rank(op, "bias", bias, 1);
    if (bias.extent(0) != out.extent(1)) {
        reject("add_bias: bias has ", bias.extent(0), " elements, but a row of out has ",
               out.extent(1));
    }
    require_contiguous(op, "bias", bias);
    require_memory(op, "bias", bias);
    if (overlap(bias, out)) reject("add_bias: bias and out overlap");
}

}  // namespace sixdays::day01_flat_memory
