/// @file
/// The reports of barriers and warp calls: which threads wait for which, or do not come.
#include "common/emulator/report/sentences.hpp"

namespace sixdays::emulator {

namespace {

// "threads 0-31, 40"; with multidimensional indices, how many there are and the first of them.
template <class Condition>
std::string threads_that(Condition condition) {
    std::string text;
    unsigned count = 0, ranges = 0, first = 0;
    for (unsigned id = 0; id < block.size; ++id) {
        if (!condition(block.threads[id])) continue;
        unsigned last = id;
        while (last + 1 < block.size && condition(block.threads[last + 1])) ++last;
        if (count == 0) first = id;
        count += last - id + 1;
        text += (ranges++ == 0 ? "" : ", ") + std::to_string(id);
        if (last > id) text += "-" + std::to_string(last);
        id = last;
    }
    if (count == 1) return "thread " + name(block.threads[first].index);
    if (ranges <= 4 && block.extents.y * block.extents.z == 1) return "threads " + text;
    return format("%u threads, %s the first,", count, name(block.threads[first].index).c_str());
}

bool has_returned(const Thread& thread) {
    return thread.state == Thread::State::done;
}

}  // namespace

Finding words(const DifferentBarriers& fact) {
    const Thread& first = *fact.first;
    const auto at_first = [&first](const Thread& t) {
        return t.state == Thread::State::at_barrier &&
               same_site(t.barrier_site, first.barrier_site);
    };
    const auto elsewhere = [&](const Thread& t) { return !at_first(t) && !has_returned(t); };
    return {
        Kind::barrier,
        cudaErrorLaunchFailure,
        barrier_of(*fact.astray),
        format("%s reached this __syncthreads() while %s waits at the one in {0}: %s never "
               "reached that one, and %s never reached this one. All threads of a block must "
               "reach the same __syncthreads(): is one of the two inside an `if` or a loop that "
               "not every thread enters?",
               name(*fact.astray).c_str(), name(first).c_str(), threads_that(elsewhere).c_str(),
               threads_that(at_first).c_str()),
        0,
        {barrier_of(first)},
        fact.astray};
}

Finding words(const ReturnedBeforeBarrier& fact) {
    return {
        Kind::barrier, cudaSuccess, fact.barrier,
        format("%s of block %s returned before this __syncthreads(), which the others reached. "
               "GPUs since Volta do not wait for returned threads, but CUDA guarantees a barrier "
               "only if all threads reach it. Put the guard around the work instead of returning.",
               threads_that(has_returned).c_str(), name(block.index).c_str())};
}

Finding words(const BarrierNeverOpens& fact) {
    const Thread* const in_barrier = fact.in_barrier;
    return {Kind::barrier,
            cudaErrorLaunchFailure,
            barrier_of(*in_barrier),
            format("%u of %u threads wait forever at this __syncthreads(), %s among them%s.",
                   block.at_barrier, block.live, name(*in_barrier).c_str(),
                   block.at_grid_barrier == 0 ? ""
                   : block.cooperative        ? "; others wait at the grid's barrier"
                                              : "; others wait at their cluster's barrier"),
            0,
            {},
            in_barrier};
}

Finding words(const WrongArrival& fact) {
    using What = WrongArrival::What;
    return by_thread(
        Kind::barrier, cudaErrorLaunchFailure, fact.place,
        fact.what == What::not_cooperative
            ? " reached a barrier of the whole grid, but this launch does not start all blocks "
              "together. Launch the kernel with cudaLaunchCooperativeKernel."
        : fact.what == What::arrives_twice
            ? " arrives again at the barrier of its cluster without having waited there."
            : " waits at the barrier of its cluster without having arrived there.");
}

namespace {

std::string with_lanes(unsigned mask) {
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

std::string what_is_wrong(const WrongWarpCall& fact) {
    const WarpSlot& call = fact.thread->call;
    const auto reads = [&](const char* which) {
        return format(
            ", lane %u of its warp, reads the value of lane %u, which %s. The result is "
            "undefined.",
            fact.thread->lane(), fact.lane, which);
    };
    switch (fact.what) {
        using enum WrongWarpCall::What;
        case another_call:
            return format(
                " is here with mask 0x%08x (lanes %s), while %s waits for it in another "
                "warp call, in {0}, with mask 0x%08x (lanes %s). All lanes named in a "
                "mask must make the same call with the same mask.",
                call.mask, with_lanes(call.mask).c_str(), name(*fact.other).c_str(),
                fact.other->call.mask, with_lanes(fact.other->call.mask).c_str());
        case own_lane_left_out:
            return format(
                " is lane %u of its warp, but the mask 0x%08x that it passes names lanes %s.",
                fact.thread->lane(), call.mask, with_lanes(call.mask).c_str());
        case width:
            return format(" passes width %d to a shuffle; it must be 1, 2, 4, 8, 16 or 32.",
                          call.width);
        case lane_left_out:
            return reads("the mask does not name");
        case lane_not_there:
            return reads("this block does not have");
        case lane_never_came:
            return reads(
                "never reached this call: it returned, or skipped an `if` around the call");
        case no_value:
            return format(
                " reads its local variable `%s`, which has no value yet, in a shuffle that gives "
                "it to lane %u of its warp. Is an initial value missing, such as the identity (0 "
                "for a sum)?",
                call.unset, fact.lane);
        case lane_skipped_call:
            return format(
                ", lane %u of its warp, makes this warp call with mask 0x%08x, which names lane %u "
                "too. That lane has run to the kernel's end without the call: is it inside an `if` "
                "or a loop that not every lane enters? Every lane named in the mask must make the "
                "call, or the result is undefined.",
                fact.thread->lane(), call.mask, fact.lane);
        case never_complete:
            break;
    }
    const std::string waits =
        fact.other == nullptr ? ""
                              : ": " + name(*fact.other) + " waits at the __syncthreads() in {0}";
    return format(
        " waits in this warp call, whose mask 0x%08x names lanes that never reach it%s. "
        "Every lane named in the mask must make the call.",
        call.mask, waits.c_str());
}

Place place_of(const WarpSlot& call) {
    return {call.site, call.code};
}

}  // namespace

Finding words(const WrongWarpCall& fact) {
    Place other;
    if (fact.other != nullptr) {
        other = fact.what == WrongWarpCall::What::another_call ? place_of(fact.other->call)
                                                               : barrier_of(*fact.other);
    }
    const bool unset = fact.what == WrongWarpCall::What::no_value;
    return {unset ? Kind::uninitialised_read : Kind::warp_call,
            cudaErrorLaunchFailure,
            place_of(fact.thread->call),
            name(*fact.thread) + what_is_wrong(fact),
            0,
            {other},
            fact.thread};
}

}  // namespace sixdays::emulator
