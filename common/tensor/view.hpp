/// @file
/// View<T>: a pointer and a layout. It owns nothing and copies nothing.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/tensor/layout.hpp"

namespace sixdays {

/// A tensor in memory that it does not own, on the CPU or on the GPU: the pointer does not tell
/// which. `View<const float>` is read-only. Any strides that Layout accepts: 0, negative,
/// overlapping. Small and trivially copyable, so a kernel takes it by value.
template <class T>
struct View {
    /// Address of index (0, 0, ...); with negative strides, lower addresses belong to it as well.
    T* data = nullptr;
    /// Shape and strides, in elements.
    Layout layout;

    /// Rank 0 at a null pointer.
    View() = default;
    /// Index (0, 0, ...) is at `data_`. Unchecked: the memory is not known here.
    View(T* data_, const Layout& layout_) : data(data_), layout(layout_) {}

    /// Row-major over `shape`, from `data_` on. @throws std::invalid_argument  as size(shape)
    View(T* data_, const Shape& shape) : data(data_), layout(row_major(shape)) {}

    /// A View<float> converts to a View<const float> implicitly.
    template <std::same_as<std::remove_const_t<T>> U>
    View(const View<U>& other) : data(other.data), layout(other.layout) {}

    /// The number of dimensions.
    SIXDAYS_HD int rank() const noexcept { return layout.rank(); }
    /// The extents, outermost dimension first.
    SIXDAYS_HD const Shape& shape() const noexcept { return layout.shape; }
    /// The strides, in elements.
    SIXDAYS_HD const Strides& strides() const noexcept { return layout.strides; }
    /// The number of indices along dimension d. Unchecked: 0 <= d < rank.
    SIXDAYS_HD std::int64_t extent(int d) const noexcept { return layout.extent(d); }
    /// Elements from one index of dimension d to the next. Unchecked: 0 <= d < rank.
    SIXDAYS_HD std::int64_t stride(int d) const noexcept { return layout.stride(d); }
    /// The extent of dimension d, assignable. Unchecked.
    SIXDAYS_HD std::int64_t& extent(int d) noexcept { return layout.extent(d); }
    /// The stride of dimension d, assignable. Unchecked.
    SIXDAYS_HD std::int64_t& stride(int d) noexcept { return layout.stride(d); }
    /// The number of elements.
    SIXDAYS_HD std::int64_t size() const noexcept { return layout.size(); }

    /// The only element of a tensor of rank 0.
    SIXDAYS_HD T& operator()() const noexcept { return *data; }

    /// The element at (i, j, ...), one index per dimension: data[i * stride(0) + j * stride(1) +
    /// ...]. Bounds are not checked.
    template <class... I>
    SIXDAYS_HD T& operator()(std::int64_t first, I... rest) const noexcept {
        return data[offset(layout, first, rest...)];
    }
    /// The element at this multi-index, data[offset(layout, index)]. Bounds are not checked.
    SIXDAYS_HD T& operator()(const Index& index) const noexcept {
        return data[offset(layout, index)];
    }
};

/// Whether the two may share a byte. Compares the whole spans, so two interleaved views (the even
/// and the odd columns of a matrix) count as overlapping: "no" is certain, "yes" is conservative.
template <class A, class B>
[[nodiscard]] bool overlap(const View<A>& a, const View<B>& b) {
    if (a.size() == 0 || b.size() == 0) return false;
    const Reach ra = reach(a.layout), rb = reach(b.layout);
    const auto first_byte = [](const auto* p) { return reinterpret_cast<std::uintptr_t>(p); };
    return first_byte(a.data + ra.lowest) < first_byte(b.data + rb.highest + 1) &&
           first_byte(b.data + rb.lowest) < first_byte(a.data + ra.highest + 1);
}

}  // namespace sixdays
