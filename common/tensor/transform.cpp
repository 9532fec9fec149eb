#include "common/tensor/transform.hpp"

#include <algorithm>

#include "common/tensor/arguments.hpp"

namespace sixdays {
namespace {

// A stride times a factor. Where that exceeds 64 bits, no index ever uses it (the extent is 1, or
// the tensor has no elements), so 0 is equivalent.
std::int64_t times(std::int64_t stride, std::int64_t factor) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(stride, factor, &product) ? 0 : product;
}

void append(Layout& layout, std::int64_t extent, std::int64_t stride) {
    const int d = layout.shape.rank;
    layout.shape.rank = layout.strides.rank = d + 1;
    layout.shape[d] = extent;
    layout.strides[d] = stride;
}

Layout without_dim(const Layout& layout, int dim) {
    Layout rest;
    for (int d = 0; d < layout.rank(); ++d) {
        if (d != dim) append(rest, layout.extent(d), layout.stride(d));
    }
    return rest;
}

void require_matrix(const char* op, const Layout& layout) {
    if (layout.rank() == 2) return;
    reject(op, ": shape ", layout.shape, " is not a matrix, it has ", layout.rank(), " dims");
}

void require_room_for_a_dim(const char* op, const Layout& layout) {
    if (layout.rank() < kMaxRank) return;
    reject(op, " of shape ", layout.shape,
           " would add a dim, but it has 8, and more a tensor here cannot have");
}

}  // namespace

int checked_dim(const char* op, std::int64_t dim, int rank) {
    if (dim < -rank || dim >= rank) {
        const std::string allowed = rank == 0 ? "none"
                                              : "dims 0 to " + std::to_string(rank - 1) + ", or " +
                                                    std::to_string(-rank) + " to -1 from the back";
        reject(op, ": dim ", dim, " asked for, but a tensor of rank ", rank, " has ", allowed);
    }
    return static_cast<int>(dim < 0 ? dim + rank : dim);
}

Dims checked_dims(const char* op, const Dims& dims, int rank) {
    bool named[kMaxRank] = {};
    for (int k = 0; k < dims.rank; ++k) {
        const int d = checked_dim(op, dims[k], rank);
        if (named[d]) reject(op, ": dim ", d, " is named twice in ", dims);
        named[d] = true;
    }
    Dims ascending;
    for (int d = 0; d < rank; ++d) {
        if (named[d]) ascending[ascending.rank++] = d;
    }
    return ascending;
}

// --- parts ---------------------------------------------------------------------------------------

Cut slice(const Layout& layout, int dim, std::int64_t begin, std::int64_t end, std::int64_t step) {
    const int d = checked_dim("slice", dim, layout.rank());
    if (begin < 0 || begin > end || end > layout.extent(d)) {
        reject("slice [", begin, ", ", end, ") of dim ", d, ", whose extent is ", layout.extent(d));
    }
    if (step < 1) {
        reject("slice with step ", step, "; a step is at least 1, and flip() goes back");
    }
    Layout part = layout;
    part.shape[d] = (end - begin) / step + ((end - begin) % step != 0);
    part.strides[d] = times(layout.stride(d), step);
    if (part.size() == 0) return {part, 0};
    return {part, begin * layout.stride(d)};
}

Cut select(const Layout& layout, int dim, std::int64_t i) {
    const int d = checked_dim("select", dim, layout.rank());
    if (i < 0 || i >= layout.extent(d)) {
        reject("select: index ", i, " of dim ", d, ", whose extent is ", layout.extent(d));
    }
    const Layout part = without_dim(layout, d);
    if (part.size() == 0) return {part, 0};
    return {part, i * layout.stride(d)};
}

Layout without(const Layout& layout, const Dims& dims) {
    const Dims gone = checked_dims("without", dims, layout.rank());
    Layout rest = layout;
    for (int k = gone.rank - 1; k >= 0; --k) rest = without_dim(rest, static_cast<int>(gone[k]));
    return rest;
}

Layout only(const Layout& layout, const Dims& dims) {
    const Dims kept = checked_dims("only", dims, layout.rank());
    Layout part;
    for (int k = 0; k < kept.rank; ++k) {
        const int d = static_cast<int>(kept[k]);
        append(part, layout.extent(d), layout.stride(d));
    }
    return part;
}

Layout outer(const Layout& layout, int n) {
    if (n < 0 || n > layout.rank()) {
        reject("outer: the first ", n, " dims asked for, but shape ", layout.shape, " has ",
               layout.rank());
    }
    Layout first = layout;
    first.shape.rank = first.strides.rank = n;
    return first;
}

Cut flip(const Layout& layout, int dim) {
    const int d = checked_dim("flip", dim, layout.rank());
    if (layout.size() == 0 || layout.extent(d) == 1) return {layout, 0};
    Layout flipped = layout;
    flipped.strides[d] = -layout.stride(d);
    return {flipped, (layout.extent(d) - 1) * layout.stride(d)};
}

Cut rows(const Layout& matrix, std::int64_t begin, std::int64_t end) {
    require_matrix("rows", matrix);
    return slice(matrix, 0, begin, end);
}

Cut columns(const Layout& matrix, std::int64_t begin, std::int64_t end) {
    require_matrix("columns", matrix);
    return slice(matrix, 1, begin, end);
}

Cut row(const Layout& matrix, std::int64_t i) {
    require_matrix("row", matrix);
    return select(matrix, 0, i);
}

Cut column(const Layout& matrix, std::int64_t j) {
    require_matrix("column", matrix);
    return select(matrix, 1, j);
}

Dims tiles_per_dim(const Shape& shape, const Shape& tile) {
    if (shape.rank != tile.rank) {
        reject("tiles of shape ", tile, " cannot cover shape ", shape, "; the ranks must be equal");
    }
    Dims tiles = shape;
    for (int d = 0; d < shape.rank; ++d) {
        if (tile[d] < 1) {
            reject("tiles of shape ", tile, ": extent ", tile[d], " of dim ", d, " is below 1");
        }
        tiles[d] = shape[d] / tile[d] + (shape[d] % tile[d] != 0);
    }
    return tiles;
}

Cut tile(const Layout& layout, const Shape& shape, const Index& index) {
    const Dims tiles = tiles_per_dim(layout.shape, shape);
    bool inside = index.rank == tiles.rank;
    for (int d = 0; inside && d < tiles.rank; ++d) inside = 0 <= index[d] && index[d] < tiles[d];
    if (!inside) {
        reject("tile ", index, " asked for, but tiles of shape ", shape, " cover shape ",
               layout.shape, " with ", tiles, " of them");
    }
    Cut cut{layout, 0};  // a tile exists, so no extent is 0
    for (int d = 0; d < tiles.rank; ++d) {
        const std::int64_t begin = index[d] * shape[d];
        cut.layout.shape[d] = std::min(shape[d], layout.extent(d) - begin);
        cut.first += begin * layout.stride(d);
    }
    return cut;
}

// --- the same elements, other dimensions ---------------------------------------------------------

Layout transpose(const Layout& layout, int a, int b) {
    const int i = checked_dim("transpose", a, layout.rank());
    const int j = checked_dim("transpose", b, layout.rank());
    Layout result = layout;
    std::swap(result.shape[i], result.shape[j]);
    std::swap(result.strides[i], result.strides[j]);
    return result;
}

Layout transpose(const Layout& layout) {
    if (layout.rank() < 2) {
        reject("transpose of shape ", layout.shape, ": two dims are needed");
    }
    return transpose(layout, -2, -1);
}

Layout permute(const Layout& layout, const Dims& order) {
    Layout result;
    bool taken[kMaxRank] = {};
    bool each_once = order.rank == layout.rank();
    for (int i = 0; each_once && i < order.rank; ++i) {
        const std::int64_t d = order[i] < 0 ? order[i] + layout.rank() : order[i];
        each_once = 0 <= d && d < layout.rank() && !taken[d];
        if (!each_once) break;
        taken[d] = true;
        append(result, layout.shape.value[d], layout.strides.value[d]);
    }
    if (!each_once) {
        reject("permute of shape ", layout.shape, " by ", order, ": each of its ", layout.rank(),
               " dims is needed exactly once");
    }
    return result;
}

Layout squeeze(const Layout& layout) {
    Layout result;
    for (int d = 0; d < layout.rank(); ++d) {
        if (layout.extent(d) != 1) append(result, layout.extent(d), layout.stride(d));
    }
    return result;
}

Layout squeeze(const Layout& layout, int dim) {
    const int d = checked_dim("squeeze", dim, layout.rank());
    if (layout.extent(d) != 1) {
        reject("squeeze of dim ", d, " of shape ", layout.shape, ": its extent is ",
               layout.extent(d), ", not 1");
    }
    return without_dim(layout, d);
}

Layout unsqueeze(const Layout& layout, int dim) {
    require_room_for_a_dim("unsqueeze", layout);
    const int place = checked_dim("unsqueeze", dim, layout.rank() + 1);  // in the result
    Layout result;
    for (int d = 0; d <= layout.rank(); ++d) {
        if (d == place) append(result, 1, 0);
        if (d < layout.rank()) append(result, layout.extent(d), layout.stride(d));
    }
    return result;
}

Layout windows(const Layout& layout, int dim, std::int64_t size, std::int64_t step) {
    require_room_for_a_dim("windows", layout);
    const int d = checked_dim("windows", dim, layout.rank());
    if (size < 1 || size > layout.extent(d)) {
        reject("windows of ", size, " elements along dim ", d, ", whose extent is ",
               layout.extent(d));
    }
    if (step < 1) reject("windows with step ", step, "; a step is at least 1");
    Layout result = layout;
    result.shape[d] = (layout.extent(d) - size) / step + 1;
    result.strides[d] = times(layout.stride(d), step);
    append(result, size, layout.stride(d));
    return Layout(result.shape, result.strides);  // may have more elements than 64 bits count
}

}  // namespace sixdays
