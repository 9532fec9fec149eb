/// @file
/// A linear layer for a CPU that trains, there and back. The loops of Day 05 fetch two numbers for
/// each multiply-add; here 96 sums stay in registers, and rows are shared out to threads.
#pragma once

#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/gpt2/cpu/threads.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// What matmul_cpu() computes, each sum along k from its first term to its last: the same bits with
/// any number of threads, but other ones on a CPU that multiplies and adds in one instruction.
/// @param a    (..., M, K) and
/// @param out  (..., M, N): dims before the last are rows, and one dim in memory too
/// @param b    (K, N), any strides
/// @throws std::invalid_argument  as matmul_cpu(); a stack of b; rows that are no one dim in memory
void matmul_fast(View<const float> a, View<const float> b, const day05_matmul::Epilogue& epilogue,
                 View<float> out, gpt2::Threads& threads);

/// linear_backward_cpu() by such products.
void linear_backward_fast(View<const float> in, View<const float> weight, View<const float> grad,
                          View<float> d_in, const LinearGradients& d, gpt2::Threads& threads);

}  // namespace sixdays::day06_transformer_ops
