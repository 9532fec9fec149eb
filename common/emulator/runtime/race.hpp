/// @file
/// Who touched a word last, and was that before, or at the same time?
///
/// Two accesses are in order if a barrier of their block lies between, a warp call in which both
/// lanes took part, or a fence and an atomic on a word that both used (publish.hpp). Otherwise they
/// happen "at the same time", whatever the order of turns was here; and if one of them is a plain
/// write, the other anything but a read of something else, that is a race.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sixdays::emulator {

enum class AccessKind : std::uint8_t { read, write, atomic, volatile_read, volatile_write };

struct Region;
struct Thread;

/// One access: which block run, which thread at which time of its own, how, and where in the code.
struct PastAccess {
    std::uint32_t serial = 0;       // number of the block run, counted over all launches; 0: nobody
    std::uint32_t thread : 10 = 0;  // within the block
    std::uint32_t atomic : 1 = 0;   // of `latest` and `other`: an atomic, not a plain read
    std::uint32_t clock : 21 = 0;   // that thread's, see Clocks
    std::uint32_t code = 0;         // return address of the hook, counted from the program's start
};

/// The last accesses of one word: who wrote it, and two of those who read it, or used it
/// atomically, at the same time since then. Two of different warps, if there are such: then whoever
/// writes it next is out of order with at least one of them, and one is enough to accuse.
struct History {
    PastAccess write, latest, other;
};

/// Time within a block. Every thread has a clock, which moves when it meets others. At a barrier
/// all clocks take the same, new, value; so whatever bears a smaller one came before the barrier.
struct Clocks {
    std::uint32_t serial = 0;               // this block run's number
    std::uint32_t barrier = 0;              // all clocks' value at the last barrier
    std::uint32_t newest = 0;               // the greatest clock
    std::array<std::uint32_t, 1024> now{};  // by thread
    std::array<bool, 32> met{};             // by warp: any warp call since the start
    std::array<std::array<std::uint32_t, 32>, 1024> known;  // by thread, then lane of its warp: its
                                                            // accesses up to that clock came before
    bool usable = true;                                     // no clock has run over
};
extern Clocks clocks;

void begin_race_checks(std::uint64_t blocks);  // a launch
void begin_block_clocks(unsigned size);
void meet_at_barrier(unsigned size);
void meet_in_warp(unsigned warp, unsigned lanes);

/// Accuses the current thread if its access races with an earlier one, and remembers the access.
void check_race(Region& region, std::uintptr_t address, std::size_t bytes, AccessKind what,
                const void* code);

}  // namespace sixdays::emulator
