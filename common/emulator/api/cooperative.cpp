/// @file
/// Blocks that wait for each other: in a cooperative launch, in a cluster, or in a grid that the
/// device holds at a time. Blocks still run one after another, but each only up to the next barrier
/// of the grid, or until all its threads that can run have polled (checks/polling.hpp). Then it is
/// put aside.
///
/// When all blocks have arrived at the barrier, the first one resumes. Everything before the barrier
/// is ordered before everything after it. A block that polls resumes when the others have had their
/// turns, and is in the same state as if it had run on: threads, shared memory, clocks, what it
/// knows. The blocks of a cluster run the same way, one cluster after another; a cluster does not
/// wait for blocks that have returned.
#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "common/emulator/api/api.hpp"
#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/proxy.hpp"
#include "common/emulator/checks/race.hpp"
#include "common/emulator/checks/trace.hpp"
#include "common/emulator/libraries/exchange.hpp"
#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/clocks.hpp"
#include "common/emulator/machine/order.hpp"
#include "common/emulator/machine/publish.hpp"
#include "common/emulator/machine/signals.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/memory/readers.hpp"
#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

namespace {

/// A block that has begun and does not run.
struct Waiting {
    Block block;
    Stop why = Stop::ended;
    bool can_run = false;  // polls, or the barrier has opened
    SharedImage shared;
    std::array<std::shared_ptr<void>, 6> in_flight{};
    std::array<std::shared_ptr<void>, 7> known{};  // of a block that polls: it goes on as it was

    void exchange() {
        std::swap(emulator::block, block);
        exchange_copies(in_flight[0]);
        exchange_mbarriers(in_flight[1]);
        exchange_wgmma(in_flight[2]);
        exchange_locals(in_flight[3]);
        exchange_tile_stores(in_flight[4]);
        exchange_proxy_fences(in_flight[5]);
        if (why != Stop::polls) return;
        exchange_clocks(known[0]);
        exchange_publications(known[1]);
        exchange_suspicions(known[2]);
        exchange_shown(known[3]);
        if (tracing) exchange_requests(known[4]);
        if (in_cluster) return;  // histories and readers belong to the windows
        exchange_histories(known[5]);
        exchange_readers(known[6]);
    }
};

/// Blocks that can wait for each other: those of a cooperative grid, of a cluster, or of a grid that
/// the device holds at a time.
class Together {
public:
    /// @param others  blocks of the grid besides these
    Together(const Launch& what, std::uint64_t blocks, const OtherBlocks& others)
        : what_(what), blocks_(blocks), others_(others), unstarted_(blocks), blank_(block) {
        blank_.ready.clear();
        for (Thread& thread : blank_.threads) thread.fiber = nullptr;
    }

    /// `block` has begun, and polls.
    void first_stopped() {
        --unstarted_;
        stopped(Stop::polls);
    }
    /// Starts these blocks, and runs all that have begun to their ends.
    void run(const std::vector<uint3>& blocks) {
        for (const uint3 index : blocks) {
            if (launch_failed()) break;
            start(index);
        }
        run_to_end();
    }

private:
    void start(const uint3& index) {
        if (block.size == 0) block = blank_;
        block.index = index;
        forget_shared();
        restart_clock();
        --unstarted_;
        know_others(0);
        if (in_cluster) note_turn_of_cluster(index);
        stopped(run_block(what_));
    }

    void stopped(Stop why) {
        if (end(why)) return;
        waiting_.emplace_back();
        put_aside(waiting_.back(), why);
    }

    void run_to_end() {
        while (!launch_failed() && !waiting_.empty()) {
            if (runnable() == 0 && !open_barrier()) break;
            for (auto one = waiting_.begin(); one != waiting_.end() && !launch_failed();) {
                const bool ended = one->can_run && resume(*one);
                one = ended ? waiting_.erase(one) : std::next(one);
            }
        }
        for (Waiting& one : waiting_) {
            std::swap(block, one.block);
            abandon_block();
            std::swap(block, one.block);
        }
        if (block.size == 0) block = blank_;
    }

    std::uint64_t runnable() const {
        return static_cast<std::uint64_t>(std::count_if(
            waiting_.begin(), waiting_.end(), [](const Waiting& one) { return one.can_run; }));
    }

    // For the block that runs next. @param itself  1 if it is one of those that wait
    void know_others(std::uint64_t itself) {
        const std::uint64_t polling = runnable() - itself;
        block.may_pause = polling + unstarted_ > 0;
        block.in_progress = static_cast<unsigned>(polling + 1);
        block.others = others_;
        block.others.polling = polling;
        block.others.at_barrier = waiting_.size() - itself - polling;
        block.others.unstarted += unstarted_;
        block.others.returned += blocks_ - unstarted_ - polling - block.others.at_barrier - 1;
    }

    bool end(Stop why) {
        newest_ = std::max(newest_, clocks.serial);
        idle_ = why == Stop::polls ? block.turns_without_write : 0;
        if (tracing && why != Stop::polls) trace_block_end();  // no request spans a barrier
        if (why == Stop::ended && in_cluster && !launch_failed()) leave_cluster();
        if (why != Stop::ended) return false;
        clocks.serial = newest_;
        return true;
    }

    void put_aside(Waiting& one, Stop why) {
        one.why = why;
        one.can_run = why == Stop::polls;
        one.shared = save_shared();
        if (in_cluster && why == Stop::at_barrier) tell_cluster(block.size);
        if (in_cluster) show_to_cluster(one.shared);
        one.exchange();
        clocks.serial = newest_;
    }

    // True if it ends.
    bool resume(Waiting& one) {
        const bool polls = one.why == Stop::polls;
        one.exchange();
        if (in_cluster) take_from_cluster(one.shared);
        restore_shared(one.shared);
        resume_clock();
        know_others(1);
        if (polls) block.turns_without_write = idle_;
        if (!polls && in_cluster) note_turn_of_cluster(block.index);
        const Stop why = polls ? continue_block(what_) : resume_block(what_);
        if (end(why)) return true;
        put_aside(one, why);
        return false;
    }

    // All blocks in progress have reached the barrier; false if others have returned instead.
    bool open_barrier() {
        if (in_cluster) {
            clocks.first_of_segment = clocks.serial + 1;
            begin_segment();
        } else if (waiting_.size() < blocks_) {
            note_who_left();
            return false;
        } else {
            begin_race_checks();
        }
        for (Waiting& one : waiting_) one.can_run = true;
        return true;
    }

    // A GPU would hang.
    void note_who_left() const {
        const Waiting& first = waiting_.front();
        const Thread* thread = nullptr;
        for (const Thread& one : first.block.threads) {
            if (thread == nullptr && one.state == Thread::State::at_grid_barrier) thread = &one;
        }
        Finding finding{Kind::barrier, cudaErrorLaunchFailure, thread->barrier_site,
                        format("%zu of %llu blocks wait forever at this barrier of the grid: the "
                               "others have returned. All blocks must reach it: is it inside an "
                               "`if`, or a loop that some blocks leave earlier?",
                               waiting_.size(), static_cast<unsigned long long>(blocks_))};
        finding.who = Who{thread->index, first.block.index};
        note(finding);
    }

    const Launch& what_;
    const std::uint64_t blocks_;
    const OtherBlocks others_;
    std::uint64_t unstarted_;
    Block blank_;
    std::list<Waiting> waiting_;            // in the order of their starts
    std::uint32_t newest_ = clocks.serial;  // serial number
    unsigned idle_ = 0;                     // turns without a write by any block
};

}  // namespace

void run_together(const Launch& what, const std::vector<uint3>& blocks, const OtherBlocks& others) {
    Together(what, blocks.size(), others).run(blocks);
}

void run_cooperative_grid(const Launch& what, std::uint64_t count) {
    block.cooperative = true;
    std::vector<uint3> blocks;
    for (std::uint64_t turn = 0; turn < count; ++turn) blocks.push_back(index_of_block(turn));
    run_together(what, blocks);
    block.cooperative = false;
}

void run_rest_together(const Launch& what, std::uint64_t turn, std::uint64_t count) {
    Together all(what, count - turn, {.returned = turn});
    std::vector<uint3> rest;
    while (++turn < count) rest.push_back(index_of_block(turn));
    all.first_stopped();
    all.run(rest);
}

}  // namespace sixdays::emulator
