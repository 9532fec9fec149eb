/// @file
/// Argument checks shared by the backward passes and AdamW.
#pragma once

#include <string>

#include "common/tensor/arguments.hpp"
#include "common/tensor/simplify.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::day06_transformer_ops {

/// Rows run along the last dimension, which must exist.
template <class T>
void require_rows(const char* op, const char* name, const View<T>& v) {
    if (v.rank() > 0) return;
    reject(op, ": ", name, " has rank 0, but rows run along the last dimension");
}

/// A view of this shape, which may not have memory yet.
template <class T>
void require_extents(const char* op, const char* name, const View<T>& v, const Shape& wanted) {
    if (v.shape() == wanted) return;
    reject(op, ": ", name, " has shape ", v.shape(), ", but must have ", wanted);
}

/// A view of this shape that has memory.
template <class T>
void require_shape(const char* op, const char* name, const View<T>& v, const Shape& wanted) {
    require_extents(op, name, v, wanted);
    require_memory(op, name, v);
}

/// An output: of this shape, injective, not null.
template <class T>
void require_gradient(const char* op, const char* name, const View<T>& v, const Shape& wanted) {
    require_shape(op, name, v, wanted);
    require_injective(op, name, v);
}

/// A dense view: no gaps, with its dimensions in any order in memory.
template <class T>
void require_run(const char* op, const char* name, const View<T>& v) {
    if (v.size() == 0) return;
    const Layout run = simplify(v.layout)[0];
    if (run.rank() == 0 || (run.rank() == 1 && run.stride(0) == 1)) return;
    reject(op, ": ", name, " has ", v.layout, ", but must be dense, without gaps");
}

/// Two outputs must not share an element. They may be interleaved, as in the two halves of each row
/// of one tensor.
template <class T>
void require_apart_or_between(const char* op, const char* name_a, const View<T>& a,
                              const char* name_b, const View<T>& b) {
    const auto bytes = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(b.data) -
                                                 reinterpret_cast<std::uintptr_t>(a.data));
    const auto size = static_cast<std::int64_t>(sizeof(T));
    if (equivalent(a.layout, b.layout) && a.rank() < kMaxRank && bytes % size == 0) {
        Shape shape = Dims::filled(a.rank() + 1, 2);  // both as one tensor, which must be injective
        Strides strides = Dims::filled(a.rank() + 1, bytes / size);
        for (int d = 0; d < a.rank(); ++d) {
            shape[d + 1] = a.extent(d);
            strides[d + 1] = a.stride(d);
        }
        if (overlap(a, b) && is_injective(Layout(shape, strides))) return;
    }
    require_apart(op, name_a, a, name_b, b);
}

/// broadcast_to(), with the argument's name in the message.
template <class T>
[[nodiscard]] View<T> stretched(const char* op, const char* name, const View<T>& v,
                                const Shape& shape) {
    require_memory(op, name, v);
    return with_prefix(std::string(op) + ": " + name, [&] { return broadcast_to(v, shape); });
}

}  // namespace sixdays::day06_transformer_ops
