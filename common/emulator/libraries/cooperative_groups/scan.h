/// @file
/// Prefix sums over a tile or a coalesced group.
#pragma once

#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

/// Inclusive scan: combines the values of the lanes up to this one with op.
template <class Group, class T, class Op = plus<T>>
SIXDAYS_INLINE T inclusive_scan(const Group& group, T value, Op op = {},
                                Site site = Site::current()) {
    const unsigned me = group.thread_rank(), size = group.lanes::size();
    for (unsigned by = 1; by < size; by *= 2) {
        const T other = group.shfl_up(value, by, site);
        if (me >= by) value = op(other, value);
    }
    return value;
}
/// Exclusive scan: without this lane's own value; the first lane gets T{}.
template <class Group, class T, class Op = plus<T>>
SIXDAYS_INLINE T exclusive_scan(const Group& group, T value, Op op = {},
                                Site site = Site::current()) {
    const T all = inclusive_scan(group, value, op, site);
    const T before = group.shfl_up(all, 1, site);
    return group.thread_rank() == 0 ? T{} : before;
}

}  // namespace cooperative_groups
