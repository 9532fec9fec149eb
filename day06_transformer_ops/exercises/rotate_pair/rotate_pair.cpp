#include "day06_transformer_ops/exercises/rotate_pair/rotate_pair.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day06_transformer_ops {

void check_rotate_pair(const View<const float>& in, const View<const float>& table,
                       std::int64_t first, const View<float>& out) {
    const char* const op = "rotate_pair";
    require_rank(op, "in", in, 3);
    require_rank(op, "table", table, 2);
    require_same_shape(op, "in", in, "out", out);
    const std::int64_t T = in.extent(0), D = in.extent(2), P = table.extent(0);
    if (D % 2 != 0) reject("rotate_pair: heads have ", D, " numbers, which must be an even number");
    if (table.extent(1) != D) {
        reject("rotate_pair: in has shape ", in.shape(), ", so table must have shape (P, ", D,
               "), not ", table.shape());
    }
    if (first < 0 || first > P - T) {
        reject("rotate_pair: first is ", first, ", but with ", T, " tokens and ", P,
               " positions it must be 0 .. ", P - T);
    }
    const View<const float> all[] = {in, table, out};
    const char* const names[] = {"in", "table", "out"};
    for (int i = 0; i < 3; ++i) {
        require_contiguous(op, names[i], all[i]);
        require_memory(op, names[i], all[i]);
    }
    if (in.data != out.data && overlap(in, out)) {
        reject("rotate_pair: in and out overlap, and are not the same");
    }
    if (overlap(table, out)) reject("rotate_pair: table and out overlap");
}

}  // namespace sixdays::day06_transformer_ops
