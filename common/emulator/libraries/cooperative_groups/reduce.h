/// @file
/// Reductions over a tile or a coalesced group: every lane gets the result.
#pragma once

#include <functional>

#include "cooperative_groups.h"

namespace cooperative_groups {

template <class T = void>
struct plus : std::plus<T> {};
template <class T = void>
struct bit_and : std::bit_and<T> {};
template <class T = void>
struct bit_or : std::bit_or<T> {};
template <class T = void>
struct bit_xor : std::bit_xor<T> {};
template <class T = void>
struct less {
    template <class A>
    SIXDAYS_INLINE A operator()(const A& a, const A& b) const {
        return b < a ? b : a;
    }
};
template <class T = void>
struct greater {
    template <class A>
    SIXDAYS_INLINE A operator()(const A& a, const A& b) const {
        return a < b ? b : a;
    }
};

/// A tree if the group's size is a power of two, otherwise sequential.
template <class Group, class T, class Op>
SIXDAYS_INLINE T reduce(const Group& group, T value, Op op, Site site = Site::current()) {
    const unsigned size = group.lanes::size();
    if ((size & (size - 1)) == 0) {
        for (unsigned half = size / 2; half > 0; half /= 2) {
            const T other = group.shfl_xor(value, half, site);
            value = op(value, other);
        }
        return value;
    }
    T sum = group.shfl(value, 0, site);
    for (unsigned rank = 1; rank < size; ++rank) {
        const T other = group.shfl(value, rank, site);
        sum = op(sum, other);
    }
    return sum;
}

}  // namespace cooperative_groups
