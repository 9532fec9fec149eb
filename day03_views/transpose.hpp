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
/// bytes, overlap: a transpose in place is another algorithm; the ports also more tiles than a grid
/// has blocks, 2^31 - 1
#pragma once

#include "common/gpu/how.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day03_views/untyped.hpp"

namespace sixdays::day03_views {

/// The ladder, one idea a step. Elements of any size, unless it says otherwise.
enum class TransposePath {
    one_element,       // a thread, an element: the loop's twin; M <= kMostRows (arguments.hpp)
    write_coalesced,   // of 4 bytes: neighbouring lanes write neighbours, and read a pitch apart;
                       // N <= kMostRows
    shared_tile,       // of 4 bytes: both are neighbours, by way of a tile; its banks collide;
                       // N <= kMostColumnsOfTiles
    padded,            // the same, but the tile's rows are one word longer
    in_flight,         // all loads of a thread in flight before the first is needed
    quads,             // of 4 bytes, every row begins at a multiple of 16 bytes: quads
    small_elements,    // the same for 1 and 2 bytes
    whole_sectors,     // of 2 and 4 bytes, rows that begin anywhere, cut where sectors begin
    short_rows,        // one of M and N is 32 at most, the other is not: a tile is flat
    short_rows_quads,  // the same for 1, 2 and 4 bytes, and the short rows have no gaps: quads
    tile,              // CUDA Tile C++, never chosen unasked: of 1, 2, 4 and 8 bytes; rows forwards
};
[[nodiscard]] const char* name(TransposePath path);

void transpose_untyped_cpu(const UntypedIn& in, const UntypedOut& out);
/// @throws std::invalid_argument  also what the path cannot take
void transpose_untyped_cuda(const UntypedIn& in, const UntypedOut& out,
                            const gpu::Launch<TransposePath>& how = {});
void check_transpose(const UntypedIn& in, const UntypedOut& out,
                     std::optional<TransposePath> path = {});

/// The same for views that know their type.
template <class T>
void transpose_cpu(View<const Same<T>> in, View<T> out) {
    transpose_untyped_cpu(in, out);
}
template <class T>
void transpose_cuda(View<const Same<T>> in, View<T> out,
                    const gpu::Launch<TransposePath>& how = {}) {
    transpose_untyped_cuda(in, out, how);
}

/// Rows of so many elements at most are short: a square tile would be mostly empty.
inline constexpr std::int64_t kShortRow = 32;

/// 65,535 blocks along a grid's y, each with a tile 32 wide.
inline constexpr std::int64_t kMostColumnsOfTiles = 65535 * 32;

/// The best of them. Views that check_transpose() has not refused.
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
