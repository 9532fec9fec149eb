/// @file
/// Products with a matrix of which only a part counts: a triangle, a symmetric matrix stored as one
/// triangle, a diagonal. (BLAS calls them TRMM and SYMM.)
///
///     out(m, n) = sum over the k that count of A(m, k) * b(k, n)
///
///     lower, upper      A is a where k <= m, or k >= m; 0 elsewhere
///     symmetric_...     A(m, k) = A(k, m); only that triangle of a is read
///     diagonal          A(m, m) = a(m, m); 0 elsewhere: each row of b is scaled
///
/// Elements that do not count are not read and may hold anything, even a NaN. A triangle needs half
/// of the multiply-adds of a whole matrix. If the zeros, or both halves, are stored, matmul_cuda()
/// accepts the matrix as it is; its fast steps are faster than half of the work here. For a matrix
/// and a vector, call matmul_cuda() with b of shape (K, 1), which takes the step `skinny`.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/tensor/view.hpp"

namespace sixdays::day05_matmul {

/// Which elements of a square matrix count.
enum class Structure {
    lower,            ///< k <= m; zeros above
    upper,            ///< k >= m; zeros below
    symmetric_lower,  ///< k <= m; above is their mirror image
    symmetric_upper,  ///< k >= m; below is their mirror image
    diagonal,         ///< k == m; zeros elsewhere
};
/// "lower", "symmetric upper", ...
[[nodiscard]] const char* name(Structure structure);

/// Product with a matrix of which only a part counts: out(m, n) = sum over the k that count of A(m,
/// k) * b(k, n), in float, in rising order of k. Elements of `a` that do not count are not read.
/// BLAS calls these products TRMM and SYMM.
/// @param a    (M, M), any strides. A diagonal stored as a vector d is the view {d, Layout({M, M},
/// {0, 1})}: a(m, m) is d[m]
/// @param structure  which elements count
/// @param b    (M, N), any strides
/// @param out  (M, N), injective, not overlapping a or b
/// @throws std::invalid_argument  an unknown structure, a that is not square, shapes that do not
/// match, out not injective, a null pointer, overlap
void structured_matmul_cpu(View<const float> a, Structure structure, View<const float> b,
                           View<float> out);

/// One thread per output, adjacent threads along n.
/// @throws std::invalid_argument  also more than 524,280 rows, which a grid of 65,535 blocks of 8
/// rows does not cover
void structured_matmul_cuda(View<const float> a, Structure structure, View<const float> b,
                            View<float> out, gpu::Stream stream = {});

/// Rejects what structured_matmul_cpu() and structured_matmul_cuda() reject, except for the number
/// of rows.
/// @throws std::invalid_argument  an unknown structure, a that is not square, shapes that do not
/// match, out not injective, a null pointer, overlap
void check_structured_matmul(const View<const float>& a, Structure structure,
                             const View<const float>& b, const View<float>& out);

/// The first k that counts for row m, and the one after the last.
struct Counted {
    std::int64_t begin,  ///< the first k that counts
        end;             ///< one after the last
};
/// The k that count for row m of a matrix of M columns; all of a symmetric one.
SIXDAYS_HD inline Counted counted(Structure structure, std::int64_t m, std::int64_t M) noexcept {
    switch (structure) {
        case Structure::lower:
            return {0, m + 1};
        case Structure::upper:
            return {m, M};
        case Structure::diagonal:
            return {m, m + 1};
        default:
            return {0, M};
    }
}

/// A(m, k) for a k that counts: of a symmetric matrix the element of the triangle that is stored.
SIXDAYS_HD inline float element(const View<const float>& a, Structure structure, std::int64_t m,
                                std::int64_t k) noexcept {
    const bool mirrored = (structure == Structure::symmetric_lower && k > m) ||
                          (structure == Structure::symmetric_upper && k < m);
    return mirrored ? a(k, m) : a(m, k);
}

}  // namespace sixdays::day05_matmul
