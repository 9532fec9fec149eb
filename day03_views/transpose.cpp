// The argument checks that CPU reference and kernels share, and the choice of the path.
#include "day03_views/transpose.hpp"

#include <algorithm>

#include "common/gpu/tile.hpp"
#include "common/tensor/names.hpp"
#include "common/tensor/vectorized.hpp"

namespace sixdays::day03_views {

// --- checks --------------------------------------------------------------------------------------
namespace {

void check_rows(const char* name, const Layout& layout) {
    const int last = layout.rank() - 1;
    if (layout.extent(last) > 1 && layout.stride(last) != 1) {
        reject("transpose: ", name, " has ", layout,
               "; its rows must be contiguous, with stride 1 in the last dimension");
    }
}

void check_transposed_views(const UntypedIn& in, const UntypedOut& out) {
    require_element("transpose", in, out);
    const int r = in.layout.rank();
    if (r < 2) {
        reject("transpose: in has shape ", in.layout.shape, " of rank ", r,
               ", but a matrix needs at least rank 2");
    }
    const Shape wanted = transpose(in.layout).shape;
    if (wanted != out.layout.shape) {
        reject("transpose: in has shape ", in.layout.shape, ", so out must have ", wanted,
               ", but has ", out.layout.shape);
    }
    with_element(in.element, [&](auto element) {
        const auto from = in.as<decltype(element)>();
        const auto to = out.as<decltype(element)>();
        require_memory("transpose", "in", from);
        require_output("transpose", to);
        require_apart("transpose", "in", from, "out", to);
    });
    check_rows("in", in.layout);
    check_rows("out", out.layout);
}

}  // namespace

// --- which path ----------------------------------------------------------------------------------
namespace {

std::int64_t rows_of(const UntypedIn& in) {
    return in.layout.extent(in.layout.rank() - 2);
}
std::int64_t columns_of(const UntypedIn& in) {
    return in.layout.extent(in.layout.rank() - 1);
}

// Row strides: a CUDA Tile span has no negative strides.
bool forwards(const Layout& layout) {
    const int m = layout.rank() - 2;
    return layout.extent(m) <= 1 || layout.stride(m) >= 0;
}

bool rows_begin_at_vectors(const UntypedIn& in, const UntypedOut& out) {
    return in.element <= 4 && rows_begin_at(in.data, in.layout, in.element) &&
           rows_begin_at(out.data, out.layout, out.element);
}

// The matrix as one contiguous run of rows; the stack's dimensions unchanged.
bool matrices_begin_at_vectors(const void* data, const Layout& layout, int element) {
    const int m = layout.rank() - 2;
    const bool no_gaps = layout.extent(m) == 1 || layout.stride(m) == layout.extent(m + 1);
    return no_gaps && rows_begin_at(data, select(layout, m, 0).layout, element);
}

// The short rows, of `in` or of `out`, are contiguous; the long ones begin at multiples of 16
// bytes.
bool takes_short_rows_vectorized(const UntypedIn& in, const UntypedOut& out) {
    if (in.element > 4 || out.layout.size() == 0) return false;
    if (columns_of(in) < rows_of(in)) {
        return matrices_begin_at_vectors(in.data, in.layout, in.element) &&
               rows_begin_at(out.data, out.layout, out.element);
    }
    return matrices_begin_at_vectors(out.data, out.layout, out.element) &&
           rows_begin_at(in.data, in.layout, in.element);
}

}  // namespace

TransposePath choose_transpose(const UntypedIn& in, const UntypedOut& out) {
    if ((rows_of(in) <= kShortRow) != (columns_of(in) <= kShortRow)) {
        return takes_short_rows_vectorized(in, out) ? TransposePath::short_rows_vectorized
                                                    : TransposePath::short_rows;
    }
    if (rows_begin_at_vectors(in, out)) {
        return in.element == 4 ? TransposePath::vectorized : TransposePath::small_elements;
    }
    return in.element == 2 || in.element == 4 ? TransposePath::whole_sectors
                                              : TransposePath::in_flight;
}

namespace {

struct Views {
    const UntypedIn& in;
    const UntypedOut& out;
};

bool has_tiles_of_floats(const Views& x) {
    return x.in.element == 4 && columns_of(x.in) <= kMostColumnsOfTiles;
}
bool is_short(const Views& x) {
    return std::min(rows_of(x.in), columns_of(x.in)) <= kShortRow;
}

const auto& transpose_paths() {
    using P = TransposePath;
    static const std::string tiles =
        sentence("elements of 4 bytes and at most ", kMostColumnsOfTiles, " columns");
    static const PathEntry<P, Views> all[] = {
        {P::one_element, "one element", [](const Views& x) { return rows_of(x.in) <= kMostRows; },
         sentence("at most ", kMostRows, " rows")},
        {P::write_coalesced, "write coalesced",
         [](const Views& x) { return x.in.element == 4 && columns_of(x.in) <= kMostRows; },
         sentence("elements of 4 bytes and at most ", kMostRows, " columns")},
        {P::shared_tile, "shared tile", has_tiles_of_floats, tiles},
        {P::padded, "padded tile", has_tiles_of_floats, tiles},
        {P::in_flight, "in flight"},
        {P::vectorized, "vectorized",
         [](const Views& x) { return x.in.element == 4 && rows_begin_at_vectors(x.in, x.out); },
         "elements of 4 bytes, and every row to begin at a multiple of 16 bytes"},
        {P::small_elements, "small elements",
         [](const Views& x) { return x.in.element <= 2 && rows_begin_at_vectors(x.in, x.out); },
         "elements of 1 or 2 bytes, and every row to begin at a multiple of 16 bytes"},
        {P::whole_sectors, "whole sectors",
         [](const Views& x) { return x.in.element == 2 || x.in.element == 4; },
         "elements of 2 or 4 bytes"},
        {P::short_rows, "short rows", is_short,
         sentence("rows or columns of at most ", kShortRow, " elements")},
        {P::short_rows_vectorized, "short rows, vectorized",
         [](const Views& x) { return is_short(x) && takes_short_rows_vectorized(x.in, x.out); },
         "short rows without gaps between them, of elements of 1, 2 or 4 bytes, and long ones that "
         "begin at multiples of 16 bytes"},
        {P::tile, "tile",
         [](const Views& x) {
             return x.in.element <= 8 && forwards(x.in.layout) && forwards(x.out.layout);
         },
         "elements of at most 8 bytes, and between rows " + gpu::kNoNegativeStride},
    };
    return all;
}

}  // namespace

void check_transpose(const UntypedIn& in, const UntypedOut& out,
                     std::optional<TransposePath> path) {
    check_transposed_views(in, out);
    require_known_path("transpose", path);
    if (!path || out.layout.size() == 0) return;  // nothing to move on any path
    require_support("transpose", transpose_paths(), *path, Views{in, out}, "; in has elements of ",
                    in.element, " bytes, ", in.layout, ", out ", out.layout);
}

const char* name(TransposePath path) {
    return name_in(transpose_paths(), path);
}

}  // namespace sixdays::day03_views
