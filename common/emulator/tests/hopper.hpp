/// @file
/// One 64 x 128 product of a warpgroup on Hopper, correct or with one planted bug.
#pragma once

#include "common/tensor/half.hpp"

namespace sixdays::emulator::tests {

enum class Wrong {
    nothing,
    operand_reused,  // correct: after the wait, each thread stores to the operands
    columns,         // correct: both operands are transposed, a (64, 64) and b (64, 128)
    barrier_not_set_up,
    fewer_bytes_told,
    more_bytes_told,
    told_twice,
    not_waited_for,
    other_parity,
    waited_for_twice,
    parity_counted,
    tile_off_its_place,
    operand_leaves,
    half_a_group,
    other_operands,
    some_replace,  // some threads overwrite the accumulators, others add to them
    sums_read_early,
    first_sums_read_early,     // the first of two products
    continued_and_read_early,  // after a second product into the same accumulators
    other_sums_named,          // the wait names other accumulators
    no_fence,
    fence_of_another_group,
    set_up_unseen,
    two_blocks_one_output,
};
/// out (64, 128) = a (64, 64) times the transpose of b (128, 64); all row-major.
void warpgroup_product(Wrong wrong, const bf16* a, const bf16* b, float* out);
/// The same with a in registers. Accumulators start as NaN, and the first product overwrites them.
/// @param reads  reads of a by the last thread before the product
void product_from_registers(int reads, const bf16* a, const bf16* b, float* out);

/// A fence and an atomic by each thread of a block.
void fence_in_a_block(int threads, unsigned* word);

}  // namespace sixdays::emulator::tests
