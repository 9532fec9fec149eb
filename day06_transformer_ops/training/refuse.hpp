/// @file
/// What the ways back and AdamW refuse alike.
#pragma once

#include <string>

#include "common/tensor/arguments.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::day06_transformer_ops {

/// Rows along the last dim, of which there must be one.
template <class T>
void require_rows(const char* op, const char* name, const View<T>& v) {
    if (v.rank() > 0) return;
    refuse(std::string(op) + ": " + name + " has rank 0, but rows lie along the last dim");
}

/// A view of this shape, which may still be without memory.
template <class T>
void require_extents(const char* op, const char* name, const View<T>& v, const Shape& wanted) {
    if (v.shape() == wanted) return;
    refuse(std::string(op) + ": " + name + " has shape " + to_string(v.shape()) +
           ", but must have " + to_string(wanted));
}

/// A view of this shape and in memory.
template <class T>
void require_shape(const char* op, const char* name, const View<T>& v, const Shape& wanted) {
    require_extents(op, name, v, wanted);
    require_memory(op, name, v);
}

/// What is written lies apart from what is read or written besides.
template <class A, class B>
void require_apart(const char* op, const char* name, const View<A>& v, const char* written,
                   const View<B>& out) {
    if (overlap(v, out)) {
        refuse(std::string(op) + ": " + name + " overlaps " + written + ", which is written");
    }
}

/// What is written: of this shape, injective, somewhere.
template <class T>
void require_gradient(const char* op, const char* name, const View<T>& v, const Shape& wanted) {
    require_shape(op, name, v, wanted);
    require_injective(op, name, v);
}

/// broadcast_to(), with the argument's name in the sentence.
template <class T>
[[nodiscard]] View<T> stretched(const char* op, const char* name, const View<T>& v,
                                const Shape& shape) {
    require_memory(op, name, v);
    try {
        return broadcast_to(v, shape);
    } catch (const std::invalid_argument& refused) {
        refuse(std::string(op) + ": " + name + ": " + refused.what());
    }
}

}  // namespace sixdays::day06_transformer_ops
