/// @file
/// A matrix written to memory as its transpose: out(n, m) = in(m, n). The lesson of a tile: reads
/// want to run along the rows of `in`, writes along the rows of `out`, and a tile in shared memory
/// lets both have their way.
///
/// For all versions: `in` has shape (..., M, N) and `out` (..., N, M), with the same dims before
/// them, of any strides (a stack of matrices). Rows run along memory (their stride is 1, or they
/// have one element); from row to row any pitch, so slices of larger matrices are fine. Elements of
/// 1, 2, 4, 8 or 16 bytes, moved as bytes.
/// @throws std::invalid_argument  other shapes, a rank below 2, a row that does not run along
/// memory, out not injective, a null pointer, an address that is no multiple of the element's
/// bytes, overlap: a transpose in place is another algorithm; the ports also more matrices than a
/// grid has blocks, 2^31 - 1
#pragma once

#include "common/gpu/stream.hpp"
#include "day03_views/bytes.hpp"

namespace sixdays::day03_views {

void transpose_bytes_cpu(const BytesIn& in, const BytesOut& out);
void transpose_bytes_cuda(const BytesIn& in, const BytesOut& out, gpu::Stream stream = {});
void check_transpose(const BytesIn& in, const BytesOut& out);

/// The same for views that know their type.
template <class T>
void transpose_cpu(View<const Same<T>> in, View<T> out) {
    transpose_bytes_cpu(bytes_in(in), bytes_out(out));
}
template <class T>
void transpose_cuda(View<const Same<T>> in, View<T> out, gpu::Stream stream = {}) {
    transpose_bytes_cuda(bytes_in(in), bytes_out(out), stream);
}

/// Which kernel transpose_cuda takes.
enum class TransposePath {
    sixteen_bytes,    // elements of 4 bytes, every row of in and out begins at a multiple of 16
    packed_bytes,     // the same for elements of 1 and 2 bytes
    whole_sectors,    // elements of 2 and 4 bytes, rows that begin anywhere
    single_elements,  // all others
};
[[nodiscard]] TransposePath choose_transpose(const BytesIn& in, const BytesOut& out);
[[nodiscard]] const char* name(TransposePath path);

}  // namespace sixdays::day03_views
