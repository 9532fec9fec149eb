/// @file
/// A launch: checks whether a GPU would accept it, then runs one block after another.
#include <cstring>
#include <deque>
#include <utility>

#include "common/emulator/api/api.hpp"
#include "common/emulator/checks/race.hpp"
#include "common/emulator/checks/trace.hpp"
#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/order.hpp"
#include "common/emulator/machine/signals.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/machine/turn.hpp"
#include "common/emulator/memory/access.hpp"
#include "common/emulator/memory/host_access.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/report/finding.hpp"
#include "common/emulator/report/names.hpp"
#include "common/emulator/tile/coverage.hpp"

namespace sixdays::emulator {

void reject(const Launch& what, std::string why, cudaError_t error, Site made) {
    note({Kind::invalid_launch, error, what.site, why, 0, {}, nullptr, true, made});
}

namespace {

std::uint64_t blocks_at_once(const Launch& what) {
    int blocks = 0, multiprocessors = 0;
    const dim3 b = what.block;
    static const char any_kernel = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, what.address != nullptr ? what.address : &any_kernel,
        static_cast<int>(b.x * b.y * b.z), what.shared_bytes);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    return static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(multiprocessors);
}

bool rejects_all = false;  // set by reject_launches()

bool check_configuration(const Launch& what) {
    const dim3 g = what.grid, b = what.block;
    if (rejects_all) {
        reject(what, "this launch is made to fail");
        return false;
    }
    if (!recording() && !is_stream(what.stream)) {
        reject(what, "a launch on a stream that does not exist: was it destroyed?",
               cudaErrorInvalidResourceHandle);
        return false;
    }
    const auto threads = std::uint64_t{b.x} * b.y * b.z;
    if (threads == 0 || std::uint64_t{g.x} * g.y * g.z == 0) {
        reject(
            what,
            format(
                "grid %s, block %s: nothing to run. CUDA rejects a launch without threads: return "
                "before it when there are no elements; otherwise round the number of blocks up.",
                name(g).c_str(), name(b).c_str()));
    } else if (threads > kMaxThreads || b.z > 64) {
        reject(
            what,
            format("block %s has %llu threads. A block has at most 1024, and at most 1024 along x "
                   "and y and 64 along z.",
                   name(b).c_str(), static_cast<unsigned long long>(threads)));
    } else if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
        reject(what, format("grid %s: at most 2147483647 blocks along x, 65535 along y and z.",
                            name(g).c_str()));
    } else if (what.shared_bytes > shared_limit(what.address)) {
        reject(what,
               format("%zu bytes of dynamic shared memory; this kernel may use %zu. A block gets "
                      "up to 48 KB by default, and up to 163 KB after cudaFuncSetAttribute(kernel, "
                      "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes).",
                      what.shared_bytes, shared_limit(what.address)),
               cudaErrorInvalidValue);
    } else if (what.cooperative && blocks_at_once(what) < std::uint64_t{g.x} * g.y * g.z) {
        reject(
            what,
            format(
                "a cooperative launch of grid %s: the device can hold only %llu such blocks at "
                "once, and all must be resident together. Launch as many as "
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor allows, and let each do more work.",
                name(g).c_str(), static_cast<unsigned long long>(blocks_at_once(what))),
            cudaErrorCooperativeLaunchTooLarge);
    } else {
        return true;
    }
    return false;
}

thread_local LastLaunch latest;
std::uint64_t blocks_of_launch;

void remember(const Launch& what) {
    const dim3 g = what.grid, b = what.block;
    const std::uint64_t blocks = std::uint64_t{g.x} * g.y * g.z;
    const auto* arguments = static_cast<const std::byte*>(what.arguments);
    latest = {
        blocks,          blocks * b.x * b.y * b.z, {arguments, arguments + what.argument_bytes},
        {g.x, g.y, g.z}, {b.x, b.y, b.z},          what.shared_bytes};
}

void run_grid(const Launch& what) {
    const dim3 grid = what.grid;
    block.grid = grid;
    block.in_tiles = false;
    block.extents = what.block;
    block.size = what.block.x * what.block.y * what.block.z;
    order_threads(block.size);
    number_threads();
    const std::uint64_t count = std::uint64_t{grid.x} * grid.y * grid.z;
    blocks_of_launch = choose_blocks(count);
    begin_work(what.stream, what.kernel, what.site);
    begin_race_checks();
    if (tracing) trace_launch(what.kernel);
    if (what.cluster.x > 0) return run_clusters(what, what.cluster);
    if (what.cooperative) {
        run_cooperative_grid(what, blocks_of_launch);
        if (block.wanted_cluster)  // run_clusters rejects it with a message
            run_clusters(what, *std::exchange(block.wanted_cluster, std::nullopt));
        return;
    }
    for (std::uint64_t turn = 0; turn < blocks_of_launch && !launch_failed(); ++turn) {
        block.index = index_of_block(turn);
        forget_shared();
        restart_clock();
        block.may_pause = true;
        block.others = {.returned = turn, .unstarted = count - turn - 1};
        if (run_block(what) == Stop::polls) {
            const std::uint64_t resident = blocks_at_once(what);
            if (count <= resident && count == blocks_of_launch)
                return run_rest_together(what, turn, count);
            block.may_pause = false;
            if (count > resident) block.others.resident = resident;
            continue_block(what);
        }
        if (block.wanted_cluster)  // no thread has done anything yet
            return run_clusters(what, *std::exchange(block.wanted_cluster, std::nullopt));
        if (tracing) trace_block_end();
    }
}

bool written_by_this_launch(std::uintptr_t address) {
    const History& h = heap.history_of(address);
    return h.write.serial >= clocks.first_serial || h.atomic.serial >= clocks.first_serial;
}

// __restrict__ promises that memory written through one pointer is not accessed through another.
// Here two of them are equal, and the kernel has written there.
void check_restricted(const Launch& what) {
    const auto pair = equal_restricted_parameters();
    if (!pair || !heap.contains(pair->first.value)) return;
    const Extent in = nearest_allocation(pair->first.value);
    for (std::uintptr_t at = pair->first.value; at < in.begin + in.bytes; ++at) {
        if (!written_by_this_launch(at)) continue;
        return note({Kind::undefined_behaviour, cudaErrorLaunchFailure, what.site,
                     format("the arguments `%s` and `%s` are the same array, which the kernel "
                            "writes, but both parameters are __restrict__. That promises nvcc that "
                            "what is written through one is not accessed through the other, so it "
                            "may keep old values. Pass two arrays, or remove __restrict__.",
                            pair->first.name.c_str(), pair->second.name.c_str()),
                     at});
    }
}

}  // namespace

void reject_launches(bool yes) {
    rejects_all = yes;
}

const LastLaunch& last_launch() {
    return latest;
}

// For debug.gdb.
extern "C" [[gnu::noipa]] void sixdays_emulator_launched() {}

bool enter_kernel(const char* kernel, const char* parameters, const void* caller) {
    if (current != nullptr && !current->in_kernel) {
        name_parameters(parameters);
        return current->in_kernel = true;
    }
    const InRuntime guard;
    Finding finding{Kind::invalid_launch, cudaErrorInvalidConfiguration, caller,
                    format("the kernel %s is called like a function, so no grid of threads runs "
                           "it. Launch it:  %s<<<grid, block>>>(...)",
                           kernel, kernel)};
    finding.in_kernel = current != nullptr;
    if (finding.in_kernel) fail(finding);
    note(finding);
    return false;
}

void reach_end_of_kernel() noexcept {
    if (current != nullptr) current->at_end = true;
}

namespace {

// A launch by a kernel. CUDA guarantees only that such grids end before work that depends on their
// parent starts; here they run when the parent has ended.
struct Child {
    Launch what;
    std::vector<std::byte> arguments;
};
std::deque<Child> children;
cudaStream_t stream_of_parent = nullptr;

void launch_later(const Launch& what) {
    const InRuntime guard;
    const auto* arguments = static_cast<const std::byte*>(what.arguments);
    children.push_back({what, {arguments, arguments + what.argument_bytes}});
    Launch& child = children.back().what;
    child.in_order = nullptr;  // drop pointers that do not outlive the call
    child.count = 0;
    child.stream = stream_of_parent;
}

void run_children() {
    static bool at_work = false;
    if (at_work) return;
    at_work = true;
    const LastLaunch of_host = latest;
    for (; !children.empty() && !launch_failed(); children.pop_front()) {
        Child& child = children.front();
        child.what.arguments = child.arguments.data();
        launch(child.what);
    }
    children.clear();
    latest = of_host;
    at_work = false;
}

}  // namespace

void launch(const Launch& what) {
    if (current != nullptr) return launch_later(what);
    const Turn turn;
    stream_of_parent = what.stream;
    begin_launch(what);
    if (!check_configuration(what)) return;
    remember(what);
    if (recording()) return record(what);
    make_heap();
    find_shared_arrays();
    find_device_variables();
    make_dynamic_shared(what.shared_bytes, shared_limit(what.address));
    set_arguments(what.arguments, what.argument_bytes);
    name_launch(&what);
    {
        const DeviceMemoryOpen open;
        const Guard guard;
        begin_coverage();
        run_grid(what);
        if (!launch_failed()) check_restricted(what);
        if (!launch_failed() && blocks_of_launch == latest.blocks) remark_uncovered(what);
    }
    set_arguments(nullptr, 0);
    name_launch(nullptr);
    if (launch_failed() && telling) tell_report();
    sixdays_emulator_launched();
    run_children();
}

}  // namespace sixdays::emulator
