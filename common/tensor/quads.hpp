/// @file
/// A quad: 16 bytes, the most that one thread can load or store at once. Moving quads takes a
/// quarter of the instructions that floats take, and a sixteenth of those for bytes. There is one
/// condition: a quad begins at an address that is a multiple of 16.
///
/// Two questions follow, and this file has the answers.
///
/// **One run of memory.** Where do the quads begin? Up to three floats lie before the first
/// multiple of 16 (the head), up to three behind the last whole quad. These loose ends go one by
/// one:
///
///     address % 16     4   8  12   0   4   8  12   0   4   8  12   0   4
///     element          0   1   2 | 3   4   5   6 | 7   8   9  10 |11  12
///                      head      | quad 0        | quad 1        | tail
///
/// **A tensor of several dims.** May every row be moved quad by quad? Only if each begins at a
/// multiple of 16: rows_begin_at(). If they are made of whole quads as well, the tensor is one of
/// larger elements: has_wider(), wider().
///
/// All of it is plain host code, but for Quads::loose_element().
#pragma once

#include <cstdint>

#include "common/tensor/layout.hpp"

namespace sixdays {

inline constexpr int kQuad = 16;  // bytes

/// Bytes between the last multiple of 16 and this address, 0 to 15.
[[nodiscard]] inline std::int64_t past_quad(const void* address) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % kQuad);
}

/// Are all these addresses equally far past a multiple of 16 bytes? Then one cut suits them all.
template <class... Address>
[[nodiscard]] bool equally_past_quad([[maybe_unused]] const void* first, const Address*... others) {
    return ((past_quad(others) == past_quad(first)) && ...);
}

/// One run of elements, cut into head, quads and tail. Plain numbers: a kernel takes it by value.
struct Quads {
    std::int64_t head = 0;   // elements before the first quad
    std::int64_t count = 0;  // quads
    std::int64_t loose = 0;  // elements in head and tail together
    int each = 0;            // elements in a quad

    /// Cuts the n elements from `data` on. An element has 1, 2, 4, 8 or 16 bytes, and `data` is a
    /// multiple of them; unchecked.
    template <class T>
    Quads(const T* data, std::int64_t n) : each(kQuad / static_cast<int>(sizeof(T))) {
        const std::int64_t before = (kQuad - past_quad(data)) % kQuad;
        head = before / static_cast<std::int64_t>(sizeof(T));
        if (head > n) head = n;
        count = (n - head) / each;
        loose = n - count * each;
    }

    // [loose]
    /// Which element is loose element number i, 0 <= i < loose? First come those of the head, then
    /// those of the tail.
    SIXDAYS_HD std::int64_t loose_element(std::int64_t i) const noexcept {
        return i < head ? i : i + count * each;
    }
    // [loose]

    /// Threads that are enough for one quad and one loose element each.
    [[nodiscard]] std::int64_t threads() const noexcept { return count > loose ? count : loose; }
};

/// Does every row, a walk along the last dim, begin at a multiple of `bytes`? Rank 1 is one row.
/// @param data     where index (0, 0, ...) lies
/// @param element  bytes of an element, of which `bytes` is a multiple
[[nodiscard]] inline bool rows_begin_at(const void* data, const Layout& layout, int element,
                                        int bytes = kQuad) {
    const std::int64_t each = bytes / element;
    bool yes = reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(bytes) == 0;
    for (int d = 0; d < layout.rank() - 1; ++d) {
        yes &= layout.extent(d) == 1 || layout.stride(d) % each == 0;
    }
    return yes;
}

/// Can the tensor be seen as one of elements of `bytes` each? Then its rows begin at multiples of
/// that, are made of whole ones, and lie in one piece: stride 1 in the last dim.
[[nodiscard]] inline bool has_wider(const void* data, const Layout& layout, int element,
                                    int bytes = kQuad) {
    const int last = layout.rank() - 1;
    return last >= 0 && layout.stride(last) == 1 && layout.extent(last) % (bytes / element) == 0 &&
           rows_begin_at(data, layout, element, bytes);
}

/// That tensor's layout: `each` neighbours of the last dim have become one element, and strides
/// count these. @param layout  one that has_wider() with bytes = each * element
[[nodiscard]] inline Layout wider(Layout layout, std::int64_t each) {
    const int last = layout.rank() - 1;
    layout.shape[last] /= each;
    for (int d = 0; d < last; ++d) layout.strides[d] /= each;
    return layout;
}

}  // namespace sixdays
