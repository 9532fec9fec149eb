/// @file
/// Tensor<T>: host memory that owns its elements, row-major.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common/tensor/sentence.hpp"
#include "common/tensor/view.hpp"

namespace sixdays {

/// One CPU allocation with a shape. For loops, tests and examples.
template <class T>
class Tensor {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements to point at");

public:
    /// Elements are value-initialized: 0 for numbers. @throws std::invalid_argument  as size(shape)
    explicit Tensor(const Shape& shape)
        : layout_(row_major(shape)), elements_(static_cast<std::size_t>(layout_.size())) {}

    /// Takes these elements.
    /// @param elements  in row-major order
    /// @throws std::invalid_argument  their number is not the shape's size
    Tensor(const Shape& shape, std::vector<T> elements)
        : layout_(row_major(shape)), elements_(std::move(elements)) {
        if (static_cast<std::int64_t>(elements_.size()) != layout_.size()) {
            reject("shape ", shape, " has ", layout_.size(), " elements, but ", elements_.size(),
                   " were given");
        }
    }

    /// The extents, outermost dimension first.
    const Shape& shape() const noexcept { return layout_.shape; }
    /// The number of elements.
    std::int64_t size() const noexcept { return layout_.size(); }
    /// Host address of the first element; the others follow in row-major order.
    T* data() noexcept { return elements_.data(); }
    /// Host address of the first element, read-only.
    const T* data() const noexcept { return elements_.data(); }

    /// All elements, row-major. Valid as long as the tensor is.
    View<T> view() noexcept { return {elements_.data(), layout_}; }
    /// All elements, row-major and read-only. Valid as long as the tensor is.
    View<const T> view() const noexcept { return {elements_.data(), layout_}; }

    /// The element at (i, j, ...), one index per dimension. Unchecked; rank 0 takes no index.
    template <class... I>
    T& operator()(I... index) noexcept {
        return elements_[at(index...)];
    }
    /// The element at (i, j, ...), read-only. Unchecked; rank 0 takes no index.
    template <class... I>
    const T& operator()(I... index) const noexcept {
        return elements_[at(index...)];
    }

private:
    template <class... I>
    std::size_t at(I... index) const noexcept {
        return static_cast<std::size_t>(offset(layout_, Index{index...}));
    }

    Layout layout_;
    std::vector<T> elements_;
};

}  // namespace sixdays
