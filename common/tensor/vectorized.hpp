/// @file
/// 128-bit (vectorized) accesses: 16 bytes, called a vector in this code, is the most that one
/// thread loads or stores at once. That takes a quarter of the instructions for floats, and a
/// sixteenth for bytes. There is one condition: a vector begins at an address that is a multiple of
/// 16.
///
/// This file answers two questions.
///
/// **A contiguous run.** Where do the vectors begin? Up to three floats are before the first
/// multiple of 16 (the scalar head), and up to three after the last whole vector (the scalar tail).
/// They are processed one by one:
///
///     address % 16     4   8  12   0   4   8  12   0   4   8  12   0   4
///     element          0   1   2 | 3   4   5   6 | 7   8   9  10 |11  12
///                      head      | vector 0      | vector 1      | tail
///
/// **A tensor of several dimensions.** Can every row be moved in vectors? Only if each begins at a
/// multiple of 16: rows_begin_at(). If rows also consist of whole vectors, the tensor can be viewed
/// as one of larger elements: has_wider(), wider().
///
/// All of it is plain host code, except VectorizedRun::scalar_element().
#pragma once

#include <cstdint>

#include "common/tensor/layout.hpp"

namespace sixdays {

/// Bytes of a vector: the most that one thread loads or stores at once. A vector begins at a
/// multiple of it.
inline constexpr int kVectorBytes = 16;  // bytes

/// Bytes between the last multiple of 16 and this address, 0 to 15.
[[nodiscard]] inline std::int64_t misalignment(const void* address) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % kVectorBytes);
}

/// Whether all these addresses are equally far past a multiple of 16, so that one split suits all.
template <class... Address>
[[nodiscard]] bool equally_misaligned([[maybe_unused]] const void* first,
                                      const Address*... others) {
    return ((misalignment(others) == misalignment(first)) && ...);
}

/// One run of elements, cut into head, vectors and tail. Plain numbers, passed to a kernel by
/// value.
struct VectorizedRun {
    std::int64_t head = 0;     ///< elements before the first vector
    std::int64_t count = 0;    ///< vectors
    std::int64_t scalars = 0;  ///< elements in head and tail together
    int each = 0;              ///< elements in a vector

    /// Cuts the n elements from `data` on. An element has 1, 2, 4, 8 or 16 bytes, and `data` is a
    /// multiple of them; unchecked.
    template <class T>
    VectorizedRun(const T* data, std::int64_t n)
        : each(kVectorBytes / static_cast<int>(sizeof(T))) {
        const std::int64_t before = (kVectorBytes - misalignment(data)) % kVectorBytes;
        head = before / static_cast<std::int64_t>(sizeof(T));
        if (head > n) head = n;
        count = (n - head) / each;
        scalars = n - count * each;
    }

    /// The index of scalar element number i, 0 <= i < scalars: first those of the head, then those
    /// of the tail.
    SIXDAYS_HD std::int64_t scalar_element(std::int64_t i) const noexcept {
        return i < head ? i : i + count * each;
    }

    /// The number of threads needed, at one vector and one scalar element each.
    [[nodiscard]] std::int64_t threads() const noexcept {
        return count > scalars ? count : scalars;
    }
};

/// Whether every row (along the last dimension) begins at a multiple of `bytes`. Rank 1 is one row.
/// @param data     address of index (0, 0, ...)
/// @param element  bytes of an element, of which `bytes` is a multiple
[[nodiscard]] inline bool rows_begin_at(const void* data, const Layout& layout, int element,
                                        int bytes = kVectorBytes) {
    const std::int64_t each = bytes / element;
    bool yes = reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(bytes) == 0;
    for (int d = 0; d < layout.rank() - 1; ++d) {
        yes &= layout.extent(d) == 1 || layout.stride(d) % each == 0;
    }
    return yes;
}

/// Whether the tensor can be viewed as one with elements of `bytes`: rows begin at multiples of
/// that, consist of whole ones, and are contiguous (stride 1 in the last dimension).
[[nodiscard]] inline bool has_wider(const void* data, const Layout& layout, int element,
                                    int bytes = kVectorBytes) {
    const int last = layout.rank() - 1;
    return last >= 0 && layout.stride(last) == 1 && layout.extent(last) % (bytes / element) == 0 &&
           rows_begin_at(data, layout, element, bytes);
}

/// The layout of a tensor viewed as one of larger elements: `each` neighbours along the last
/// dimension become one element, and strides count these.
/// @param layout  one that has_wider() with bytes = each * element; unchecked
[[nodiscard]] inline Layout wider(Layout layout, std::int64_t each) {
    const int last = layout.rank() - 1;
    layout.shape[last] /= each;
    for (int d = 0; d < last; ++d) layout.strides[d] /= each;
    return layout;
}

}  // namespace sixdays
