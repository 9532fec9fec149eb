/// @file
/// Collective copies to shared memory. They complete at the wait, not before.
#pragma once

#include "common/emulator/async_copy.hpp"
#include "cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class To, class From>
SIXDAYS_INLINE void memcpy_async(const Group& group, To* to, const From* from, std::size_t bytes,
                                 Site site = Site::current()) {
    sixdays::emulator::start_copy(to, from, bytes, group.thread_rank(), group.size(), site);
    sixdays::emulator::async_commit();
}
/// Waits for all of the group's copies, or for all but the latest N.
template <class Group>
SIXDAYS_INLINE void wait(const Group& group, Site site = Site::current()) {
    sixdays::emulator::async_wait(0);
    group.sync(site);
}
template <unsigned N, class Group>
SIXDAYS_INLINE void wait_prior(const Group& group, Site site = Site::current()) {
    sixdays::emulator::async_wait(static_cast<int>(N));
    group.sync(site);
}

}  // namespace cooperative_groups
