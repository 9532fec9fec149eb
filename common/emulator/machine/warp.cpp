/// @file
/// Warp calls. Each lane stores its value and waits. When the last lane of the mask arrives, the
/// results of all lanes are computed.
#include <utility>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/clocks.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/signals.hpp"

namespace sixdays::emulator {

namespace {

bool asks_who_is_active(const Thread* lane) {
    return lane != nullptr && lane->state == Thread::State::at_warp_call &&
           lane->call.what == WarpCall::active_mask;
}

void finish(unsigned warp, unsigned members) {
    give_results(warp, members);
    block.turns_without_write = 0;
    meet_in_warp(warp, members);
    block.waiting_lanes[warp] &= ~members;
    for (const unsigned lane : block.lane_order[warp]) {
        if ((members & bit(lane)) != 0) make_ready(*block.lane(warp, lane));
    }
}

// The lanes that wait in the same call with the same mask as `me`.
unsigned companions(const Thread& me) {
    unsigned found = 0;
    for (unsigned rest = block.waiting_lanes[me.warp()]; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
        const WarpSlot& call = block.lane(me.warp(), lane)->call;
        if (call.mask == me.call.mask && call.what == me.call.what) found |= bit(lane);
    }
    return found;
}

// A lane that returned early, as from `if (i >= n) return;`, need not come. One that ran to the
// kernel's end has skipped the call.
void reject_skipped(const Thread& me) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((me.call.mask & bit(lane)) == 0) continue;
        const Thread* other = block.lane(me.warp(), lane);
        if (other != nullptr && other->state == Thread::State::done && other->at_end)
            fail(WrongWarpCall{WrongWarpCall::What::lane_skipped_call, &me, nullptr, lane});
    }
}

void finish_if_complete(const Thread& me) {
    if (me.call.what == WarpCall::active_mask) return;
    const unsigned wanted = me.call.mask & block.live_lanes[me.warp()];
    if ((wanted & ~block.waiting_lanes[me.warp()]) != 0) return;  // some lanes are still missing
    if ((wanted & ~companions(me)) != 0) return;
    finish(me.warp(), wanted);
    reject_skipped(me);
}

// Two lanes that wait for each other in different calls never return. Checking one of the lanes
// that wait for `me` is enough: they agreed with each other when they arrived.
void check_companions(const Thread& me) {
    for (unsigned rest = block.waiting_lanes[me.warp()] & me.call.mask; rest != 0;
         rest &= rest - 1) {
        const Thread& other = *block.lane(me.warp(), static_cast<unsigned>(__builtin_ctz(rest)));
        if (other.call.what == WarpCall::active_mask) continue;
        if ((other.call.mask & bit(me.lane())) == 0) continue;
        if (me.call.mask == other.call.mask && me.call.what == other.call.what) return;
        fail(WrongWarpCall{WrongWarpCall::What::another_call, &me, &other});
    }
}

bool leaves_out_lanes(const Thread& me) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((me.call.mask & bit(lane)) == 0 && block.lane(me.warp(), lane) != nullptr) return true;
    }
    return false;
}

void check_call(const Thread& me) {
    using What = WrongWarpCall::What;
    const WarpSlot& call = me.call;
    if ((call.mask & bit(me.lane())) == 0) fail(WrongWarpCall{What::own_lane_left_out, &me});
    const auto width = static_cast<unsigned>(call.width);
    if (width == 0 || width > kWarp || (width & (width - 1)) != 0)
        fail(WrongWarpCall{What::width, &me});
}

}  // namespace

std::uint64_t warp_call(WarpCall what, unsigned mask, std::uint64_t value, int argument, int width,
                        Site site) {
    if (current == nullptr) return value;  // host code has no other lanes
    const InRuntime guard;
    if (time_is_up) fail_for_time(site);
    Thread& me = *current;
    me.call = {what,
               mask,
               value,
               value,
               argument,
               width,
               site,
               __builtin_return_address(0),
               std::exchange(me.unset_operand, nullptr)};
    check_call(me);
    if (what != WarpCall::active_mask) check_companions(me);
    if (what == WarpCall::active_mask || leaves_out_lanes(me)) clocks.orders_beyond_barriers = true;
    me.state = Thread::State::at_warp_call;
    block.waiting_lanes[me.warp()] |= bit(me.lane());
    finish_if_complete(me);
    wait_for_turn();
    return me.call.result;
}

void finish_calls_without(const Thread& gone) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((block.waiting_lanes[gone.warp()] & bit(lane)) == 0) continue;
        const Thread& other = *block.lane(gone.warp(), lane);
        if ((other.call.mask & bit(gone.lane())) != 0) finish_if_complete(other);
    }
}

bool answer_active_masks() {
    bool answered = false;
    for (unsigned id = 0; id < block.size; ++id) {
        Thread& me = block.threads[id];
        if (!asks_who_is_active(&me)) continue;
        unsigned here = 0;  // lanes at the same call are taken to be converged
        for (unsigned lane = 0; lane < kWarp; ++lane) {
            const Thread* other = block.lane(me.warp(), lane);
            if (asks_who_is_active(other) && other->call.site.line() == me.call.site.line() &&
                other->call.site.column() == me.call.site.column()) {
                here |= bit(lane);
            }
        }
        finish(me.warp(), here);
        answered = true;
    }
    return answered;
}

}  // namespace sixdays::emulator
