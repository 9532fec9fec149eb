/// @file
/// Rows by number: a table of offsets that is data itself. What an embedding does with token ids.
///
/// The ids of a port lie in device memory, where its launcher cannot see them without waiting for
/// the device. So an id that names no row is met differently. The loop refuses it before anything
/// is written, and says which. The port never touches memory outside of the table: gather_rows
/// fills such a row with NaN, which no later result can hide, and scatter_rows leaves it out.
/// Whoever has the ids on the host, as a tokenizer has, asks check_ids first. (PyTorch stops the
/// whole process' use of the GPU by an assert.)
#pragma once

#include <cstdint>

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day03_views {

/// out(n, c) = table(ids(n), c).
/// @param table  (V, C), any strides
/// @param ids    (N), any strides, 0 <= id < V; may repeat
/// @param out    (N, C), injective
/// @throws std::invalid_argument  other shapes, out not injective, a null pointer, overlap; the
/// loop: an id that names no row
void gather_rows_cpu(View<const float> table, View<const std::int64_t> ids, View<float> out);
void gather_rows_cuda(View<const float> table, View<const std::int64_t> ids, View<float> out,
                      gpu::Stream stream = {});
void check_gather_rows(const View<const float>& table, const View<const std::int64_t>& ids,
                       const View<float>& out);

/// out(ids(n), c) = in(n, c); rows of out that no id names keep what they hold.
/// @param in   (N, C), any strides
/// @param ids  (N), any strides, 0 <= id < V, each at most once: two writers of a row would race,
/// and which of them wins is nobody's choice
/// @param out  (V, C), injective
/// @throws std::invalid_argument  as gather_rows; the loop: also an id that comes twice
void scatter_rows_cpu(View<const float> in, View<const std::int64_t> ids, View<float> out);
void scatter_rows_cuda(View<const float> in, View<const std::int64_t> ids, View<float> out,
                       gpu::Stream stream = {});
void check_scatter_rows(const View<const float>& in, const View<const std::int64_t>& ids,
                        const View<float>& out);

/// For ids in host memory. @throws std::invalid_argument  not 0 <= id < V, with its place
void check_ids(const char* op, const View<const std::int64_t>& ids, std::int64_t V);

/// Which kernel the two ports take: rows of quads need C divisible by 4, columns that are
/// neighbours in memory, and rows that begin at multiples of 16 bytes, in table (or in) and out.
enum class RowsPath { quads, any_layout };
[[nodiscard]] RowsPath choose_rows(const View<const float>& from, const View<float>& to);
[[nodiscard]] const char* name(RowsPath path);

}  // namespace sixdays::day03_views
