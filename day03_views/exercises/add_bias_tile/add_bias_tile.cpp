#include "day03_views/exercises/add_bias_tile/add_bias_tile.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day03_views {

void check_add_bias_tile(const View<const float>& in, const View<const float>& bias,
                         const View<float>& out) {
    const char* const op = "add_bias_tile";
    require_rank(op, "in", in, 2);
    require_same_shape(op, "in", in, "out", out);
    if (bias.shape() != Shape{out.extent(1)}) {
        reject("add_bias_tile: bias has shape ", bias.shape(), ", out has ", out.shape(),
               "; bias must have one element per column");
    }
    if (out.extent(1) > kMostColumns) {
        reject("add_bias_tile: out has ", out.extent(1), " columns, ", kMostColumns,
               " are allowed: 65,535 tiles of 32, the limit of a grid's y");
    }
    if ((in.extent(1) > 1 && in.stride(1) != 1) || (in.extent(0) > 1 && in.stride(0) < 0)) {
        reject("add_bias_tile: in has ", in.layout,
               "; the last dimension must have stride 1, and no stride may be negative");
    }
    require_contiguous(op, "bias", bias);
    require_contiguous(op, "out", out);
    require_memory(op, "in", in);
    require_memory(op, "bias", bias);
    require_memory(op, "out", out);
    if (overlap(in, out)) reject("add_bias_tile: in and out overlap");
    if (overlap(bias, out)) reject("add_bias_tile: bias and out overlap");
}

}  // namespace sixdays::day03_views
