/// @file
/// A cooperative launch: blocks still run one after another, but each only up to the next barrier
/// of the grid. There it is put aside with its threads and its shared memory, and when all are
/// there, the first goes on. What lies before the barrier comes before all that lies behind it.
#include <vector>

#include "common/emulator/runtime/block.hpp"
#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/memory.hpp"
#include "common/emulator/runtime/race.hpp"
#include "common/emulator/runtime/signals.hpp"

namespace sixdays::emulator {

namespace {

struct Waiting {
    Block block;
    SharedImage shared;
};

void abandon(std::vector<Waiting>& waiting) {
    for (Waiting& one : waiting) {
        std::swap(block, one.block);
        abandon_block();
        std::swap(block, one.block);
    }
}

// A GPU would wait for ever.
void note_who_left(const std::vector<Waiting>& waiting, std::uint64_t blocks) {
    const Thread* thread = nullptr;
    for (const Thread& one : waiting.front().block.threads) {
        if (thread == nullptr && one.state == Thread::State::at_grid_barrier) thread = &one;
    }
    Finding finding{
        Kind::barrier, cudaErrorLaunchFailure, thread->barrier_site,
        format("%zu of %llu blocks wait at this barrier of the grid for ever: the others "
               "have returned. All blocks must come to it: is it inside an `if`, or a "
               "loop that some blocks leave earlier?",
               waiting.size(), static_cast<unsigned long long>(blocks))};
    finding.thread = thread;
    note(finding);
}

}  // namespace

void run_cooperative_grid(const Launch& what, std::uint64_t blocks) {
    block.cooperative = true;
    const Block blank = block;
    std::vector<Waiting> waiting;
    const auto put_aside = [&] {
        waiting.push_back({std::move(block), save_shared()});
        block = blank;
    };
    for (std::uint64_t turn = 0; turn < blocks && !launch_failed(); ++turn) {
        block.index = index_of_block(turn);
        forget_shared();
        restart_clock();
        if (!run_block(what)) put_aside();
    }
    while (!launch_failed() && !waiting.empty()) {
        if (waiting.size() < blocks) {
            note_who_left(waiting, blocks);
            break;
        }
        begin_race_checks();
        std::vector<Waiting> now;
        now.swap(waiting);
        for (Waiting& one : now) {
            if (launch_failed()) {
                waiting.push_back(std::move(one));
                continue;
            }
            block = std::move(one.block);
            restore_shared(one.shared);
            restart_clock();
            if (!resume_block(what)) put_aside();
        }
    }
    abandon(waiting);
    block.cooperative = false;
}

}  // namespace sixdays::emulator
