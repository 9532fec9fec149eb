/// @file
/// For descriptors: a path's requirements on several tensors together, stated by the addresses of
/// their elements instead of by strides.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/operation/operation.hpp"

namespace sixdays::testing {

struct Loop {
    std::int64_t extent;
    std::array<std::int64_t, 3> steps;  // of each tensor, in elements
};

/// Up to three tensors, the output first, visited together with as few loops as possible.
struct Visit {
    std::vector<Loop> loops;                // innermost first; at least one
    std::array<std::uintptr_t, 3> address;  // of the first elements visited
    int bytes;                              // of an element
    std::size_t tensors;

    /// Do the innermost runs of tensor t consist of whole groups of this many bytes, each aligned
    /// to its size?
    [[nodiscard]] bool has_groups(std::size_t t, int group) const {
        const Loop& run = loops.front();
        bool whole = run.steps[t] == 1 && run.extent * bytes % group == 0 &&
                     address[t] % static_cast<unsigned>(group) == 0;
        for (std::size_t l = 1; l < loops.size(); ++l) {
            whole = whole && loops[l].steps[t] * bytes % group == 0;
        }
        return whole;
    }
    [[nodiscard]] bool all_have_groups(int group) const {
        bool all = true;
        for (std::size_t t = 0; t < tensors; ++t) all = all && has_groups(t, group);
        return all;
    }
    /// Can CUDA Tile C++ visit them: at most four loops, and no negative step?
    [[nodiscard]] bool takes_tiles() const {
        bool forwards = true;
        for (const Loop& loop : loops) {
            for (const std::int64_t step : loop.steps) forwards = forwards && step >= 0;
        }
        return forwards && loops.size() <= 4;
    }
};

/// The loops over tensors of one shape, and their offsets at the first element.
struct Loops {
    std::vector<Loop> loops;
    std::array<std::int64_t, 3> first = {};
};

/// Visits all elements in the order of the output's addresses. The first run with constant steps is
/// the innermost loop; the first elements of all such runs form the next loop, and so on.
/// @param tensors   of one shape, the output first
/// @param forwards  false: in the order of an output with the absolute values of the strides
inline Loops loops_over(const std::vector<Layout>& tensors, bool forwards) {
    struct Element {
        std::int64_t at;
        std::array<std::int64_t, 3> offsets;
    };
    const Layout& out = tensors[0];
    Layout order = out;
    for (int d = 0; d < out.rank() && !forwards; ++d) order.strides[d] = std::abs(out.stride(d));
    std::vector<Element> elements;
    Index index = Dims::filled(out.rank(), 0);
    for (std::int64_t k = 0; k < out.size(); ++k, advance(index, out.shape)) {
        Element& element = elements.emplace_back(Element{offset(order, index), {}});
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            element.offsets[t] = offset(tensors[t], index);
        }
    }
    const auto before = [](const Element& a, const Element& b) { return a.at < b.at; };
    if (!std::is_sorted(elements.begin(), elements.end(), before)) {
        std::sort(elements.begin(), elements.end(), before);
    }
    Loops all{{}, elements[0].offsets};
    while (elements.size() > 1) {
        const auto step = [&](std::size_t k) {
            std::array<std::int64_t, 3> steps{};
            for (std::size_t t = 0; t < 3; ++t) {
                steps[t] = elements[k].offsets[t] - elements[k - 1].offsets[t];
            }
            return steps;
        };
        std::size_t n = 2;
        while (n < elements.size() && step(n) == step(1)) ++n;
        all.loops.push_back({static_cast<std::int64_t>(n), step(1)});
        std::vector<Element> firsts;
        for (std::size_t k = 0; k < elements.size(); k += n) firsts.push_back(elements[k]);
        elements = std::move(firsts);
    }
    if (all.loops.empty()) all.loops.push_back({1, {1, 1, 1}});
    return all;
}

/// The call's tensors, broadcast to the shape of the first, the output, which is not empty.
inline Visit visit(const std::vector<Call::Argument>& tensors, int bytes, bool forwards) {
    static std::vector<Layout> layouts;  // of the last visit: all paths need the same one
    static bool went_forwards = false;
    static Loops found;
    std::vector<Layout> seen;
    for (const Call::Argument& x : tensors) {
        seen.push_back(broadcast_to(x.layout, tensors[0].layout.shape));
    }
    const auto same = [](const Layout& a, const Layout& b) {
        return a.shape == b.shape && a.strides == b.strides;
    };
    if (forwards != went_forwards ||
        !std::equal(seen.begin(), seen.end(), layouts.begin(), layouts.end(), same)) {
        found = loops_over(seen, forwards);
        layouts = seen;
        went_forwards = forwards;
    }
    Visit all{found.loops, {}, bytes, tensors.size()};
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        const std::byte* first = tensors[t].data + found.first[t] * bytes;
        all.address[t] = reinterpret_cast<std::uintptr_t>(first);
    }
    return all;
}

}  // namespace sixdays::testing
