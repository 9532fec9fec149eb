/// @file
/// For the tests of the stride helpers: every small shape, every way to lay it out, and a second,
/// independent way to compute the position of an element.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/tensor/layout.hpp"

namespace sixdays::packings {

/// The first failing case of many. A CHECK for each of millions would take minutes.
class Cases {
public:
    template <class Describe>
    void expect(bool ok, const Describe& describe) {
        ++count_;
        if (!ok && failure_.empty()) failure_ = describe();
    }
    void expect(bool ok, const Layout& layout) {
        expect(ok, [&] { return to_string(layout); });
    }
    const std::string& failure() const { return failure_; }
    std::int64_t count() const { return count_; }

private:
    std::string failure_;
    std::int64_t count_ = 0;
};

/// All numbers of `rank` digits, each in [low, high], as Dims.
template <class F>
void for_each_dims(int rank, std::int64_t low, std::int64_t high, const F& f) {
    Dims dims = Dims::filled(rank, low);
    for (;;) {
        f(dims);
        int d = rank - 1;
        for (; d >= 0 && dims[d] == high; --d) dims[d] = low;
        if (d < 0) return;
        ++dims[d];
    }
}

/// All shapes of rank 0 to `rank` with extents 0 to `extent`.
template <class F>
void for_each_shape(int rank, std::int64_t extent, const F& f) {
    for (int r = 0; r <= rank; ++r) for_each_dims(r, 0, extent, f);
}

/// Every index of the shape, last dimension fastest, by recursion.
inline void append_indices(const Shape& shape, int d, Index index, std::vector<Index>& all) {
    if (d == shape.rank) {
        all.push_back(index);
        return;
    }
    for (std::int64_t i = 0; i < shape[d]; ++i) {
        index[d] = i;
        append_indices(shape, d + 1, index, all);
    }
}
inline std::vector<Index> indices_of(const Shape& shape) {
    std::vector<Index> all;
    append_indices(shape, 0, Dims::filled(shape.rank, 0), all);
    return all;
}

/// How the elements of a shape fill memory, described without strides: the order of the dimensions
/// (outermost first), each forwards or backwards, each followed by padding.
struct Packing {
    std::vector<int> order;         // a permutation of the dimensions
    std::vector<bool> backwards;    // per dimension
    std::vector<std::int64_t> pad;  // per dimension: unused positions after its extent
};

/// Position of the element at `index`, counted from the packing's lowest position: Horner's rule in
/// the order of the dimensions.
inline std::int64_t place(const Packing& packing, const Shape& shape, const Index& index) {
    std::int64_t number = 0;
    for (const int d : packing.order) {
        const auto u = static_cast<std::size_t>(d);
        const std::int64_t i = packing.backwards[u] ? shape[d] - 1 - index[d] : index[d];
        number = number * (shape[d] + packing.pad[u]) + i;
    }
    return number;
}

/// The strides of a packing: how far the position moves when one index grows by one. Measured, in a
/// shape with room for that step.
inline Strides strides_of(const Packing& packing, const Shape& shape) {
    Strides strides = Dims::filled(shape.rank, 0);
    const Index zero = Dims::filled(shape.rank, 0);
    for (int d = 0; d < shape.rank; ++d) {
        Index one = zero;
        one[d] = 1;
        strides[d] = place(packing, shape, one) - place(packing, shape, zero);
    }
    return strides;
}

/// Every permutation and every set of backward dims; `pad` for each dimension but the outermost.
template <class F>
void for_each_packing(int rank, std::int64_t pad, const F& f) {
    const auto n = static_cast<std::size_t>(rank);
    Packing packing{std::vector<int>(n), std::vector<bool>(n), std::vector<std::int64_t>(n, pad)};
    for (std::size_t d = 0; d < n; ++d) packing.order[d] = static_cast<int>(d);
    do {
        for (unsigned flips = 0; flips < 1u << rank; ++flips) {
            for (std::size_t d = 0; d < n; ++d) packing.backwards[d] = (flips >> d & 1) != 0;
            f(packing);
        }
    } while (std::next_permutation(packing.order.begin(), packing.order.end()));
}

/// All offsets of a layout, enumerated: one sum per index, then sorted.
struct Enumerated {
    std::vector<std::int64_t> in_order, sorted;

    explicit Enumerated(const Layout& layout) {
        for (const Index& index : indices_of(layout.shape)) {
            std::int64_t sum = 0;
            for (int d = 0; d < layout.shape.rank; ++d) sum += index[d] * layout.strides[d];
            in_order.push_back(sum);
        }
        sorted = in_order;
        std::sort(sorted.begin(), sorted.end());
    }
    bool each_once() const {
        return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    }
    bool counts_up_from_0() const {
        for (std::size_t k = 0; k < in_order.size(); ++k) {
            if (in_order[k] != static_cast<std::int64_t>(k)) return false;
        }
        return true;
    }
};

}  // namespace sixdays::packings
