/// @file
/// Copies to shared memory that a group starts together. They arrive at the wait, not before.
#pragma once

#include "common/emulator/async_copy.hpp"
#include "cooperative_groups.h"

namespace cooperative_groups {

/// `bytes` bytes, in pieces of 16, 8 or 4 as alignment allows; odd ones are copied at once.
template <class Group, class To, class From>
SIXDAYS_INLINE void memcpy_async(const Group& group, To* to, const From* from, std::size_t bytes,
                                 Site site = Site::current()) {
    auto* target = reinterpret_cast<unsigned char*>(to);
    const auto* source = reinterpret_cast<const unsigned char*>(from);
    const auto both = reinterpret_cast<std::size_t>(to) | reinterpret_cast<std::size_t>(from);
    const std::size_t piece = both % 16 == 0 ? 16 : both % 8 == 0 ? 8 : both % 4 == 0 ? 4 : 1;
    const std::size_t me = group.thread_rank(), threads = group.size();
    const std::size_t whole = piece == 1 ? 0 : bytes / piece;
    for (std::size_t i = me; i < whole; i += threads) {
        sixdays::emulator::async_copy(target + i * piece, source + i * piece, piece, site);
    }
    for (std::size_t i = whole * piece + me; i < bytes; i += threads) target[i] = source[i];
    sixdays::emulator::async_commit();
}
/// Until all, or all but the latest N, of the group's copies are there.
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
