/// @file
/// Eight bits per number: each row, or each column, of a matrix is stored as integers from -127
/// to 127 and one float, its scale. That takes a quarter of the memory and of the traffic.
///
///     scale(r)     = max over c of |in(r, c)| / 127
///     values(r, c) = in(r, c) / scale(r), rounded to the nearest, ties to even
///     back         = values(r, c) * scale(r)
///
/// One large number makes quantization of its whole row coarse: an *outlier*. In a transformer
/// outliers sit in few columns, the same in all rows. So either each column gets its own scale, or
/// those columns are kept in float and left out of the rest (Dettmers and others 2022, LLM.int8(),
/// arXiv 2208.07339). Q8_0 of GGUF files, in gpt2/weights, gives every 32 numbers their own scale.
///
/// Error: at most scale / 2 + 2^-22 |in(r, c)|, if the largest of the row is between 1e-35 and
/// 3e38. A row of zeros has scale 0. A row that holds a NaN or an infinity has scale NaN and values
/// 0, so that every element comes back as NaN and the error is visible.
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// Which elements share a scale.
enum class ScalePer {
    row,     ///< scales has as many elements as the matrix has rows
    column,  ///< as many as it has columns
};

/// Quantizes a matrix.
/// @param in      (R, C), any strides
/// @param per     which elements share a scale
/// @param kept    (C), 1 for each column that stays in float: it is ignored in a row's maximum,
///                and its values are 0. {}, of rank 0: no such column. Only with ScalePer::row
/// @param values  (R, C), injective, overlapping no input
/// @param scales  (R), or (C) with ScalePer::column; injective, overlapping nothing else
/// @throws std::invalid_argument  shapes that do not fit, an output that is not injective, a null
/// pointer, overlap, `kept` with ScalePer::column, an unknown `per`
void quantize_int8_cpu(View<const float> in, ScalePer per, View<const std::uint8_t> kept,
                       View<std::int8_t> values, View<float> scales);

/// The same on the device, bit for bit: one thread per row, or per column.
/// @throws std::invalid_argument  as quantize_int8_cpu(), with the same messages
void quantize_int8_cuda(View<const float> in, ScalePer per, View<const std::uint8_t> kept,
                        View<std::int8_t> values, View<float> scales, gpu::Stream stream = {});

/// The argument checks of both. @throws std::invalid_argument  as quantize_int8_cpu()
void check_quantize_int8(const View<const float>& in, ScalePer per,
                         const View<const std::uint8_t>& kept, const View<std::int8_t>& values,
                         const View<float>& scales);

/// out(r, c) = values(r, c) * scale of its row or column.
/// @param values, scales  as quantize_int8_cpu() makes them
/// @param out             (R, C), injective, overlapping no input
/// @throws std::invalid_argument  bad shapes, out not injective, a null pointer, overlap
void dequantize_int8_cpu(View<const std::int8_t> values, ScalePer per, View<const float> scales,
                         View<float> out);

/// The same on the device, bit for bit: one thread per element.
/// @throws std::invalid_argument  as dequantize_int8_cpu(), with the same messages
void dequantize_int8_cuda(View<const std::int8_t> values, ScalePer per, View<const float> scales,
                          View<float> out, gpu::Stream stream = {});

/// The argument checks of both. @throws std::invalid_argument  as dequantize_int8_cpu()
void check_dequantize_int8(const View<const std::int8_t>& values, ScalePer per,
                           const View<const float>& scales, const View<float>& out);

/// Marks the outliers among the columns: kept(c) = 1 if the largest |in(r, c)| of column c is
/// above mean + sigmas * standard deviation of the maxima of all columns, else 0. Done once per
/// model, over recorded activations, so a CPU version is enough.
/// @param in      (R, C) in host memory, any strides
/// @param sigmas  3 is usual; 0 or more
/// @param kept    (C), injective, not overlapping in
/// @throws std::invalid_argument  bad shapes, kept not injective, a null pointer, overlap,
/// sigmas below 0 or NaN
void outlier_columns_cpu(View<const float> in, double sigmas, View<std::uint8_t> kept);

}  // namespace sixdays::day06_transformer_ops
