/// @file
/// The reports of threads that wait for others, which never come.
#include <vector>

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

Finding words(const ReturnedBeforeBarrier&) {
    return {
        Kind::barrier, cudaSuccess, barrier_of(*block.first_at_barrier),
        format("%s of block %s returned before this __syncthreads(), which the others reached. "
               "GPUs since Volta do not wait for returned threads, but CUDA guarantees a barrier "
               "only if all threads reach it. Put the guard around the work instead of returning.",
               threads_that(has_returned).c_str(), name(block.index).c_str())};
}

Finding words(const LanesNeverReach& fact) {
    const Thread *const in_call = fact.in_call, *const in_barrier = fact.in_barrier;
    std::string waits;
    std::vector<Place> where;
    if (in_barrier != nullptr) {
        waits = ": " + name(*in_barrier) + " waits at the __syncthreads() in {0}";
        where = {barrier_of(*in_barrier)};
    }
    return {Kind::warp_call,
            cudaErrorLaunchFailure,
            Place(in_call->call.site, in_call->call.code),
            format("%s waits in this warp call, whose mask 0x%08x names lanes that never reach "
                   "it%s. Every lane named in the mask must make the call.",
                   name(*in_call).c_str(), in_call->call.mask, waits.c_str()),
            0,
            where,
            in_call};
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

}  // namespace sixdays::emulator
