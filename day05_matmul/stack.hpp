/// @file
/// A stack of matrix products, one by one: how the CPU reference and the naive kernel handle the
/// dimensions before the last two.
#pragma once

#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/matmul.hpp"

namespace sixdays::day05_matmul {

/// The dimensions before the last two: where the matrices of a stack begin. Rank 2 or more,
/// unchecked.
[[nodiscard]] inline Layout stack_of(Layout layout) {
    layout.shape.rank = layout.strides.rank = layout.rank() - 2;
    return layout;
}

/// The last two dimensions of a stack's layout, as the matrix whose first element is at `data`.
template <class T>
[[nodiscard]] View<T> matrix_at(T* data, const Layout& layout) {
    const int m = layout.rank() - 2;
    return {data, Layout({layout.extent(m), layout.extent(m + 1)},
                         {layout.stride(m), layout.stride(m + 1)})};
}

/// `v` with the stack of `out` before its last two dimensions, broadcast where needed.
template <class T>
[[nodiscard]] View<const T> stacked_as(View<const T> v, const Shape& out) {
    Shape shape = out;
    shape[out.rank - 2] = v.extent(v.rank() - 2);
    shape[out.rank - 1] = v.extent(v.rank() - 1);
    return broadcast_to(v, shape);
}

/// As in BLAS: alpha = 0 reads neither operand, so K becomes 0.
template <class T>
[[nodiscard]] bool sums_nothing(View<const T> a, const Epilogue& epilogue) {
    return epilogue.alpha == 0 || a.extent(a.rank() - 1) == 0;
}

/// Rejects, in the name of `op`, what no product supports. Defined for float, bf16 and f16, and for
/// outputs that are float or T.
/// @throws std::invalid_argument  a rank below 2, shapes that do not match, relu and swish, a null
/// pointer, an output that is not injective or overlaps an input
template <class T, class Out>
void require_product(const char* op, View<const T> a, View<const T> b, const Epilogue& epilogue,
                     View<Out> out);

/// Calls f(a, b, epilogue, out) for each matrix of the stack. For arguments that matmul_cpu()
/// accepts.
template <class T, class Out, class F>
void for_each_matrix(View<const T> a, View<const T> b, Epilogue epilogue, View<Out> out,
                     const F& f) {
    if (out.size() == 0) return;
    if (sums_nothing(a, epilogue)) {
        epilogue.alpha = 1;  // the sum is empty: an infinite alpha would make 0 a NaN
        a = slice(a, a.rank() - 1, 0, 0);
        b = slice(b, b.rank() - 2, 0, 0);
        // They are not read, so they may have null pointers.
        a.data = b.data = static_cast<const T*>(static_cast<const void*>(out.data));
    }
    a = stacked_as(a, out.layout.shape);
    b = stacked_as(b, out.layout.shape);
    const Layout stack_a = stack_of(a.layout), stack_b = stack_of(b.layout);
    const Layout stack_out = stack_of(out.layout);
    for (std::int64_t i = 0; i < stack_out.size(); ++i) {
        const Index at = unravel(i, stack_out.shape);
        f(matrix_at(a.data + offset(stack_a, at), a.layout),
          matrix_at(b.data + offset(stack_b, at), b.layout), epilogue,
          matrix_at(out.data + offset(stack_out, at), out.layout));
    }
}

}  // namespace sixdays::day05_matmul
