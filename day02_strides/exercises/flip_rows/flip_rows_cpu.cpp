#include "day02_strides/exercises/flip_rows/flip_rows.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day02_strides {
namespace {

// One loop for any two layouts: it does not know that `in` goes backwards.
void copy_loop(View<const float> in, View<float> out) {
    for (std::int64_t m = 0; m < out.extent(0); ++m) {
        for (std::int64_t k = 0; k < out.extent(1); ++k) {
            out(m, k) = in(m, k);
        }
    }
}

}  // namespace

void flip_rows_cpu(View<const float> in, View<float> out) {
    check_flip_rows(in, out);
    if (out.size() == 0) return;
    // Index (0, 0) of the flipped view is (M - 1, 0) of the other; one row on is one row back.
    const std::int64_t M = in.extent(0);
    View<const float> flipped = in;
    flipped.data = in.data + (M - 1) * in.stride(0);
    flipped.stride(0) = -in.stride(0);
    copy_loop(flipped, out);
}

void check_flip_rows(const View<const float>& in, const View<float>& out) {
    const char* const op = "flip_rows";
    require_rank(op, "out", out, 2);
    require_same_shape(op, "in", in, "out", out);
    if (out.extent(0) > 65535 * 8) {
        refuse("flip_rows: out has " + std::to_string(out.extent(0)) +
               " rows, but a grid of 65,535 blocks of 8 rows ends at 524280");
    }
    require_injective(op, "out", out);
    require_memory(op, "out", out);
    require_memory(op, "in", in);
    if (overlap(in, out)) refuse("flip_rows: in and out overlap");
}

}  // namespace sixdays::day02_strides
