#include "common/emulator/checks/deadlock.hpp"

#include "common/emulator/checks/async.hpp"
#include "common/emulator/machine/facts.hpp"

namespace sixdays::emulator {

namespace {

bool is_above(const Site& barrier, const Line& here) {
    const Line there = find_line(Place(barrier));
    return there.file == here.file && there.line < here.line;
}

}  // namespace

// GPUs since Volta do not wait for threads that have returned, but CUDA does not guarantee that.
void remark_on_returned() {
    const Place where = barrier_of(*block.first_at_barrier);
    remark(where, ReturnedBeforeBarrier{where});
}

// Deadlock: all remaining threads wait at barriers or in warp calls.
void report_deadlock() {
    if (block.astray != nullptr) {
        // On a GPU, threads at different barriers may pass, hang or mix: the behaviour is undefined.
        return note(DifferentBarriers{block.first_at_barrier, block.astray});
    }
    if (report_waiting_for_wgmma() || report_waiting_for_mbarriers()) return;
    const Thread* in_barrier = block.at_barrier > 0 ? block.first_at_barrier : nullptr;
    const Thread* in_call = nullptr;
    for (const unsigned id : block.order) {
        if (in_call == nullptr && block.threads[id].state == Thread::State::at_warp_call) {
            in_call = &block.threads[id];
        }
    }
    if (in_call != nullptr) {
        note(WrongWarpCall{WrongWarpCall::What::never_complete, in_call, in_barrier});
    } else if (in_barrier != nullptr) {
        note(BarrierNeverOpens{in_barrier});
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
