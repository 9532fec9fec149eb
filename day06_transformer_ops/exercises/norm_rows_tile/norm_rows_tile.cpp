#include "day06_transformer_ops/exercises/norm_rows_tile/norm_rows_tile.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {

void check_norm_rows_tile(const View<const float>& in, const View<float>& out) {
    const char* const op = "norm_rows_tile";
    require_rank(op, "in", in, 2);
    require_same_shape(op, "in", in, "out", out);
    if (in.extent(1) > 128) {
        reject("norm_rows_tile: rows have ", in.extent(1), " elements; a tile here holds 128");
    }
    require_contiguous(op, "in", in);
    require_contiguous(op, "out", out);
    require_memory(op, "in", in);
    require_memory(op, "out", out);
    if (overlap(in, out)) reject("norm_rows_tile: in and out overlap");
}

}  // namespace sixdays::day06_transformer_ops
