// The argument checks for Q8_0 blocks.
#include "day06_transformer_ops/gpt2/weights/q8_0.hpp"

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/weights/quantise.hpp"

namespace sixdays::gpt2 {

namespace {

// Weights (N, K) and blocks (N, K/32), of which one is read and one is written.
template <class In, class Out, class Weights, class Blocks>
void check_q8_0(const char* op, const In& in, const Out& out, const Weights& weights,
                const char* of_weights, const Blocks& blocks, const char* of_blocks) {
    require_rank(op, "in", in, 2);
    require_rank(op, "out", out, 2);
    // A division, since a product with a huge number of blocks would overflow.
    if (weights.extent(1) % kQ8Block != 0 || weights.extent(1) / kQ8Block != blocks.extent(1)) {
        reject(op, ": ", of_weights, " has ", weights.extent(1), " columns, but ", of_blocks,
               " has ", blocks.extent(1), " blocks of 32 per row");
    }
    if (out.extent(0) != in.extent(0)) {
        reject(op, ": out has ", out.extent(0), " rows, but in has ", in.extent(0));
    }
    require_memory(op, "in", in);
    require_output(op, out);
    if (overlap(in, out)) reject(op, ": in and out overlap");
}

}  // namespace

void check_dequantise_q8_0(const View<const Q8Block>& in, const View<float>& out) {
    check_q8_0("dequantise_q8_0", in, out, out, "out", in, "in");
}
void check_quantise_q8_0(const View<const float>& in, const View<Q8Block>& out) {
    check_q8_0("quantise_q8_0", in, out, in, "in", out, "out");
}

}  // namespace sixdays::gpt2
