/// @file
/// A linear layer for training on a CPU, forward and backward. The loops of Day 05 load two numbers
/// per multiply-add; here 96 sums stay in registers, and rows are distributed over threads.
#pragma once

#include "day05_matmul/matmul.hpp"
#include "day06_transformer_ops/gpt2/cpu/threads.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// Computes what matmul_cpu() does, with each sum in the order of k: the same bits with any number
/// of threads, but different bits on a CPU with FMA.
/// @param a    (..., M, K) and
/// @param out  (..., M, N): dimensions before the last are rows, and must merge into one
/// @param b    (K, N), any strides
/// @throws std::invalid_argument  as matmul_cpu(); a stack of b; rows that do not merge
void matmul_fast(View<const float> a, View<const float> b, const day05_matmul::Epilogue& epilogue,
                 View<float> out, gpt2::Threads& threads);

/// linear_backward_cpu() with these products.
void linear_backward_fast(View<const float> in, View<const float> weight, View<const float> grad,
                          View<float> d_in, const LinearGradients& d, gpt2::Threads& threads);

}  // namespace sixdays::day06_transformer_ops
