/// @file
/// The bytes of an allocation in which a tensor lies, with everything around and between its
/// elements filled with a pattern, so that a write to where no element lies is seen.
///
///     | band | lead | element gap element gap ... element | band |
///
/// A gap is what a pitch leaves between rows; the lead moves the first element off its alignment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/testing/element.hpp"

namespace sixdays::testing {

using Bytes = std::vector<std::byte>;

class Image {
public:
    /// Every byte the pattern's, elements included.
    /// @param lead  elements of room before the lowest one
    /// @param band  bytes of room before the lead and after the highest element
    /// @throws std::invalid_argument  a negative lead
    Image(const Layout& layout, ElementType type, std::int64_t lead, std::int64_t band);

    /// Sets every byte of every element.
    void fill(std::byte byte);

    /// Sets every element to the one of the same index. @throws std::invalid_argument  the shapes
    /// differ, or two different values would lie in one place (a stride of 0)
    void fill(const Elements& values);

    const Layout& layout() const noexcept { return layout_; }
    const Bytes& bytes() const noexcept { return bytes_; }

    /// Byte of the element at index (0, 0, ...), counted from the start of the allocation.
    std::int64_t origin() const noexcept { return origin_; }

    /// The elements as they are in `bytes`, a copy of the allocation.
    Elements elements_in(const Bytes& bytes) const {
        return {bytes.data() + origin_, layout_, type_};
    }

    /// What `later`, a copy of the allocation, has changed where no element lies; "" if nothing.
    /// "Written outside the elements: 4 bytes, 1 element past the end."
    std::string strays(const Bytes& later) const;

private:
    /// Do the elements lie one after the other, in index order?
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
