#include "common/emulator/checks/deadlock.hpp"

#include <string>
#include <vector>

#include "common/emulator/checks/async.hpp"
#include "common/emulator/machine/finding.hpp"

namespace sixdays::emulator {

namespace {

bool is_above(const Site& barrier, const Line& here) {
    const Line there = find_line(Place(barrier));
    return there.file == here.file && there.line < here.line;
}

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

Place barrier_of(const Thread& thread) {
    return {thread.barrier_site, thread.barrier_code};
}

// On a GPU, threads at different barriers may pass, hang or mix: the behaviour is undefined.
void report_different_barriers() {
    const Thread& first = *block.first_at_barrier;
    const auto at_first = [&first](const Thread& t) {
        return t.state == Thread::State::at_barrier &&
               same_site(t.barrier_site, first.barrier_site);
    };
    const auto elsewhere = [&](const Thread& t) { return !at_first(t) && !has_returned(t); };
    note({Kind::barrier,
          cudaErrorLaunchFailure,
          barrier_of(*block.astray),
          format("%s reached this __syncthreads() while %s waits at the one in {0}: %s never "
                 "reached that one, and %s never reached this one. All threads of a block must "
                 "reach the same __syncthreads(): is one of the two inside an `if` or a loop that "
                 "not every thread enters?",
                 name(*block.astray).c_str(), name(first).c_str(), threads_that(elsewhere).c_str(),
                 threads_that(at_first).c_str()),
          0,
          {barrier_of(first)},
          block.astray});
}

}  // namespace

// GPUs since Volta do not wait for threads that have returned, but CUDA does not guarantee that.
void remark_on_returned() {
    const Place where = barrier_of(*block.first_at_barrier);
    if (is_remarked(where)) return;
    remark(
        where,
        format("%s of block %s returned before this __syncthreads(), which the others reached. "
               "GPUs since Volta do not wait for returned threads, but CUDA guarantees a barrier "
               "only if all threads reach it. Put the guard around the work instead of returning.",
               threads_that(has_returned).c_str(), name(block.index).c_str()));
}

// Deadlock: all remaining threads wait at barriers or in warp calls.
void report_deadlock() {
    if (block.astray != nullptr) return report_different_barriers();
    if (report_waiting_for_wgmma() || report_waiting_for_mbarriers()) return;
    const Thread* in_barrier = block.at_barrier > 0 ? block.first_at_barrier : nullptr;
    const Thread* in_call = nullptr;
    for (const unsigned id : block.order) {
        if (in_call == nullptr && block.threads[id].state == Thread::State::at_warp_call) {
            in_call = &block.threads[id];
        }
    }
    if (in_call != nullptr) {
        std::string waits;
        std::vector<Place> where;
        if (in_barrier != nullptr) {
            waits = ": " + name(*in_barrier) + " waits at the __syncthreads() in {0}";
            where = {barrier_of(*in_barrier)};
        }
        note({Kind::warp_call, cudaErrorLaunchFailure,
              Place(in_call->call.site, in_call->call.code),
              format("%s waits in this warp call, whose mask 0x%08x names lanes that never reach "
                     "it%s. Every lane named in the mask must make the call.",
                     name(*in_call).c_str(), in_call->call.mask, waits.c_str()),
              0, where, in_call});
    } else if (in_barrier != nullptr) {
        note({Kind::barrier,
              cudaErrorLaunchFailure,
              barrier_of(*in_barrier),
              format("%u of %u threads wait forever at this __syncthreads(), %s among them%s.",
                     block.at_barrier, block.live, name(*in_barrier).c_str(),
                     block.at_grid_barrier == 0 ? ""
                     : block.cooperative        ? "; others wait at the grid's barrier"
                                                : "; others wait at their cluster's barrier"),
              0,
              {},
              in_barrier});
    }
}

// In a loop: the last barrier that the current thread passed is below its current line.
static bool has_come_round(const Line& here) {
    const Line last = find_line(Place(current->barrier_site));
    return last.file == here.file && last.line > here.line;
}

const Thread* waits_above(const Line& here) {
    const Thread* other = block.at_barrier > 0 ? block.first_at_barrier : nullptr;
    if (other == nullptr || has_opened(other->barrier_site)) return nullptr;
    return is_above(other->barrier_site, here) || has_come_round(here) ? other : nullptr;
}

bool is_a_round_ahead(const Thread& thread, const Line& there, const Line& here) {
    if (thread.state != Thread::State::at_barrier || !has_opened(thread.barrier_site)) return false;
    const Line barrier = find_line(Place(thread.barrier_site));
    const bool in_same_round = there.file == barrier.file && there.line > barrier.line;
    return !in_same_round && is_above(thread.barrier_site, here);
}

}  // namespace sixdays::emulator
