/// @file
/// Warp calls. Each lane leaves what it brought and waits; when the last lane of the mask has come,
/// everybody's result is worked out at once.
#include <algorithm>

#include "common/emulator/runtime/block.hpp"
#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/race.hpp"
#include "common/emulator/runtime/signals.hpp"

namespace sixdays::emulator {

namespace {

constexpr unsigned bit(unsigned lane) {
    return 1u << lane;
}

bool asks_who_is_active(const Thread* lane) {
    return lane != nullptr && lane->state == Thread::State::at_warp_call &&
           lane->call.what == WarpCall::active_mask;
}

std::string lanes_of(unsigned mask) {
    std::string text;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((mask & bit(lane)) == 0) continue;
        unsigned last = lane;
        while (last + 1 < kWarp && (mask & bit(last + 1)) != 0) ++last;
        text += (text.empty() ? "" : ", ") + std::to_string(lane);
        if (last > lane) text += "-" + std::to_string(last);
        lane = last;
    }
    return text;
}

// Which lane's value a shuffle hands to `lane`. Out of the group, up or down: its own.
unsigned source_lane(const WarpSlot& call, unsigned lane) {
    const auto width = static_cast<unsigned>(call.width);
    const auto argument = static_cast<unsigned>(call.argument);
    const unsigned first = lane & ~(width - 1);
    const unsigned last = first + width - 1;
    switch (call.what) {
        case WarpCall::shuffle:
            return first + (argument & (width - 1));
        case WarpCall::shuffle_up:
            return lane - first >= argument ? lane - argument : lane;
        case WarpCall::shuffle_down:
            return last - lane >= argument ? lane + argument : lane;
        default:
            return (lane ^ argument) <= last ? lane ^ argument : lane;
    }
}

void shuffle(unsigned warp, unsigned members) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((members & bit(lane)) == 0) continue;
        Thread& me = *block.lane(warp, lane);
        const unsigned from = source_lane(me.call, lane) % kWarp;
        if ((members & bit(from)) == 0) {
            const bool named = (me.call.mask & bit(from)) != 0;
            fail({Kind::warp_call,
                  cudaErrorLaunchFailure,
                  me.call.site,
                  format("%s, lane %u of its warp, asks for the value of lane %u, %s. What it gets "
                         "is undefined.",
                         name(me).c_str(), lane, from,
                         named ? "which has returned or does not exist"
                               : "which the mask does not name"),
                  0,
                  {},
                  &me});
        }
        me.call.result = block.lane(warp, from)->call.value;
    }
}

template <class T>
T combine(WarpCall what, T a, T b) {
    switch (what) {
        case WarpCall::reduce_min:
        case WarpCall::reduce_min_signed:
            return std::min(a, b);
        case WarpCall::reduce_max:
        case WarpCall::reduce_max_signed:
            return std::max(a, b);
        case WarpCall::reduce_and:
            return a & b;
        case WarpCall::reduce_or:
            return a | b;
        case WarpCall::reduce_xor:
            return a ^ b;
        default:
            return a + b;
    }
}

template <class T>
std::uint64_t reduce(unsigned warp, unsigned members, WarpCall what) {
    bool first = true;
    T all{};
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((members & bit(lane)) == 0) continue;
        const T value = from_bits<T>(block.lane(warp, lane)->call.value);
        all = first ? value : combine(what, all, value);
        first = false;
    }
    return to_bits(all);
}

unsigned lanes_with(unsigned warp, unsigned members, std::uint64_t value) {
    unsigned equal = 0;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((members & bit(lane)) != 0 && block.lane(warp, lane)->call.value == value) {
            equal |= bit(lane);
        }
    }
    return equal;
}

// The result of lane `me`, for the calls that look at all lanes' values.
std::uint64_t vote(unsigned warp, unsigned members, const Thread& me) {
    const WarpCall what = me.call.what;
    switch (what) {
        case WarpCall::ballot:
            return lanes_with(warp, members, 1);
        case WarpCall::match_any:
            return lanes_with(warp, members, me.call.value);
        case WarpCall::match_all:
            return lanes_with(warp, members, me.call.value) == members ? members : 0;
        case WarpCall::active_mask:
            return members;
        case WarpCall::reduce_min_signed:
        case WarpCall::reduce_max_signed:
            return reduce<int>(warp, members, what);
        default:
            return reduce<unsigned>(warp, members, what);
    }
}

void finish(unsigned warp, unsigned members) {
    const Thread& any = *block.lane(warp, static_cast<unsigned>(__builtin_ctz(members)));
    switch (any.call.what) {
        case WarpCall::sync:
            break;
        case WarpCall::shuffle:
        case WarpCall::shuffle_up:
        case WarpCall::shuffle_down:
        case WarpCall::shuffle_xor:
            shuffle(warp, members);
            break;
        default:
            for (unsigned lane = 0; lane < kWarp; ++lane) {
                if ((members & bit(lane)) == 0) continue;
                Thread& me = *block.lane(warp, lane);
                me.call.result = vote(warp, members, me);
            }
    }
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

void finish_if_complete(const Thread& me) {
    if (me.call.what == WarpCall::active_mask) return;
    const unsigned wanted = me.call.mask & block.live_lanes[me.warp()];
    if ((wanted & ~block.waiting_lanes[me.warp()]) != 0) return;  // somebody is still to come
    if ((wanted & ~companions(me)) == 0) finish(me.warp(), wanted);
}

// Two lanes that each wait for the other, in different calls, will wait for ever. One of those that
// wait for `me` is enough to look at: they agreed with each other when they came.
void check_companions(const Thread& me) {
    for (unsigned rest = block.waiting_lanes[me.warp()] & me.call.mask; rest != 0;
         rest &= rest - 1) {
        const Thread& other = *block.lane(me.warp(), static_cast<unsigned>(__builtin_ctz(rest)));
        if (other.call.what == WarpCall::active_mask) continue;
        if ((other.call.mask & bit(me.lane())) == 0) continue;
        if (me.call.mask == other.call.mask && me.call.what == other.call.what) return;
        fail(
            {Kind::warp_call,
             cudaErrorLaunchFailure,
             me.call.site,
             format("%s is here with mask 0x%08x (lanes %s), while %s waits for it in another warp "
                    "call, in {0}, with mask 0x%08x (lanes %s). All lanes that a mask names must "
                    "make the same call with the same mask.",
                    name(me).c_str(), me.call.mask, lanes_of(me.call.mask).c_str(),
                    name(other).c_str(), other.call.mask, lanes_of(other.call.mask).c_str()),
             0,
             {other.call.site}});
    }
}

void check_call(const Thread& me) {
    const WarpSlot& call = me.call;
    if ((call.mask & bit(me.lane())) == 0) {
        fail({Kind::warp_call, cudaErrorLaunchFailure, call.site,
              format("%s is lane %u of its warp, but the mask 0x%08x that it gives names lanes %s.",
                     name(me).c_str(), me.lane(), call.mask, lanes_of(call.mask).c_str())});
    }
    const auto width = static_cast<unsigned>(call.width);
    if (width == 0 || width > kWarp || (width & (width - 1)) != 0) {
        fail({Kind::warp_call, cudaErrorLaunchFailure, call.site,
              format("%s gives a shuffle the width %d; it must be 1, 2, 4, 8, 16 or 32.",
                     name(me).c_str(), call.width)});
    }
}

}  // namespace

std::uint64_t warp_call(WarpCall what, unsigned mask, std::uint64_t value, int argument, int width,
                        Site site) {
    if (current == nullptr) return value;  // host code: nobody to meet
    const InRuntime guard;
    if (time_is_up) fail_for_time(site);
    Thread& me = *current;
    me.call = {what, mask, value, value, argument, width, site};
    check_call(me);
    if (what != WarpCall::active_mask) check_companions(me);
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
        unsigned here = 0;  // the lanes that ask at the same place are taken to run side by side
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
