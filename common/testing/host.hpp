/// @file
/// Inputs and outputs of an operation under test, in host memory: HostIn, HostOut. device.hpp has
/// the same two in device memory, so that CPU reference and CUDA version share their tests.
///
///     HostIn<float> a(values);               // or HostIn<float> a(values, layout);
///     HostOut<float> out({M, K});            // poisoned, with guard bands
///     square_cpu(a.view(), out.view());
///     CHECK(out.matches(known));
///     CHECK(a.unchanged());
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>

#include "common/testing/compare.hpp"
#include "common/testing/image.hpp"

namespace sixdays::testing {

/// Elements of padding before the first one, so that its pointer is aligned to one element only.
struct Lead {
    std::int64_t elements = 0;  ///< 0: aligned as an allocation is
};

/// The byte that an output is filled with. 0xFF in every byte is a NaN in all floating-point types
/// and -1 in signed integers. Choose a value that the operation cannot produce: where the poison is
/// the expected value, matches() rejects, since a right element looks like an untouched one.
struct Poison {
    unsigned char byte = 0xFF;  ///< 0 to 255
};

/// Host memory that holds an image, aligned like memory from cudaMalloc.
class HostMemory {
public:
    static constexpr std::int64_t kBand = 4096;  // bytes: 1,024 floats, one per thread of a block
    /// Bytes of a guard band.
    static std::int64_t band() { return kBand; }

    /// Allocates memory and copies the image to it.
    explicit HostMemory(const Bytes& image);
    /// Address of the first byte.
    std::byte* data() noexcept { return bytes_.get(); }
    /// Address of the first byte, read-only.
    const std::byte* data() const noexcept { return bytes_.get(); }
    /// A copy of the bytes as they are now.
    Bytes read() const { return {data(), data() + size_}; }

private:
    /// Frees the memory of a HostMemory.
    struct Free {
        /// Frees it.
        void operator()(std::byte* bytes) const noexcept;
    };
    std::size_t size_;
    std::unique_ptr<std::byte, Free> bytes_;
};

namespace detail {

// Shared by all element types. `later`: the allocation as it is after the call.
Comparison unchanged(const Image& before, const Bytes& later);
Comparison untouched(const Image& before, const Bytes& later);
Comparison intact(const Image& before, const Bytes& later, const char* whose);
Comparison both(const Comparison& guards, const Comparison& values);

}  // namespace detail

/// An input: a copy of host values, and a check that the operation did not change it.
template <class T, class Memory>
class In {
public:
    /// The values, row-major.
    explicit In(const Tensor<T>& values, Lead lead = {}) : In(values, values.view().layout, lead) {}

    /// The values in any layout, gaps included. @throws std::invalid_argument  shapes differ, or a
    /// stride of 0 where values differ
    In(const Tensor<T>& values, const Layout& layout, Lead lead = {})
        : image_(filled(layout, lead, values)), memory_(image_.bytes()) {}

    /// The input, as the operation under test gets it.
    View<const T> view() const {
        return {reinterpret_cast<const T*>(memory_.data() + image_.origin()), image_.layout()};
    }

    /// Whether every byte is unchanged, in gaps and around the elements too.
    Comparison unchanged() const { return detail::unchanged(image_, memory_.read()); }

private:
    static Image filled(const Layout& layout, Lead lead, const Tensor<T>& values) {
        Image image(layout, element_type<T>(), lead.elements, Memory::band());
        image.fill(elements(values.view()));
        return image;
    }

    Image image_;
    Memory memory_;
};

/// An output: poisoned before the call. After it every element is compared, and the memory around
/// and between the elements is checked for stray writes.
template <class T, class Memory>
class Out {
public:
    /// A row-major output of this shape, filled with the poison.
    explicit Out(const Shape& shape, Lead lead = {}, Poison poison = {})
        : Out(row_major(shape), lead, poison) {}

    /// An output of any layout, filled with the poison; gaps hold a pattern.
    explicit Out(const Layout& layout, Lead lead = {}, Poison poison = {})
        : poison_(sizeof(T), static_cast<std::byte>(poison.byte)),
          image_(poisoned(layout, lead, poison)),
          memory_(image_.bytes()) {}

    /// For an in-place operation: holds these values instead of a poison. The expected values of
    /// elements that should change must differ from them, or an untouched element passes.
    static Out holding(const Tensor<T>& values, Lead lead = {}) {
        return Out(values, values.view().layout, lead);
    }
    /// For an in-place operation in any layout: holds these values instead of a poison.
    static Out holding(const Tensor<T>& values, const Layout& layout, Lead lead = {}) {
        return Out(values, layout, lead);
    }

    /// The output, as the operation under test gets it.
    View<T> view() {
        return {reinterpret_cast<T*>(memory_.data() + image_.origin()), image_.layout()};
    }

    /// Every element written and equal() to the expected one, nothing written elsewhere.
    /// @param want  a Tensor, a View in host memory, or a HostOut, whose guards are checked too
    template <class Want>
    Comparison matches(const Want& want) const {
        const Bytes later = memory_.read();
        const auto expected = expected_view(want);
        static_assert(std::is_same_v<decltype(expected), const View<const T>>,
                      "matches() compares one element type; close_to() may mix them");
        return detail::both(guards(later, want),
                            detail::equal(image_.elements_in(later), elements(expected), poison_));
    }

    /// Every element written and close() to the expected one, nothing written elsewhere.
    /// @param want   a Tensor, a View in host memory, or a HostOut, whose guards are checked too
    /// @param bound  a number, or a function of the multi-index
    template <class Want, class B>
    Comparison close_to(const Want& want, const B& bound, Nans nans = Nans::rejected) const {
        const Bytes later = memory_.read();
        return detail::both(guards(later, want),
                            detail::close(image_.elements_in(later), elements(expected_view(want)),
                                          detail::bound_from(bound), nans, poison_));
    }

    /// Whether nothing was written. A rejected call must guarantee it.
    Comparison untouched() const { return detail::untouched(image_, memory_.read()); }

    /// Whether nothing was written outside of the elements; matches() and close_to() ask this too.
    /// @param whose  the start of the message
    Comparison intact(const char* whose = "The output") const {
        return detail::intact(image_, memory_.read(), whose);
    }

    /// A row-major copy of the elements.
    Tensor<T> values() const {
        const Bytes later = memory_.read();
        const Elements now = image_.elements_in(later);
        Tensor<T> tensor(image_.layout().shape);
        Index index = Dims::filled(tensor.shape().rank, 0);
        for (std::int64_t k = 0; k < tensor.size(); ++k, advance(index, tensor.shape())) {
            std::copy_n(now.at(index), sizeof(T), reinterpret_cast<std::byte*>(tensor.data() + k));
        }
        return tensor;
    }

    /// The elements in place: host memory only.
    View<const T> view() const {
        return {reinterpret_cast<const T*>(memory_.data() + image_.origin()), image_.layout()};
    }

private:
    Out(const Tensor<T>& values, const Layout& layout, Lead lead)
        : image_(layout, element_type<T>(), lead.elements, Memory::band()),
          memory_((image_.fill(elements(values.view())), image_.bytes())) {}

    static Image poisoned(const Layout& layout, Lead lead, Poison poison) {
        Image image(layout, element_type<T>(), lead.elements, Memory::band());
        image.fill(static_cast<std::byte>(poison.byte));
        return image;
    }

    template <class U>
    static View<const U> expected_view(const Out<U, HostMemory>& want) {
        return want.view();
    }
    template <class Want>
    static auto expected_view(const Want& want) {
        return detail::const_view(want);
    }

    template <class Want>
    Comparison guards(const Bytes& later, const Want&) const {
        return detail::intact(image_, later, "The output");
    }
    template <class U>
    Comparison guards(const Bytes& later, const Out<U, HostMemory>& want) const {
        return detail::both(want.intact("The expected output"),
                            detail::intact(image_, later, "The output"));
    }

    Bytes poison_;  // of one element; empty if the output holds values
    Image image_;
    Memory memory_;
};

/// An input in host memory: a copy of values, and a check that it stays unchanged.
template <class T>
using HostIn = In<T, HostMemory>;
/// An output in host memory: poisoned before the call, compared after it.
template <class T>
using HostOut = Out<T, HostMemory>;

}  // namespace sixdays::testing
