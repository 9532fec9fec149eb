/// @file
/// The last accesses of each word.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/machine/facts.hpp"
#include "common/emulator/memory/readers.hpp"

namespace sixdays::emulator {

/// The last accesses to one word: the last write, the last atomic since then, and two of the reads,
/// from different warps if possible. Two reads suffice where only barriers of the block order its
/// threads: the next writer is concurrent with at least one of them. Otherwise readers.hpp keeps
/// the others.
struct History {
    PastAccess write, atomic, read, other_read;
};

/// True if the new read should replace `read` and keep `other_read`, which then says more.
inline bool keeps_other_read(const History& h, const PastAccess& me, std::uint32_t since) {
    return same_thread(h.read, me) || (same_warp(h.read, me) && !same_warp(h.other_read, me) &&
                                       !came_before(h.other_read, since));
}
/// Records this read as the last one.
/// @return false, with nothing recorded, if this would drop a reader that a later write could be
///         unordered with although it is ordered with the two that remain
inline bool remember_read(History& h, const PastAccess& me, std::uint32_t since) {
    const bool keep_other = keeps_other_read(h, me, since);
    const PastAccess& lost = keep_other ? h.read : h.other_read;
    if (may_be_the_only_one(lost) && !same_thread(lost, me) && !came_before(lost, since)) {
        return false;
    }
    if (!keep_other) h.other_read = h.read;
    h.read = me;
    return true;
}

/// From now on the bytes of this word have separate histories.
void split(Region& region, std::size_t word);

}  // namespace sixdays::emulator
