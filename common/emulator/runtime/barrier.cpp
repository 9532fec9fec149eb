/// @file
/// __syncthreads(), and what happens when somebody never comes.
#include <cstring>

#include "common/emulator/runtime/block.hpp"
#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/race.hpp"
#include "common/emulator/runtime/signals.hpp"

namespace sixdays::emulator {

namespace {

void open_barrier() {
    block.barrier_result = block.barrier_votes;
    block.barrier_votes = 0;
    block.at_barrier = 0;
    ++block.barriers_passed;
    block.turns_without_write = 0;
    meet_at_barrier(block.size);
    for (const unsigned id : block.order) {
        Thread& thread = block.threads[id];
        if (thread.state == Thread::State::at_barrier) make_ready(thread);
    }
}

bool same(const Site& a, const Site& b) {
    return a.line() == b.line() && a.column() == b.column() &&
           (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

// On a GPU, threads that come to different barriers may pass, hang or mix: it is undefined.
void check_same_barrier(const Thread& me, const Site& site) {
    const Thread* other = block.first_at_barrier;
    if (same(other->barrier_site, site)) return;
    fail(
        {Kind::barrier,
         cudaErrorLaunchFailure,
         site,
         format("%s comes to this __syncthreads() while %s waits at the one in {0}. All threads of "
                "a block must come to the same barrier: is one of them inside an `if` or a loop "
                "that not every thread enters?",
                name(me).c_str(), name(*other).c_str()),
         0,
         {other->barrier_site}});
}

}  // namespace

void block_barrier(Site site) {
    block_barrier_count(0, site);
}

int block_barrier_count(int predicate, Site site) {
    if (current == nullptr) return predicate != 0;
    const InRuntime guard;
    Thread& me = *current;
    if (time_is_up) fail_for_time(site);
    if (block.at_barrier == 0) {
        block.first_at_barrier = &me;
    } else {
        check_same_barrier(me, site);
    }
    block.barrier_votes += predicate != 0;
    me.state = Thread::State::at_barrier;
    me.barrier_site = site;
    if (++block.at_barrier == block.live) open_barrier();
    wait_for_turn();
    return block.barrier_result;
}

void leave_block(Thread& me) {
    if (judgement_pending) judge_stores();
    me.state = Thread::State::done;
    --block.live;
    block.live_lanes[me.warp()] &= ~(1u << me.lane());
    block.turns_without_write = 0;
    if (block.at_barrier > 0 && block.at_barrier == block.live) open_barrier();
    if (block.waiting_lanes[me.warp()] != 0) finish_calls_without(me);
}

// Everybody left waits at a barrier or in a warp call, and some wait for each other.
void report_deadlock() {
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
            where = {in_barrier->barrier_site};
        }
        note(
            {Kind::warp_call, cudaErrorLaunchFailure, in_call->call.site,
             format("%s waits in this warp call, whose mask 0x%08x names lanes that do not come%s. "
                    "Every lane that the mask names must make the call.",
                    name(*in_call).c_str(), in_call->call.mask, waits.c_str()),
             0, where, in_call});
    } else if (in_barrier != nullptr) {
        note({Kind::barrier,
              cudaErrorLaunchFailure,
              in_barrier->barrier_site,
              format("%u of %u threads wait at this __syncthreads() for ever, %s among them.",
                     block.at_barrier, block.live, name(*in_barrier).c_str()),
              0,
              {},
              in_barrier});
    }
}

}  // namespace sixdays::emulator
