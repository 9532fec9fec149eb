/// @file
/// The results of a warp call, once all lanes have arrived.
#include <algorithm>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/facts.hpp"

namespace sixdays::emulator {

namespace {

// The source lane of a shuffle for `lane`. Up and down past the group: the lane itself.
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
            using enum WrongWarpCall::What;
            fail(WrongWarpCall{(me.call.mask & bit(from)) == 0     ? lane_left_out
                               : block.lane(warp, from) == nullptr ? lane_not_there
                                                                   : lane_never_came,
                               &me, nullptr, from});
        }
        const Thread& source = *block.lane(warp, from);
        if (source.call.unset != nullptr && from != lane)
            fail(WrongWarpCall{WrongWarpCall::What::no_value, &source, nullptr, lane});
        me.call.result = source.call.value;
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

// The result for lane `me` of the calls that combine the values of all lanes.
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

}  // namespace

void give_results(unsigned warp, unsigned members) {
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
}

}  // namespace sixdays::emulator
