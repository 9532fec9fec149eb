/// @file
/// Who accessed a word last, and was that before, or at the same time?
///
/// Two accesses are in order if a barrier of their block lies between, a warp call in which both
/// lanes took part, or fences and atomics on a word that both used (publish.hpp). Otherwise they
/// happen "at the same time", whatever the order of turns was here; and if one of them is a plain
/// write, the other anything but a read of something else, that is a race.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/runtime/clocks.hpp"
#include "common/emulator/runtime/readers.hpp"

namespace sixdays::emulator {

enum class AccessKind : std::uint8_t { read, write, atomic, volatile_read, volatile_write };
constexpr bool writes(AccessKind kind) {
    return kind != AccessKind::read && kind != AccessKind::volatile_read;
}

struct Region;

/// The last accesses of one word: who wrote it; who used it atomically since then; and two of those
/// who read it, of different warps if there are such. Two are enough where only barriers of the
/// block order its threads: whoever writes next is out of order with at least one of them. Where
/// more than barriers does, the others are in readers.hpp.
struct History {
    PastAccess write, atomic, read, other_read;
};

/// An access that is about to happen.
struct NewAccess {
    Region& region;
    std::uintptr_t address;
    std::size_t bytes;
    AccessKind kind;
    const void* code;                // return address of the hook: where in the kernel that is
    const void* expected = nullptr;  // what a compare-and-swap compares with
};

/// Which of the two reads this one replaces: of the others, the one that says most is kept.
inline bool keeps_other_read(const History& h, const PastAccess& me, std::uint32_t since) {
    return same_thread(h.read, me) || (same_warp(h.read, me) && !same_warp(h.other_read, me) &&
                                       !came_before(h.other_read, since));
}
/// The last read is now this one.
/// @return false if that would lose a reader whom a later write may be out of order with, when it
///         is in order with the other two: nothing was done
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

/// From now on the bytes of this word have their own histories.
void split(Region& region, std::size_t word);

/// Accuses the current thread if its access races with an earlier one, and remembers the access.
void check_race(const NewAccess& access);

/// Some accesses cannot be judged at once. True while there are any.
extern bool judgement_pending;
/// Somebody is about to store, or a thread to end: what the last stores left can be looked at.
void judge_stores();
/// A block has ended: whom nothing has excused by now is accused.
void judge_block();

void begin_race_checks();  // a launch

}  // namespace sixdays::emulator
