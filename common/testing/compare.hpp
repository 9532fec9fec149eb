/// @file
/// Two tensors compared over every element, and the first mismatch explained.
///
///     CHECK(equal(got.view(), want.view()));             // moves, argmax, integers held in floats
///     CHECK(close(got.view(), want.view(), 1e-6));       // |got - want| <= 1e-6
///     CHECK(close(got.view(), want.view(), [&](const Index& i) { return 1e-7 * size_at(i); }));
///
/// What a failure says:
///
///     3 of 12 elements differ. The first is (1, 2), at offset 6: expected 12, got 21.
///     21 is the expected value of (2, 1): rows and columns swapped?
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "common/testing/element.hpp"

namespace sixdays::testing {

/// Yes, or no with a reason. Catch prints the reason.
struct [[nodiscard]] Comparison {
    /// Whether the comparison holds.
    bool ok = false;
    /// The reason, if not.
    std::string text;
    /// Whether the comparison holds, for CHECK and REQUIRE.
    explicit operator bool() const noexcept { return ok; }
};
/// Prints the reason.
std::ostream& operator<<(std::ostream& out, const Comparison& comparison);

/// Does the text contain these words? False for empty words.
/// CHECK(contains(rejection(...), "(2, 3)"))
Comparison contains(const std::string& text, const std::string& words);

/// The largest accepted difference: one number, or a function of the element's multi-index. A
/// negative, infinite or NaN bound accepts nothing: a bound that accepts everything is a mistake.
using Bound = std::function<double(const Index&)>;

/// What to do if the expected value is a NaN.
enum class Nans {
    rejected,       ///< the element fails: a wrong reference must not make a kernel look right
    where_expected  ///< a NaN is required there, with any bits, and numbers everywhere else
};

namespace detail {

/// `poison`: the bytes of an unwritten element, empty if unknown. An element that holds them is
/// never accepted.
Comparison equal(const Elements& got, const Elements& want, const std::vector<std::byte>& poison);
Comparison close(const Elements& got, const Elements& want, const Bound& bound, Nans nans,
                 const std::vector<std::byte>& poison);

template <class T>
View<const T> const_view(const View<T>& view) {
    return {view.data, view.layout};
}
template <class T>
View<const T> const_view(const View<const T>& view) {
    return view;
}
template <class T>
View<const T> const_view(const Tensor<T>& tensor) {
    return tensor.view();
}

inline Bound bound_from(double number) {
    return [number](const Index&) { return number; };
}
inline Bound bound_from(Bound function) {
    return function;
}

}  // namespace detail

/// Same shape and the same bits in every element, whatever the layouts: +0 differs from -0, and a
/// NaN equals only a NaN with the same bits.
/// @param got, want  a Tensor or a View in host memory, of one element type
template <class Got, class Want>
Comparison equal(const Got& got, const Want& want) {
    const auto g = detail::const_view(got);
    const auto w = detail::const_view(want);
    static_assert(std::is_same_v<decltype(g), decltype(w)>, "equal() compares one element type");
    return detail::equal(elements(g), elements(w), {});
}

/// Same shape and |got - want| <= bound in every element, computed in double. A NaN got never
/// passes; an infinity passes only where the same infinity is expected. The types may differ: a
/// float result against a reference in double.
/// @param bound  a number, or a function of the multi-index
template <class Got, class Want, class B>
Comparison close(const Got& got, const Want& want, const B& bound, Nans nans = Nans::rejected) {
    return detail::close(elements(detail::const_view(got)), elements(detail::const_view(want)),
                         detail::bound_from(bound), nans, {});
}

}  // namespace sixdays::testing
