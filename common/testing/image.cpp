#include "common/testing/image.hpp"

#include <algorithm>
#include <cstring>

#include "common/tensor/sentence.hpp"

namespace sixdays::testing {
namespace {

// Differs from byte to byte, so that a byte copied from its neighbour is noticed too.
std::byte pattern(std::size_t k) {
    return static_cast<std::byte>((k * 37 + 11) & 0xFF);
}

// Distances, in elements, of stray writes. Whole elements are counted, since a byte of a written
// value may equal the pattern by chance.
struct Strays {
    std::int64_t count = 0, nearest = 0, farthest = 0;

    void add(std::int64_t distance) {
        if (count > 0 && distance == farthest) return;  // another byte of the same element
        if (count == 0) nearest = distance;
        farthest = distance;
        count += 1;
    }

    std::string text(int bytes, const char* where) const {
        if (count == 0) return "";
        const auto [low, high] = std::minmax(nearest, farthest);
        std::string distance = std::to_string(low);
        if (low != high) distance += " to " + std::to_string(high);
        return " " + std::to_string(count * bytes) + " bytes, " + distance +
               (high == 1 ? " element " : " elements ") + where + ".";
    }
};

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0);
}

}  // namespace

Image::Image(const Layout& layout, ElementType type, std::int64_t lead, std::int64_t band)
    : layout_(layout), type_(type) {
    if (lead < 0) reject("a lead of ", lead, " elements");
    origin_ = band + (lead - reach(layout).lowest) * type.bytes;
    const std::int64_t room = (lead + required_span(layout)) * type.bytes;
    bytes_.resize(static_cast<std::size_t>(band + room + band));
    for (std::size_t k = 0; k < bytes_.size(); ++k) bytes_[k] = pattern(k);
}

void Image::fill(std::byte byte) {
    if (dense()) {  // fast path, for tests of 2^31 elements
        std::fill_n(bytes_.data() + origin_, element_bytes(), byte);
        return;
    }
    Index index = Dims::filled(layout_.rank(), 0);
    for (std::int64_t n = layout_.size(); n > 0; --n, advance(index, layout_.shape)) {
        std::fill_n(at(index), type_.bytes, byte);
    }
}

void Image::fill(const Elements& values) {
    if (values.layout.shape != layout_.shape) {
        reject("values of shape ", values.layout.shape, " for a layout of shape ", layout_.shape);
    }
    if (dense() && is_contiguous(values.layout)) {
        std::copy_n(values.data, element_bytes(), bytes_.data() + origin_);
        return;
    }
    const auto bytes = static_cast<std::size_t>(type_.bytes);
    Index index = Dims::filled(layout_.rank(), 0);
    for (std::int64_t n = layout_.size(); n > 0; --n, advance(index, layout_.shape)) {
        std::memcpy(at(index), values.at(index), bytes);
    }
    for (std::int64_t n = layout_.size(); n > 0; --n, advance(index, layout_.shape)) {
        if (!same_bytes(at(index), values.at(index), type_.bytes)) {
            reject("element ", index, " shares its position with another, but their values differ");
        }
    }
}

std::string Image::strays(const Bytes& later) const {
    if (dense()) {  // no gaps: compare what is before and after
        const auto head = bytes_.begin() + origin_;
        const auto tail = head + static_cast<std::ptrdiff_t>(element_bytes());
        const auto later_tail = later.begin() + (tail - bytes_.begin());
        if (std::equal(bytes_.begin(), head, later.begin()) &&
            std::equal(tail, bytes_.end(), later_tail)) {
            return "";
        }
    }
    // The elements may have changed: copy them, so that any remaining difference is a stray write.
    Image expected = *this;
    expected.fill(elements_in(later));
    if (expected.bytes_ == later) return "";

    const Reach r = reach(layout_);
    Strays before, between, past;
    for (std::size_t k = 0; k < later.size(); ++k) {
        if (expected.bytes_[k] == later[k]) continue;
        const std::int64_t at =
            floor_divide(static_cast<std::int64_t>(k) - origin_, type_.bytes);  // in elements
        if (at < r.lowest) {
            before.add(r.lowest - at);
        } else if (at > r.highest) {
            past.add(at - r.highest);
        } else {
            between.add(at - r.lowest);
        }
    }
    return "Written outside the elements:" + before.text(type_.bytes, "before the start") +
           between.text(type_.bytes, "from the start, in a gap") +
           past.text(type_.bytes, "past the end");
}

}  // namespace sixdays::testing
