/// @file
/// The last accesses of each word, and whether they are ordered before the current one.
///
/// Two accesses are ordered if a barrier of their block is between them, a warp call in which both
/// lanes took part, or fences and atomics on a word that both used (publish.hpp). Otherwise they
/// are concurrent, whatever order the emulator ran them in. Two concurrent accesses of one word
/// race if one of them is a plain write.
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

/// The last accesses of one word: the last write, the last atomic since then, and two of the reads,
/// from different warps if possible. Two are enough where only barriers of the block order its
/// threads: the next writer is concurrent with at least one of them. Where more than barriers
/// orders threads, readers.hpp keeps the others.
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
/// Called before a store, or when a thread ends: what the last stores left can be judged now.
void judge_stores();
/// A block has ended: reports the suspicions that nothing has cleared.
void judge_block();

void begin_race_checks();  // a launch

}  // namespace sixdays::emulator
