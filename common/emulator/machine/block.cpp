#include "common/emulator/machine/block.hpp"

#include <algorithm>
#include <utility>

#include "common/emulator/machine/built_in.hpp"
#include "common/emulator/machine/clocks.hpp"
#include "common/emulator/machine/events.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/order.hpp"
#include "common/emulator/machine/publish.hpp"

namespace sixdays::emulator {

constinit thread_local Thread* current = nullptr;
constinit thread_local bool in_runtime = false;
Block block;
bool in_cluster = false;

namespace {

Context scheduler;
const Launch* running = nullptr;
std::vector<Fiber> fibers;
std::vector<Fiber*> idle;

// A fiber runs one thread after another. Most threads never wait, so they all share one stack.
void fiber_main() {
    for (;;) {
        Thread& me = *current;
        in_runtime = false;
        running->run_thread(running->arguments);
        in_runtime = true;
        leave_block(me);
        switch_context(me.fiber->context, scheduler);
    }
}

// Adds enough fibers for one block.
void make_fibers() {
    static std::size_t made = 0;
    fibers.resize(kMaxFibers);
    const std::size_t first = made;
    made += kMaxThreads;
    for (std::size_t i = made; i-- > first;) {
        fibers[i].stack = stack_of_fiber(i);
        prepare_context(fibers[i].context, fibers[i].stack, fiber_main);
        idle.push_back(&fibers[i]);
    }
}

void begin(Thread& thread) {
    if (idle.empty()) make_fibers();
    thread.fiber = idle.back();
    idle.pop_back();
    thread.state = Thread::State::ready;
}

void end(Thread& thread) {
    idle.push_back(thread.fiber);
    thread.fiber = nullptr;
}

void start_threads() {
    static_cast<Progress&>(block) = {.live = block.size};
    begin_block_clocks(block.size);
    events.block_starts();
    for (const unsigned id : block.order) {
        block.live_lanes[id / kWarp] |= 1u << id % kWarp;
        Thread& thread = block.threads[id];
        thread = {thread.index, id};
        block.ready.push_back(&thread);
    }
}

// True if some threads wait at the barrier of the grid or cluster, and all others have arrived or
// returned. A thread that has arrived may still wait for a thread of its own block.
bool all_have_arrived() {
    return block.at_grid_barrier > 0 &&
           std::all_of(block.order.begin(), block.order.end(), [](unsigned id) {
               const Thread& t = block.threads[id];
               return t.state == Thread::State::done || t.state == Thread::State::at_grid_barrier ||
                      t.arrived_at_cluster == block.cluster_barriers;
           });
}

void open_grid_barrier() {
    block.at_grid_barrier = 0;
    ++block.barriers_passed;
    ++block.cluster_barriers;
    for (const unsigned id : block.order) {
        Thread& thread = block.threads[id];
        if (thread.state == Thread::State::at_grid_barrier) make_ready(thread);
    }
}

// Runs until all threads have returned, or the block waits for other blocks.
Stop run_threads() {
    set_block(block.index, block.extents, block.grid);
    while (block.live > 0) {
        if (block.ready.empty() && !answer_active_masks()) {
            const bool arrived = all_have_arrived();
            if (!arrived) events.deadlock();
            if (!arrived || in_cluster || block.cooperative) break;
            meet_at_barrier(block.size);  // a cluster of one block
            open_grid_barrier();
        }
        Thread& thread = *block.ready.front();
        block.ready.pop_front();
        if (thread.state == Thread::State::fresh) begin(thread);
        current = &thread;
        set_thread_index(thread.index);
        switch_context(scheduler, thread.fiber->context);
        current = nullptr;
        if (launch_failed() || block.wanted_cluster) break;
        if (thread.state == Thread::State::done) end(thread);
        // The elements of tiles belong to no block: a tile kernel is never put aside.
        const bool may_pause = block.may_pause && !block.in_tiles;
        if (std::exchange(block.polls_in_vain, false) && !answer_active_masks() && may_pause)
            return Stop::polls;
    }
    events.block_ends();
    const bool stopped = launch_failed() || block.wanted_cluster;
    if (stopped) abandon_block();
    return block.live == 0 || stopped ? Stop::ended : Stop::at_barrier;
}

}  // namespace

// Their stacks are reset.
void abandon_block() {
    for (unsigned id = 0; id < block.size; ++id) {
        Thread& thread = block.threads[id];
        if (thread.fiber == nullptr) continue;
        prepare_context(thread.fiber->context, thread.fiber->stack, fiber_main);
        end(thread);
    }
    block.ready.clear();
}

uint3 index_of_thread(unsigned id) {
    const dim3 extents = block.extents;
    return {id % extents.x, id / extents.x % extents.y, id / extents.x / extents.y};
}

void number_threads() {
    for (unsigned id = 0; id < block.size; ++id) block.threads[id].index = index_of_thread(id);
}

Stop run_block(const Launch& what) {
    running = &what;
    start_threads();
    return run_threads();
}

Stop resume_block(const Launch& what) {
    running = &what;
    begin_block_clocks(block.size);
    if (in_cluster) learn_from_cluster(block.size);
    open_grid_barrier();
    return run_threads();
}

Stop continue_block(const Launch& what) {
    running = &what;
    return run_threads();
}

void wait_for_turn() {
    switch_context(current->fiber->context, scheduler);
}

void yield() {
    make_ready(*current);
    wait_for_turn();
}

void make_ready(Thread& thread) {
    thread.state = Thread::State::ready;
    block.ready.push_back(&thread);
}

}  // namespace sixdays::emulator
