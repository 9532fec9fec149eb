/// @file
/// A cooperative launch. Blocks still run one after another, but each only up to the next grid
/// barrier. There its threads and shared memory are saved, and when all blocks have arrived, the
/// first one resumes. Everything before the barrier is ordered before everything after it. The
/// blocks of a cluster run the same way, one cluster after another; a cluster does not wait for
/// blocks that have returned.
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "common/emulator/api/api.hpp"
#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/race.hpp"
#include "common/emulator/checks/trace.hpp"
#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/order.hpp"
#include "common/emulator/machine/publish.hpp"
#include "common/emulator/machine/signals.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

namespace {

struct Waiting {
    Block block;
    SharedImage shared;
    std::array<std::shared_ptr<void>, 4> in_flight{};

    void exchange_in_flight() {
        exchange_copies(in_flight[0]);
        exchange_mbarriers(in_flight[1]);
        exchange_wgmma(in_flight[2]);
        exchange_locals(in_flight[3]);
    }
};

void abandon(std::vector<Waiting>& waiting) {
    for (Waiting& one : waiting) {
        std::swap(block, one.block);
        abandon_block();
        std::swap(block, one.block);
    }
}

// A GPU would hang.
void note_who_left(const std::vector<Waiting>& waiting, std::uint64_t blocks) {
    const Thread* thread = nullptr;
    for (const Thread& one : waiting.front().block.threads) {
        if (thread == nullptr && one.state == Thread::State::at_grid_barrier) thread = &one;
    }
    Finding finding{Kind::barrier, cudaErrorLaunchFailure, thread->barrier_site,
                    format("%zu of %llu blocks wait forever at this barrier of the grid: the "
                           "others have returned. All blocks must reach it: is it inside an `if`, "
                           "or a loop that some blocks leave earlier?",
                           waiting.size(), static_cast<unsigned long long>(blocks))};
    finding.who = Who{thread->index, waiting.front().block.index};
    note(finding);
}

// Blocks that can synchronize: those of a cooperative grid, or of a cluster.
void run_together(const Launch& what, const std::vector<uint3>& blocks) {
    const Block blank = block;
    std::vector<Waiting> waiting;
    const auto run = [&](bool (*go)(const Launch&)) {
        if (in_cluster) note_turn_of_cluster(block.index);
        const bool ended = go(what);
        if (tracing) trace_block_end();  // no request spans a barrier
        if (ended) {
            if (in_cluster && !launch_failed()) leave_cluster();
            return;
        }
        waiting.push_back({{}, save_shared()});
        waiting.back().exchange_in_flight();
        if (in_cluster) {
            tell_cluster(block.size);
            show_to_cluster(waiting.back().shared);
        }
        waiting.back().block = std::exchange(block, blank);
    };
    for (const uint3 index : blocks) {
        if (launch_failed()) break;
        block.index = index;
        forget_shared();
        restart_clock();
        run(run_block);
    }
    while (!launch_failed() && !waiting.empty()) {
        if (!in_cluster && waiting.size() < blocks.size()) {
            note_who_left(waiting, blocks.size());
            break;
        }
        if (in_cluster) {
            clocks.first_of_segment = clocks.serial + 1;
            begin_segment();
        } else {
            begin_race_checks();
        }
        std::vector<Waiting> now;
        now.swap(waiting);
        for (Waiting& one : now) {
            if (launch_failed()) {
                waiting.push_back(std::move(one));
                continue;
            }
            block = std::move(one.block);
            if (in_cluster) take_from_cluster(one.shared);
            restore_shared(one.shared);
            one.exchange_in_flight();
            resume_clock();
            run(resume_block);
        }
    }
    abandon(waiting);
}

// Why a GPU would reject this cluster size; empty if it would not.
std::string why_no_cluster(const Launch& what, dim3 c) {
    if (what.cooperative)
        return "the emulator does not support launches that are both cooperative and in clusters.";
    const unsigned size = c.x * c.y * c.z, most = most_of_cluster(what.address);
    if (size == 0) {
        return format(
            "a cluster of %s has no blocks: x, y and z of clusterDim must each be at least 1.",
            name(c).c_str());
    }
    if (block.grid.x % c.x != 0 || block.grid.y % c.y != 0 || block.grid.z % c.z != 0) {
        return format(
            "grid %s is not a multiple of the cluster size %s. Round the grid up, and let blocks "
            "that have nothing to do still reach the barriers.",
            name(block.grid).c_str(), name(c).c_str());
    }
    if (size > most) {
        return format("a cluster of %s has %u blocks. It may have up to %u%s.", name(c).c_str(),
                      size, most,
                      most < kMostOfCluster ? ", and up to 16 after cudaFuncSetAttribute(kernel, "
                                              "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)"
                                            : "");
    }
    return "";
}

}  // namespace

void run_cooperative_grid(const Launch& what, std::uint64_t count) {
    block.cooperative = true;
    std::vector<uint3> blocks;
    for (std::uint64_t turn = 0; turn < count; ++turn) blocks.push_back(index_of_block(turn));
    run_together(what, blocks);
    block.cooperative = false;
}

void run_clusters(const Launch& what, dim3 c) {
    const auto reject = [&](const std::string& why, Site made = Site::current()) {
        note({Kind::invalid_launch,
              cudaErrorInvalidClusterSize,
              what.site,
              why,
              0,
              {},
              nullptr,
              true,
              made});
    };
    if (const std::string why = why_no_cluster(what, c); !why.empty()) return reject(why);
    block.cluster = c;
    const unsigned size = size_of_cluster();
    const dim3 of = {block.grid.x / c.x, block.grid.y / c.y, block.grid.z / c.z};
    const std::uint64_t count = std::uint64_t{of.x} * of.y * of.z;
    for (std::uint64_t turn = 0; turn < count && !launch_failed(); ++turn) {
        const std::uint64_t at = block_of_turn(turn, count);
        const uint3 first = {static_cast<unsigned>(at % of.x) * c.x,
                             static_cast<unsigned>(at / of.x % of.y) * c.y,
                             static_cast<unsigned>(at / of.x / of.y) * c.z};
        std::vector<uint3> blocks;
        for (unsigned i = 0; i < size; ++i) {
            const auto rank = static_cast<unsigned>(block_of_turn(i, size));
            blocks.push_back(
                {first.x + rank % c.x, first.y + rank / c.x % c.y, first.z + rank / c.x / c.y});
        }
        begin_cluster();
        run_together(what, blocks);
        if (const dim3 w = std::exchange(block.wanted_cluster, dim3(0, 0, 0)); w.x > 0) {
            reject(
                format("the launch asks for clusters of %s, but the kernel has __cluster_dims__%s.",
                       name(c).c_str(), name(w).c_str()));
        }
    }
    block.cluster = {};
    begin_cluster();
}

}  // namespace sixdays::emulator
