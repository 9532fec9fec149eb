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

namespace sixdays::emulator {

enum class AccessKind : std::uint8_t { read, write, atomic, volatile_read, volatile_write };
constexpr bool writes(AccessKind kind) {
    return kind != AccessKind::read && kind != AccessKind::volatile_read;
}

struct Region;

/// The last accesses of one word: who wrote it; who used it atomically since then; and two of those
/// who read it. Two of different warps, if there are such: then whoever writes it next is out of
/// order with at least one of them, and one is enough to accuse.
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

/// The last read is now this one; of the others, the one that says most is kept.
inline void remember_read(History& h, const PastAccess& me, std::uint32_t since) {
    const bool keep_other =
        same_warp(h.read, me) && !same_warp(h.other_read, me) && !came_before(h.other_read, since);
    if (!keep_other && !same_thread(h.read, me)) h.other_read = h.read;
    h.read = me;
}

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
