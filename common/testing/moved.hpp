/// @file
/// For the cases of exercises: which elements does a wrong kernel take?
///
/// If the kernel only moves elements, it runs again on padded arrays of distinct values, so that
/// even an element past the end identifies its source:
///
///     moved_wrongly({"out", "bt", {B, T}, {{"in", B * T * C, at}}}, launch)
///     // "Each out(b, t) gets in[3 b + t]; it should get in[21 b + 7 t + 5]."
///
/// If it adds up products, it runs with zeros and ones, given by the binary digits of the elements'
/// positions, so that the sums count which elements were taken:
///
///     summed_wrongly({"c", "mn", {M, N}, K, {{"a", M * K, in_a}, {"b", K * N, in_b}}}, launch)
///     // "Each c(m, n) takes b[5 n + k] for k = 0 to 4; it should take b[n + 3 k] for k = 0 to 4."
///
/// If it computes anything else, one element is changed at a time, and the outputs that change
/// depend on it:
///
///     read_wrongly({"out", "mc", {M, C}, {{"weight", {C}, needed}}}, launch)
///     // "Each out(m, c) depends on weight[m]; it should depend on weight[c]."
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/tensor/layout.hpp"

namespace sixdays::testing {

/// An array that is read, and which of its elements belongs to an index.
struct Source {
    std::string name;                              ///< as the sentence names it
    std::int64_t size = 0;                         ///< elements, up to the last that may be read
    std::function<std::int64_t(const Index&)> at;  ///< the element for an index of the output
};

/// Element to(index) of `out` gets the sum of one element of each source.
struct Moves {
    std::string out,                                    ///< its name in the sentence: "out"
        dims;                                           ///< a letter for each dimension of `shape`
    Shape shape;                                        ///< of the output's indices
    std::vector<Source> sources;                        ///< the inputs
    std::function<std::int64_t(const Index&)> to = {};  ///< empty: row-major
    std::int64_t out_size = 0;                          ///< 0: that of `shape`
    std::string element = {};                           ///< empty: "out(b, t)"
};
/// Launches the kernel under test on these arrays.
using LaunchMoves = std::function<void(const std::vector<const float*>& sources, float* out)>;

/// What the launch does wrong, in a sentence; "" if it is right, or too irregular to describe.
std::string moved_wrongly(const Moves& moves, const LaunchMoves& launch);

/// An array of factors, and which of its elements term k of an output takes.
struct Factor {
    std::string name;                                              ///< as the sentence names it
    std::int64_t size = 0;                                         ///< elements
    std::function<std::int64_t(const Index&, std::int64_t k)> at;  ///< the element of term k
};

/// out(index), row-major, is the sum over k < count of a product: one element of each factor.
struct Sums {
    std::string out,              ///< its name in the sentence: "c"
        dims;                     ///< a letter for each dimension of `shape`
    Shape shape;                  ///< of the output
    std::int64_t count = 0;       ///< terms of a sum
    std::vector<Factor> factors;  ///< of a term
};

/// What a kernel that adds up products does wrong, in a sentence; "" if it is right, or too
/// irregular to describe.
std::string summed_wrongly(const Sums& sums, const LaunchMoves& launch);

/// An input array, row-major, and whether an output depends on one of its elements. A maximum
/// depends on all of its elements: the changed one becomes the largest.
struct Input {
    std::string name;  ///< as the sentence names it
    Shape shape;       ///< row-major
    /// Whether output `out` depends on `element`.
    std::function<bool(const Index& out, const Index& element)> needed;
};

/// out(index), row-major and 0 at first, is any function of elements of the inputs.
struct Needs {
    std::string out,            ///< its name in the sentence: "out"
        dims;                   ///< a letter for each dimension of `shape`
    Shape shape;                ///< of the output
    std::vector<Input> inputs;  ///< all that it may read
};

/// What a kernel that computes any function does wrong, in a sentence; "" if it is right, or too
/// irregular to describe. One launch per element: for small shapes.
std::string read_wrongly(const Needs& needs, const LaunchMoves& launch);

/// For Input::needed: every element.
inline bool all_elements(const Index&, const Index&) {
    return true;
}
/// For Input::needed: the elements in the output's row.
inline bool same_row(const Index& out, const Index& element) {
    return out[0] == element[0];
}

}  // namespace sixdays::testing
