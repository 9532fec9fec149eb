#include "common/emulator/runtime/block.hpp"

#include <deque>

#include "common/emulator/runtime/async.hpp"
#include "common/emulator/runtime/built_in.hpp"
#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/order.hpp"
#include "common/emulator/runtime/race.hpp"

namespace sixdays::emulator {

Thread* current = nullptr;
bool in_runtime = false;
Block block;

namespace {

Context scheduler;
const Launch* running = nullptr;
std::deque<Thread*> ready;
std::vector<Fiber> fibers;
std::vector<Fiber*> idle;

// A fiber runs one thread after another: most threads never wait, and all share one stack.
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

void make_fibers() {
    fibers.resize(kMaxFibers);
    for (std::size_t i = kMaxFibers; i-- > 0;) {
        fibers[i].stack = stack_of_fiber(i);
        prepare_context(fibers[i].context, fibers[i].stack, fiber_main);
        idle.push_back(&fibers[i]);
    }
}

void begin(Thread& thread) {
    thread.fiber = idle.back();
    idle.pop_back();
    thread.state = Thread::State::ready;
}

void end(Thread& thread) {
    idle.push_back(thread.fiber);
    thread.fiber = nullptr;
}

// The launch failed: threads that stopped halfway never go on, and their stacks start anew.
void abandon() {
    for (unsigned id = 0; id < block.size; ++id) {
        Thread& thread = block.threads[id];
        if (thread.fiber == nullptr) continue;
        prepare_context(thread.fiber->context, thread.fiber->stack, fiber_main);
        end(thread);
    }
    ready.clear();
}

void start_threads() {
    block.live = block.size;
    block.at_barrier = block.barriers_passed = 0;
    block.astray = nullptr;
    block.barrier_votes = 0;
    block.turns_without_write = 0;
    begin_block_clocks(block.size);
    forget_copies();
    block.live_lanes.fill(0);
    block.waiting_lanes.fill(0);
    for (const unsigned id : block.order) {
        block.live_lanes[id / kWarp] |= 1u << id % kWarp;
        Thread& thread = block.threads[id];
        thread.state = Thread::State::fresh;
        thread.in_kernel = false;
        thread.barrier_site = {};
        thread.accesses_left = kAccessesPerTurn;
        ready.push_back(&thread);
    }
}

}  // namespace

uint3 index_of_thread(unsigned id) {
    const dim3 extents = block.extents;
    return {id % extents.x, id / extents.x % extents.y, id / extents.x / extents.y};
}

void number_threads() {
    for (unsigned id = 0; id < block.size; ++id) {
        block.threads[id].id = id;
        block.threads[id].index = index_of_thread(id);
    }
}

void run_block(const Launch& what) {
    if (fibers.empty()) make_fibers();
    running = &what;
    start_threads();
    set_block(block.index, block.extents, block.grid);
    while (block.live > 0) {
        if (ready.empty() && !answer_active_masks()) {
            report_deadlock();
            break;
        }
        Thread& thread = *ready.front();
        ready.pop_front();
        if (thread.state == Thread::State::fresh) begin(thread);
        current = &thread;
        set_thread_index(thread.index);
        switch_context(scheduler, thread.fiber->context);
        current = nullptr;
        if (launch_failed()) break;
        if (thread.state == Thread::State::done) end(thread);
    }
    judge_block();
    if (launch_failed()) abandon();
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
    ready.push_back(&thread);
}

}  // namespace sixdays::emulator
