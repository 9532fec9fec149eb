/// @file
/// A tensor as rows, for softmax and the norms: a row runs along one dimension, and the other
/// dimensions determine where rows begin.
///
///     x (2, 3, 4), rows along dim 1     first: shape (2, 4), strides (12, 1)     8 rows
///     row 5 begins at x(1, 0, 1)        length 3, stride 4
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "common/gpu/tile.hpp"
#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/transform.hpp"
#include "common/tensor/vectorized.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day06_transformer_ops {

/// T itself, in a non-deduced context: a `View<float>` argument converts to a `View<const float>`
/// parameter.
template <class T>
using Same = std::type_identity_t<T>;

/// Element i of a row is i strides after the first.
template <class T>
struct Row {
    T* first;             // address of element 0
    std::int64_t stride;  // from each element to the next
    /// Element i. Unchecked.
    SIXDAYS_HD T& operator[](std::int64_t i) const noexcept { return first[i * stride]; }
};

/// All rows of a view along one dimension: rows_along().
template <class T>
struct Rows {
    View<T> first;        // element 0 of every row
    std::int64_t length;  // elements of a row
    std::int64_t stride;  // from each element to the next

    /// The number of rows.
    SIXDAYS_HD std::int64_t count() const noexcept { return first.size(); }
    /// Row r, in row-major order of the other dimensions. @param r  0 <= r < count()
    SIXDAYS_HD Row<T> row(std::int64_t r) const noexcept {
        if (first.rank() == 1) return {&first(r), stride};  // a matrix: nothing to divide
        return {&first(unravel(r, first.layout.shape)), stride};
    }
};

/// The rows of `x` along dimension `dim`, numbered in row-major order. @param dim  0 <= dim < rank
template <class T>
[[nodiscard]] Rows<T> rows_along(const View<T>& x, int dim) {
    // The stride of a row of one element is never used and may be any number.
    const std::int64_t stride = x.extent(dim) == 1 ? 1 : x.stride(dim);
    return {{x.data, without(x.layout, {dim})}, x.extent(dim), stride};
}

/// Elements of the longest row that a block keeps in registers.
inline constexpr std::int64_t kMostHeld = 16384;

/// Can 128-bit loads read the rows? They must be whole vectors that begin at multiples of 16 bytes.
template <class T>
[[nodiscard]] bool can_be_vectors(const Rows<T>& rows) {
    Layout layout = rows.first.layout;  // the row's dimension last, for has_wider()
    layout.shape[layout.shape.rank++] = rows.length;
    layout.strides[layout.strides.rank++] = rows.stride;
    return has_wider(rows.first.data, layout, sizeof(T));
}
/// Can a block keep a row in registers? can_be_vectors(), and at most kMostHeld elements.
template <class T>
[[nodiscard]] bool can_be_held(const Rows<T>& rows) {
    return rows.length <= kMostHeld && can_be_vectors(rows);
}
/// The requirement of the path 'registers', for an error message.
inline constexpr char kHeldNeeds[] =
    "rows of whole vectors along memory that begin at multiples of 16 bytes, of 16,384 elements at "
    "most";

/// Can tile kernels access these rows? All rows are one stride apart, and no stride is negative.
template <class T>
[[nodiscard]] bool rows_take_tiles(const Rows<const T>& in, const Rows<T>& out) {
    const auto steps = simplify(out.first.layout, in.first.layout);
    bool forwards = steps[0].rank() <= 1 && in.stride >= 0 && out.stride >= 0;
    for (const Layout& one : steps) forwards = forwards && (one.rank() == 0 || one.stride(0) >= 0);
    return forwards;
}
/// The requirement for an error message, after "rows".
[[nodiscard]] inline std::string at_one_step() {
    return " at one step from each other, and " + gpu::kNoNegativeStride;
}

/// Rejects invalid arguments of an operation that makes each row of `out` from that row of `in`.
/// @param name  the operation's name for `in`
template <class T>
void check_rows(const char* op, const View<const T>& in, const View<T>& out,
                const char* name = "in") {
    require_same_shape(op, name, in, "out", out);
    require_memory(op, name, in);
    require_output(op, out);
    require_same_or_apart(op, name, in, "out", out);
}

}  // namespace sixdays::day06_transformer_ops
