/// @file
/// The bytes of an allocation that holds a tensor. Everything around and between its elements is
/// filled with a pattern, so that stray writes are detected.
///
///     | band | lead | element gap element gap ... element | band |
///
/// A gap is the padding between pitched rows; the lead misaligns the first element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/testing/element.hpp"

namespace sixdays::testing {

/// A copy of an allocation.
using Bytes = std::vector<std::byte>;

/// The bytes of an allocation that holds a tensor: band, lead, elements and gaps, band. Everything
/// around and between the elements is filled with a pattern, so that stray writes are detected.
class Image {
public:
    /// Fills every byte with the pattern, elements included.
    /// @param lead  elements of padding before the lowest one
    /// @param band  bytes of padding before the lead and after the highest element
    /// @throws std::invalid_argument  a negative lead
    Image(const Layout& layout, ElementType type, std::int64_t lead, std::int64_t band);

    /// Sets every byte of every element.
    void fill(std::byte byte);

    /// Sets every element to the one of the same index. @throws std::invalid_argument  the shapes
    /// differ, or two different values share a position (a stride of 0)
    void fill(const Elements& values);

    /// The layout of the tensor.
    const Layout& layout() const noexcept { return layout_; }
    /// The whole allocation.
    const Bytes& bytes() const noexcept { return bytes_; }

    /// Byte of the element at index (0, 0, ...), counted from the start of the allocation.
    std::int64_t origin() const noexcept { return origin_; }

    /// The elements as they are in `bytes`, a copy of the allocation.
    Elements elements_in(const Bytes& bytes) const {
        return {bytes.data() + origin_, layout_, type_};
    }

    /// The stray writes in `later`, a copy of the allocation; "" if there are none.
    /// "Written outside the elements: 4 bytes, 1 element past the end."
    std::string strays(const Bytes& later) const;

private:
    /// Are the elements contiguous, in index order?
    bool dense() const { return is_contiguous(layout_); }
    std::size_t element_bytes() const {
        return static_cast<std::size_t>(layout_.size() * type_.bytes);
    }

    std::byte* at(const Index& index) {
        return bytes_.data() + origin_ + offset(layout_, index) * type_.bytes;
    }

    Layout layout_;
    ElementType type_;
    std::int64_t origin_ = 0;
    Bytes bytes_;
};

}  // namespace sixdays::testing
