/// @file
/// Logical time within a block. Every thread has a clock, which advances when it synchronizes. At a
/// barrier all clocks take the same new value, so any access with a smaller one came before it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/emulator/machine/block.hpp"

namespace sixdays::emulator {

/// A past access: its block, its thread, that thread's clock, and its position in the code.
struct PastAccess {
    static constexpr std::uint32_t kClockEnd = 1u << 22;

    std::uint32_t serial = 0;  // of the block, counted over all launches; 0: no access
    std::uint32_t moment = 0;  // thread (10 bits), then the thread's clock (22 bits)
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

/// The return address of the hook.
const void* code_of(const PastAccess& access);

/// By lane of a warp: that lane's accesses up to this clock came before.
using LaneClocks = std::array<std::uint32_t, 32>;

/// Of one block.
struct ClocksOfBlock {
    std::uint32_t serial;                 // between blocks, that of the newest
    std::uint32_t barrier;                // value of all clocks at the last barrier
    std::uint32_t newest;                 // the largest clock
    std::array<std::uint32_t, 1024> now;  // by thread
    std::array<bool, 32> met;             // by warp: any warp call since the block started
    // By thread: what it knows of its warp, once met.
    std::vector<LaneClocks> of_lanes = std::vector<LaneClocks>(1024);
    bool usable = true;  // no clock has overflowed
};
struct Clocks : ClocksOfBlock {
    std::uint32_t first_serial = 1;      // of the launch's first block
    std::uint32_t first_concurrent = 1;  // of work that may run concurrently on another stream
    std::uint32_t first_of_cluster;      // of the cluster's blocks, if there are clusters
    std::uint32_t first_of_segment;      // since the cluster's last barrier
    // Set when threads synchronize by anything other than barriers of a block or full-warp calls.
    bool orders_beyond_barriers;
};
extern Clocks clocks;

void begin_launch_clocks();
void begin_block_clocks(unsigned threads);
/// A block that polls is put aside, or goes on: swaps its clocks with the saved ones.
void exchange_clocks(std::shared_ptr<void>& aside);
void meet_at_barrier(unsigned threads);
void meet_in_warp(unsigned warp, unsigned lanes);

/// Advances the clock: what the current thread does next is later than what it did.
void step_clock();

/// The current thread at its current clock.
inline PastAccess this_moment(const void* code) {
    const unsigned id = current->id;
    return {clocks.serial, id * PastAccess::kClockEnd + clocks.now[id],
            static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code))};
}
/// What the current thread knows of its warp, itself included.
LaneClocks clocks_of_warp();

/// For an access by another thread since the last barrier, or by another block: true if the current
/// thread has synchronized with that thread, directly or through memory.
bool met_or_published(const PastAccess& past);

/// True if this access came before the current thread's next one. Serial numbers below `since`
/// always did: 0 is no access, and the others belong to work that had ended.
inline bool came_before(const PastAccess& past, std::uint32_t since) {
    if (past.serial < since) return true;
    if (past.serial == clocks.serial &&
        (past.clock() < clocks.barrier || past.thread() == current->id)) {
        return true;
    }
    return met_or_published(past);
}

}  // namespace sixdays::emulator
