/// @file
/// Time within a block. Every thread has a clock, which moves when it meets others. At a barrier
/// all clocks take the same, new, value; so whatever bears a smaller one came before the barrier.
#pragma once

#include <array>
#include <cstdint>

#include "common/emulator/runtime/block.hpp"

namespace sixdays::emulator {

/// An access that has happened: in which block, by which thread at which time of its own, and where
/// in the code.
struct PastAccess {
    static constexpr std::uint32_t kClockEnd = 1u << 22;

    std::uint32_t serial = 0;  // of the block, counted over all launches; 0: nobody
    std::uint32_t moment = 0;  // ten bits of thread, then the thread's clock
    std::uint32_t code = 0;    // return address of the hook, its lower half

    unsigned thread() const { return moment / kClockEnd; }
    unsigned warp() const { return thread() / 32; }
    unsigned lane() const { return thread() % 32; }
    std::uint32_t clock() const { return moment % kClockEnd; }
};

inline bool same_moment(const PastAccess& a, const PastAccess& b) {
    return a.moment == b.moment && a.serial == b.serial;
}
inline bool same_thread(const PastAccess& a, const PastAccess& b) {
    return a.serial == b.serial && a.thread() == b.thread();
}
inline bool same_warp(const PastAccess& a, const PastAccess& b) {
    return a.serial == b.serial && a.warp() == b.warp();
}

/// By lane of a warp: its accesses up to that clock came before.
using LaneClocks = std::array<std::uint32_t, 32>;

struct Clocks {
    std::uint32_t serial = 0;               // of the block that runs
    std::uint32_t first_serial = 1;         // of the launch's first block
    std::uint32_t first_concurrent = 1;     // of what may run beside it, on another stream
    std::uint32_t first_of_cluster = 0;     // of the cluster's blocks, if there are clusters
    std::uint32_t first_of_segment = 0;     // since its last barrier
    std::uint32_t barrier = 0;              // all clocks' value at the last barrier
    std::uint32_t newest = 0;               // the greatest clock
    std::array<std::uint32_t, 1024> now{};  // by thread
    std::array<bool, 32> met{};             // by warp: any warp call since the start
    std::array<LaneClocks, 1024> of_lanes;  // by thread: what it knows of its warp, once met
    bool usable = true;                     // no clock has run over
    // Some threads of this launch have met or told others, and not all of a block or warp.
    bool orders_beyond_barriers = false;
};
extern Clocks clocks;

void begin_launch_clocks();
void begin_block_clocks(unsigned threads);
void meet_at_barrier(unsigned threads);
void meet_in_warp(unsigned warp, unsigned lanes);

/// What the current thread does next is later than what it did.
void step_clock();

/// The current thread, now.
inline PastAccess this_moment(const void* code) {
    const unsigned id = current->id;
    return {clocks.serial, id * PastAccess::kClockEnd + clocks.now[id],
            static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code))};
}
/// What the current thread knows of its warp, itself included.
LaneClocks clocks_of_warp();

/// Of another thread and since the last barrier, or of another block: has the current thread met
/// it, or learned of it?
bool met_or_published(const PastAccess& past);

/// Did this access come before what the current thread does now? Blocks with a smaller serial
/// number than `since` did: nobody's, and those of a launch that had ended.
inline bool came_before(const PastAccess& past, std::uint32_t since) {
    if (past.serial < since) return true;
    if (past.serial == clocks.serial &&
        (past.clock() < clocks.barrier || past.thread() == current->id)) {
        return true;
    }
    return met_or_published(past);
}

}  // namespace sixdays::emulator
