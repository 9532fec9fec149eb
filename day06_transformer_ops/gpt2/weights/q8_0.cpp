// What the loop over Q8_0 blocks refuses.
#include "day06_transformer_ops/gpt2/weights/q8_0.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {

void check_dequantise_q8_0(const View<const Q8Block>& in, const View<float>& out) {
    const char* const op = "dequantise_q8_0";
    require_rank(op, "in", in, 2);
    require_rank(op, "out", out, 2);
    // Divided and not multiplied: an absurd number of blocks must not overflow.
    if (out.extent(1) % kQ8Block != 0 || out.extent(1) / kQ8Block != in.extent(1)) {
        refuse("dequantise_q8_0: out has " + std::to_string(out.extent(1)) +
               " columns, but in has " + std::to_string(in.extent(1)) + " blocks of 32 a row");
    }
    if (out.extent(0) != in.extent(0)) {
        refuse("dequantise_q8_0: out has " + std::to_string(out.extent(0)) + " rows, but in has " +
               std::to_string(in.extent(0)));
    }
    require_memory(op, "in", in);
    require_output(op, out);
    if (overlap(in, out)) refuse("dequantise_q8_0: in and out overlap");
}

}  // namespace sixdays::gpt2
