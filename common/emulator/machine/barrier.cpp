/// @file
/// __syncthreads(), and the barriers of the grid and of a cluster.
#include <algorithm>
#include <cstring>
#include <utility>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/clocks.hpp"
#include "common/emulator/machine/events.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/signals.hpp"

namespace sixdays::emulator {

bool same_site(const Site& a, const Site& b) {
    return a.line() == b.line() && a.column() == b.column() &&
           (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

bool has_opened(const Site& barrier) {
    return std::any_of(block.barriers_opened.begin(), block.barriers_opened.end(),
                       [&](const Site& opened) { return same_site(opened, barrier); });
}

namespace {

void open_barrier() {
    if (block.live < block.size) events.opens_without_returned();
    block.barrier_result = block.barrier_votes;
    block.barrier_votes = 0;
    block.at_barrier = 0;
    ++block.barriers_passed;
    block.missed_barrier = block.size - block.live;
    const Site& here = block.first_at_barrier->barrier_site;
    if (!has_opened(here)) block.barriers_opened.push_back(here);
    block.turns_without_write = 0;
    meet_at_barrier(block.size);
    for (const unsigned id : block.order) {
        Thread& thread = block.threads[id];
        if (thread.state == Thread::State::at_barrier) make_ready(thread);
    }
}

int come_to_barrier(int predicate, Site site, const void* code) {
    if (current == nullptr) return predicate != 0;
    const InRuntime guard;
    Thread& me = *current;
    if (time_is_up) fail_for_time(site);
    me.state = Thread::State::at_barrier;
    me.barrier_site = site;
    me.barrier_code = code;
    if (block.at_barrier == 0) block.first_at_barrier = &me;
    if (!same_site(block.first_at_barrier->barrier_site,
                   site)) {  // the missing ones are reported later
        if (block.astray == nullptr) block.astray = &me;
        wait_for_turn();
    }
    block.barrier_votes += predicate != 0;
    if (++block.at_barrier == block.live) open_barrier();
    wait_for_turn();
    return block.barrier_result;
}

}  // namespace

void block_barrier(Site site) {
    come_to_barrier(0, site, __builtin_return_address(0));
}

int block_barrier_count(int predicate, Site site) {
    return come_to_barrier(predicate, site, __builtin_return_address(0));
}

static void wait_for_blocks(Site site) {
    if (time_is_up) fail_for_time(site);
    events.thread_pauses();
    current->state = Thread::State::at_grid_barrier;
    current->barrier_site = site;
    ++block.at_grid_barrier;
    wait_for_turn();
}

void grid_barrier(Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    if (!block.cooperative) fail(WrongArrival{WrongArrival::What::not_cooperative, site});
    wait_for_blocks(site);
}

void cluster_wait(Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    const int arrived = std::exchange(current->arrived_at_cluster, -1);
    if (arrived < 0) fail(WrongArrival{WrongArrival::What::waits_without_arriving, site});
    if (arrived == block.cluster_barriers) wait_for_blocks(site);
}

bool is_cooperative_launch() {
    return block.cooperative;
}

void leave_block(Thread& me) {
    events.thread_pauses();
    me.state = Thread::State::done;
    --block.live;
    block.live_lanes[me.warp()] &= ~(1u << me.lane());
    block.turns_without_write = 0;
    if (block.at_barrier > 0 && block.at_barrier == block.live) open_barrier();
    if (block.waiting_lanes[me.warp()] != 0) finish_calls_without(me);
}

}  // namespace sixdays::emulator
