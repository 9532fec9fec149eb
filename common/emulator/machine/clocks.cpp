#include "common/emulator/machine/clocks.hpp"

#include <algorithm>

#include "common/emulator/machine/aside.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/machine/publish.hpp"
#include "common/emulator/machine/stream_order.hpp"

namespace sixdays::emulator {

Clocks clocks;

namespace {

void move(unsigned thread, std::uint32_t to) {
    clocks.now[thread] = to;
    clocks.newest = std::max(clocks.newest, to);
    clocks.usable = clocks.usable && clocks.newest < PastAccess::kClockEnd;
}

}  // namespace

const void* code_of(const PastAccess& access) {
    const auto start = program_start();  // the program's code is less than 4 GB long
    return reinterpret_cast<const void*>(start + (access.code - static_cast<std::uint32_t>(start)));
}

void begin_launch_clocks() {
    clocks.first_serial = clocks.serial + 1;
    clocks.orders_beyond_barriers = false;
    forget_publications();
}

void begin_block_clocks(unsigned threads) {
    ++clocks.serial;
    clocks.barrier = clocks.newest = 1;
    std::fill_n(clocks.now.begin(), threads, 1u);
    clocks.met.fill(false);
    clocks.usable = true;
    forget_fences(threads);
}

void exchange_clocks(std::shared_ptr<void>& aside) {
    exchange<ClocksOfBlock>(clocks, aside);
}

void meet_at_barrier(unsigned threads) {
    share_at_barrier(threads);
    move(0, clocks.newest + 1);
    clocks.barrier = clocks.newest;
    std::fill_n(clocks.now.begin(), threads, clocks.barrier);
}

void meet_in_warp(unsigned warp, unsigned lanes) {
    LaneClocks* const of = &clocks.of_lanes[warp * kWarp];
    std::uint32_t* const now = &clocks.now[warp * kWarp];
    if (!clocks.met[warp]) std::fill_n(of, kWarp, LaneClocks{});
    clocks.met[warp] = true;
    LaneClocks all{};
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        for (unsigned i = 0; i < kWarp; ++i) all[i] = std::max(all[i], of[lane][i]);
        all[lane] = std::max(all[lane], now[lane]);
    }
    share_in_warp(warp, lanes);
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        of[lane] = all;
        move(warp * kWarp + lane, now[lane] + 1);
    }
}

void step_clock() {
    move(current->id, clocks.now[current->id] + 1);
}

LaneClocks clocks_of_warp() {
    LaneClocks known{};
    if (clocks.met[current->warp()]) known = clocks.of_lanes[current->id];
    known[current->lane()] = clocks.now[current->id];
    return known;
}

bool met_or_published(const PastAccess& past) {
    if (past.serial < clocks.first_serial) return work_came_before(past.serial);
    if (past.serial >= clocks.first_of_cluster && past.serial < clocks.first_of_segment)
        return true;
    if (past.serial == clocks.serial && past.warp() == current->warp() && clocks.met[past.warp()] &&
        past.clock() <= clocks.of_lanes[current->id][past.lane()]) {
        return true;
    }
    return was_published(past);
}

}  // namespace sixdays::emulator
