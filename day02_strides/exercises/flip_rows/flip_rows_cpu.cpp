#include "day02_strides/exercises/flip_rows/flip_rows.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day02_strides {
namespace {

void flip_rows_loop(View<const float> in, View<float> out) {
    const std::int64_t M = in.extent(0), K = in.extent(1);
    for (std::int64_t m = 0; m < M; ++m) {
        for (std::int64_t k = 0; k < K; ++k) {
            out(m, k) = in(M - 1 - m, k);
        }
    }
}

}  // namespace

void flip_rows_cpu(View<const float> in, View<float> out) {
    check_flip_rows(in, out);
    flip_rows_loop(in, out);
}

void check_flip_rows(const View<const float>& in, const View<float>& out) {
    const char* const op = "flip_rows";
    require_rank(op, "out", out, 2);
    require_same_shape(op, "in", in, "out", out);
    if (out.extent(0) > 65535 * 8) {
        reject("flip_rows: out has ", out.extent(0),
               " rows, but a grid of 65,535 blocks of 8 rows covers only 524280");
    }
    require_injective(op, "out", out);
    require_memory(op, "out", out);
    require_memory(op, "in", in);
    if (overlap(in, out)) reject("flip_rows: in and out overlap");
}

}  // namespace sixdays::day02_strides
