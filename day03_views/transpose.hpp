/// @file
/// A matrix written to memory as its transpose: out(n, m) = in(m, n). Coalesced reads run along the
/// rows of `in`, coalesced writes along the rows of `out`. A tile in shared memory makes both
/// possible.
#pragma once

#include "common/gpu/how.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

/// The kernel to launch: the caller's choice in gpu::Launch, else that of choose_transpose(). One
/// idea per step; elements of any size, unless noted.
enum class TransposePath {
    one_element,      ///< naive: one thread per element; M <= kMostRows (arguments.hpp)
    write_coalesced,  ///< 4 bytes: neighbouring lanes write neighbours and read a pitch apart;
                      ///< N <= kMostRows
    shared_tile,      ///< 4 bytes: both coalesced, through a tile with bank conflicts;
                      ///< N <= kMostColumnsOfTiles
    padded,           ///< 4 bytes: a tile without bank conflicts, its rows padded by one word;
                      ///< N <= kMostColumnsOfTiles
    in_flight,        ///< a thread issues all loads before it uses the first
    vectorized,       ///< 4 bytes, every row begins at a multiple of 16 bytes: float4
    small_elements,   ///< 1 and 2 bytes, every row begins at a multiple of 16 bytes: packed words
    whole_sectors,    ///< 2 and 4 bytes, rows begin anywhere, tiles are cut at sector boundaries
    short_rows,       ///< M or N is at most 32: flat tiles
    short_rows_vectorized,  ///< short rows with float4: 1, 2 and 4 bytes, no gaps between them;
                            ///< long rows begin at multiples of 16 bytes
    tile,                   ///< CUDA Tile C++, only on request: 1, 2, 4 and 8 bytes; pitches >= 0
};
[[nodiscard]] const char* name(TransposePath path);

/// Writes a matrix to memory as its transpose: out(..., n, m) = in(..., m, n); elements are moved
/// as bytes.
/// @param in   (..., M, N), a stack of matrices of any strides with contiguous rows: stride 1, or a
/// single element. The pitch is arbitrary. Elements of 1, 2, 4, 8 or 16 bytes, at a multiple of
/// their size
/// @param out  (..., N, M), with the same leading dimensions and element size; contiguous rows,
/// injective, disjoint from `in`
/// @throws std::invalid_argument  a rank below 2, other shapes or element sizes, a row that is not
/// contiguous, out not injective, a null or misaligned pointer, overlap (a transpose in place is
/// another algorithm)
void transpose_untyped_cpu(const UntypedIn& in, const UntypedOut& out);
/// @throws std::invalid_argument  also views that the path does not support, and more tiles than a
/// grid has blocks, 2^31 - 1
void transpose_untyped_cuda(const UntypedIn& in, const UntypedOut& out,
                            const gpu::Launch<TransposePath>& how = {});
/// Rejects what transpose_cpu() and transpose_cuda() reject; with a path, also what that path does
/// not support.
/// @throws std::invalid_argument  as transpose_untyped_cpu(); views that the path does not support
void check_transpose(const UntypedIn& in, const UntypedOut& out,
                     std::optional<TransposePath> path = {});

/// Writes a matrix to memory as its transpose: out(..., n, m) = in(..., m, n); elements are moved
/// as bytes.
/// @param in   (..., M, N), a stack of matrices of any strides with contiguous rows: stride 1, or a
/// single element. The pitch is arbitrary, so slices of larger matrices are valid
/// @param out  (..., N, M), with the same leading dimensions; contiguous rows, injective, disjoint
/// from `in`
/// @throws std::invalid_argument  a rank below 2, other shapes, a row that is not contiguous, out
/// not injective, a null or misaligned pointer, overlap (a transpose in place is another algorithm)
template <class T>
void transpose_cpu(View<const Same<T>> in, View<T> out) {
    transpose_untyped_cpu(in, out);
}
/// @throws std::invalid_argument  also views that the path does not support, and more tiles than a
/// grid has blocks, 2^31 - 1
template <class T>
void transpose_cuda(View<const Same<T>> in, View<T> out,
                    const gpu::Launch<TransposePath>& how = {}) {
    transpose_untyped_cuda(in, out, how);
}

/// Rows of at most this many elements are short: a square tile would be mostly empty.
inline constexpr std::int64_t kShortRow = 32;

/// The most columns where tiles are along a grid's y: 65,535 blocks, each with a tile 32 wide.
inline constexpr std::int64_t kMostColumnsOfTiles = 65535 * 32;

/// The path that transpose_cuda() takes without one in gpu::Launch; the first that applies:
///
/// - if only one of M and N is at most kShortRow: `short_rows_vectorized` where its conditions
///   hold, else `short_rows`
/// - if every row begins at a multiple of 16 bytes: `vectorized` for 4 bytes, `small_elements` for
///   1 and 2
/// - `whole_sectors` for 2 and 4 bytes, `in_flight` for other sizes
///
/// For views that check_transpose() accepts.
[[nodiscard]] TransposePath choose_transpose(const UntypedIn& in, const UntypedOut& out);

/// Calls f(in, M, N, pitch_in, pitch_out, out) for every matrix of a stack.
template <class T, class F>
void for_each_matrix(const View<const T>& in, const View<T>& out, const F& f) {
    const int m = in.rank() - 2;
    const Layout stack_in = outer(in.layout, m), stack_out = outer(out.layout, m);
    for (std::int64_t k = 0; k < stack_in.size(); ++k) {
        const Index at = unravel(k, stack_in.shape);
        f(in.data + offset(stack_in, at), in.extent(m), in.extent(m + 1), in.stride(m),
          out.stride(m), out.data + offset(stack_out, at));
    }
}

}  // namespace sixdays::day03_views
