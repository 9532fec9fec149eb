/// @file
/// The building blocks of every check_<op>: one requirement per function, each with a message that
/// contains the values. All throw std::invalid_argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/tensor/sentence.hpp"
#include "common/tensor/view.hpp"

namespace sixdays {

/// Returns f(), and puts `who` and ": " before the message of a std::invalid_argument that f()
/// throws, such as "embed: places". So a caller sees the name of the operation that was called, not
/// that of a helper.
/// @throws std::invalid_argument  where f() does
template <class F>
auto with_prefix(const std::string& who, const F& f) {
    try {
        return f();
    } catch (const std::invalid_argument& rejected) {
        reject(who, ": ", rejected.what());
    }
}

/// A tensor with elements must have an address.
/// @param op    the operation, for the message
/// @param name  the argument, for the message
/// @throws std::invalid_argument  v has elements and a null pointer
template <class T>
void require_memory(const char* op, const char* name, const View<T>& v) {
    if (v.data == nullptr && v.size() > 0) {
        reject(op, ": ", name, " is a null pointer, but its shape ", v.layout.shape, " has ",
               v.size(), " elements");
    }
}

/// Two arguments must have the same shape; their strides may differ.
/// @param op      the operation, for the message
/// @param name_a  the arguments' names, for the message
/// @throws std::invalid_argument  the shapes differ
template <class A, class B>
void require_same_shape(const char* op, const char* name_a, const View<A>& a, const char* name_b,
                        const View<B>& b) {
    if (a.layout.shape != b.layout.shape) {
        reject(op, ": ", name_a, " has shape ", a.layout.shape, ", but ", name_b, " has shape ",
               b.layout.shape, "; they must be equal");
    }
}

/// An argument must have this many dimensions.
/// @throws std::invalid_argument  v has another rank
template <class T>
void require_rank(const char* op, const char* name, const View<T>& v, int rank) {
    if (v.rank() != rank) {
        reject(op, ": ", name, " has shape ", v.layout.shape, " of rank ", v.rank(), ", but rank ",
               rank, " is needed");
    }
}

/// An argument must be contiguous in row-major order, as is_contiguous() defines it.
/// @throws std::invalid_argument  v has gaps or another order
template <class T>
void require_contiguous(const char* op, const char* name, const View<T>& v) {
    if (!is_contiguous(v.layout)) {
        reject(op, ": ", name, " has ", v.layout,
               ", which is not contiguous; row-major strides would be ",
               row_major(v.layout.shape).strides);
    }
}

/// Two indices of an output must not share an offset: their writers would race.
/// @throws std::invalid_argument  is_injective() cannot prove that all offsets of v differ
template <class T>
void require_injective(const char* op, const char* name, const View<T>& v) {
    if (!is_injective(v.layout)) {
        reject(op, ": ", name, " has ", v.layout,
               ", where two indices may share one place; writers of it would race");
    }
}

/// An output must be injective and have an address.
/// @throws std::invalid_argument  as require_injective() and require_memory()
template <class T>
void require_output(const char* op, const View<T>& out, const char* name = "out") {
    require_injective(op, name, out);
    require_memory(op, name, out);
}

/// A plain 2-D kernel puts rows on the y axis of its grid in blocks of 8 rows, and a grid has at
/// most 65,535 blocks in y. Grid-stride loops cover more.
inline constexpr std::int64_t kMostRows = 65535 * 8;

/// A matrix must not have more than kMostRows rows.
/// @param matrix  its rows are dimension 0
/// @throws std::invalid_argument  more rows
template <class T>
void require_rows_fit(const char* op, const char* name, const View<T>& matrix) {
    if (matrix.extent(0) > kMostRows) {
        reject(op, ": ", name, " has ", matrix.extent(0),
               " rows, but a grid of 65,535 blocks of 8 rows ends at ", kMostRows);
    }
}

namespace detail {

/// "; in spans bytes [0, 24), out bytes [4, 28)": counted from the lower of the two.
template <class A, class B>
std::string spans(const char* name_a, const View<A>& a, const char* name_b, const View<B>& b) {
    const auto bytes = [](const auto& v) {
        const Reach all = reach(v.layout);
        return std::pair(reinterpret_cast<std::uintptr_t>(v.data + all.lowest),
                         reinterpret_cast<std::uintptr_t>(v.data + all.highest + 1));
    };
    const auto [first_a, end_a] = bytes(a);
    const auto [first_b, end_b] = bytes(b);
    const std::uintptr_t low = std::min(first_a, first_b);
    return sentence("; ", name_a, " spans bytes [", first_a - low, ", ", end_a - low, "), ", name_b,
                    " bytes [", first_b - low, ", ", end_b - low, ")");
}

}  // namespace detail

/// An output must not overlap any other operand.
/// @param v    another operand, called `name`
/// @param out  the output, called `written`
/// @throws std::invalid_argument  the two may share a byte, as overlap() defines it; the message
/// shows the bytes that each spans
template <class A, class B>
void require_apart(const std::string& op, const char* name, const View<A>& v, const char* written,
                   const View<B>& out) {
    if (overlap(v, out)) {
        reject(op, ": ", name, " overlaps ", written, ", which is written",
               detail::spans(name, v, written, out));
    }
}

/// An input may be the output itself (the same address, element size and layout), or disjoint from
/// it.
/// @throws std::invalid_argument  the two overlap in another way
template <class A, class B>
void require_same_or_apart(const char* op, const char* name_in, const View<A>& in,
                           const char* name_out, const View<B>& out) {
    const bool same = static_cast<const void*>(in.data) == static_cast<const void*>(out.data) &&
                      sizeof(A) == sizeof(B) && equivalent(in.layout, out.layout);
    if (!same && overlap(in, out)) {
        reject(
            op, ": ", name_in, " and ", name_out,
            " overlap without being the same tensor; some elements would be read after they were "
            "overwritten",
            detail::spans(name_in, in, name_out, out));
    }
}

}  // namespace sixdays
