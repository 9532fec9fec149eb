/// @file
/// Sinusoidal positions: a table of positions that is computed, not learned, as in the first
/// transformer (Vaswani and others 2017, arXiv 1706.03762, section 3.5):
///
///     out(p, 2i)     = sin(p / base^(2i / C))
///     out(p, 2i + 1) = cos(p / base^(2i / C))
///
/// Columns 2i and 2i + 1 form one hand of a clock. The first turns once in 2 pi positions, the last
/// once in almost 2 pi base. Use the table as embed's `positions`, of any length. That model also
/// multiplies a token's row by sqrt(C) before it adds a position: scale the table of tokens once.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// Fills `out` with the table above, row p for position p.
/// Angles, sines and cosines are computed in double and rounded once: error at most 1 unit of 2^-24
/// of the result, and 1e-9 for positions up to a million.
/// @param out   (P, C), injective, any strides. An odd C ends with a sine
/// @param base  above 0 and finite; the paper's is 10000
/// @throws std::invalid_argument  out is not a matrix, not injective or a null pointer; a bad base
void sinusoidal_positions_cpu(View<float> out, double base = 10000);

/// The same on the device: one thread per element.
/// @throws std::invalid_argument  as sinusoidal_positions_cpu(), with the same messages
void sinusoidal_positions_cuda(View<float> out, double base = 10000, gpu::Stream stream = {});

/// The argument checks of both. @throws std::invalid_argument  as above
void check_sinusoidal_positions(const View<float>& out, double base);

}  // namespace sixdays::day06_transformer_ops
