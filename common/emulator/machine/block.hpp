/// @file
/// The running block: which thread runs, and which wait for which. Blocks run one after another,
/// or in turns if they wait for each other (api/cooperative.cpp). The threads of a block take turns on
/// one OS thread, and switch only at barriers, at warp calls and in loops that spin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <source_location>
#include <vector>

#include "common/emulator/machine/fiber.hpp"
#include "common/emulator/memory_order.hpp"
#include "emulated/launch.h"
#include "emulated/warp.h"

namespace sixdays::emulator {

constexpr unsigned kWarp = 32;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kAccessesPerTurn = 20000;   // accesses until other threads get a turn
constexpr unsigned kTurnsWithoutWrite = 5000;  // such turns without a store in the block

struct Fiber {
    Context context;
    std::byte* stack = nullptr;
};

/// One lane's operand of a warp call, and its result.
struct WarpSlot {
    WarpCall what;
    unsigned mask;
    std::uint64_t value;
    std::uint64_t result;
    int argument;
    int width;
    Site site;
    const void* code;   // the call's return address
    const char* unset;  // the variable that is passed without a value; null: none
};

/// A volatile read of global memory: the same again, of the same value, means that the thread polls.
struct Poll {
    std::uintptr_t address;
    std::size_t bytes;
    const void* code;
    std::array<std::byte, 16> value;
    bool counted;
};

struct Thread {
    enum class State : std::uint8_t {
        fresh,
        ready,
        at_barrier,
        at_grid_barrier,
        at_warp_call,
        at_mbarrier,
        at_wgmma,
        done
    };

    uint3 index;  // threadIdx
    unsigned id;  // x + y * blockDim.x + z * blockDim.x * blockDim.y
    State state = State::fresh;
    bool in_kernel = false;  // past the kernel's opening brace
    bool at_end = false;     // at its closing brace: every call before it was made, or skipped
    Fiber* fiber = nullptr;
    unsigned accesses_left = kAccessesPerTurn;  // accesses until other threads get a turn
    Poll polled{};                              // the last one; address 0: none
    MemoryOrder order{};                        // of its volatile and atomic accesses
    Site barrier_site{};                        // of the last barrier it reached
    const void* barrier_code = nullptr;
    const char* unset_operand = nullptr;  // of its next warp call
    WarpSlot call{};                      // where it waits, if at_warp_call
    int arrived_at_cluster = -1;  // index of the barrier it arrived at but does not wait at yet

    unsigned lane() const { return id % kWarp; }
    unsigned warp() const { return id / kWarp; }
};

/// The blocks of a launch or cluster besides the running one: who could store what it waits for?
struct OtherBlocks {
    std::uint64_t returned = 0, polling = 0, at_barrier = 0, unstarted = 0;
    std::uint64_t resident = 0;  // that the device holds at a time, if the grid has more blocks
};

/// What the threads of a block have done since it started.
struct Progress {
    unsigned live = 0;        // threads that have not returned
    unsigned at_barrier = 0;  // of the live threads
    unsigned at_grid_barrier = 0;
    int cluster_barriers = 0;  // passed so far
    const Thread* first_at_barrier = nullptr;
    const Thread* astray = nullptr;    // the first to reach a different barrier
    unsigned turns_without_write = 0;  // turns taken from spinning threads since the last store
    unsigned polls = 0;                // by different threads, one after another, since then
    bool polls_in_vain = false;        // every thread that can run has polled
    unsigned barriers_passed = 0;
    unsigned missed_barrier = 0;          // threads that had returned when the last barrier opened
    std::vector<Site> barriers_opened{};  // each of them once
    int barrier_votes = 0;                // true predicates so far
    int barrier_result = 0;
    std::array<unsigned, kMaxThreads / kWarp> live_lanes{};     // by warp, as lane masks
    std::array<unsigned, kMaxThreads / kWarp> waiting_lanes{};  // lanes in a warp call
};

struct Block : Progress {
    uint3 index{};  // blockIdx
    dim3 extents;   // blockDim
    dim3 grid;      // gridDim
    unsigned size = 0;
    bool cooperative = false;  // cooperative launch: blocks can synchronize with each other
    bool in_tiles = false;     // a tile kernel, which has no threads
    dim3 cluster;              // clusterDim
    std::optional<dim3> wanted_cluster;  // requested by a kernel that was launched without one
    bool may_pause = false;              // other blocks can run meanwhile
    unsigned in_progress = 1;            // blocks that run in turns, this one included
    OtherBlocks others;
    volatile int seconds_left = 0;  // of its time limit
    std::vector<Thread> threads = std::vector<Thread>(kMaxThreads);
    std::deque<Thread*> ready;    // threads that can run
    std::vector<unsigned> order;  // in which threads get their first turn
    std::array<std::vector<unsigned>, kMaxThreads / kWarp> lane_order;  // the same, by warp

    Thread* lane(unsigned warp, unsigned lane) {
        const unsigned id = warp * kWarp + lane;
        return id < size ? &threads[id] : nullptr;
    }
};

/// The thread whose code is running now; null outside of kernels, where hooks do nothing. Other
/// host threads may run host code at the same time.
extern constinit thread_local Thread* current;
extern Block block;

/// True if the running block is one of several in its cluster.
extern bool in_cluster;

/// True while the emulator itself works for a thread, so that hooks do nothing. The linker keeps
/// one copy of each std::string function. That may be the instrumented copy of a kernel file, which
/// calls the hooks when the emulator uses it.
extern constinit thread_local bool in_runtime;
struct InRuntime {
    InRuntime() { in_runtime = true; }
    InRuntime(const InRuntime&) = delete;
    InRuntime& operator=(const InRuntime&) = delete;
    ~InRuntime() { in_runtime = before; }
    const bool before = in_runtime;
};

/// threadIdx of the thread with this linear index.
uint3 index_of_thread(unsigned id);
/// A launch starts: assigns threadIdx to the threads of its blocks.
void number_threads();
/// Why a block does not run on: it has ended (or a Finding is stored), it waits for others at a
/// barrier of the grid or cluster, or it polls memory that another block may write.
enum class Stop : std::uint8_t { ended, at_barrier, polls };
/// Runs every thread of `block` until it stops.
Stop run_block(const Launch& what);
/// Resumes after that barrier.
Stop resume_block(const Launch& what);
/// Resumes a block that polls.
Stop continue_block(const Launch& what);
/// The launch failed: discards the threads of `block` that have not returned.
void abandon_block();
/// Suspends the current thread until make_ready is called on it.
void wait_for_turn();
/// Lets the other threads run, then continues.
void yield();
void make_ready(Thread& thread);

/// Marks the current thread as returned; threads that waited for it no longer need to.
void leave_block(Thread& me);
bool same_site(const Site& a, const Site& b);
/// True if a barrier of the block at this place has opened.
bool has_opened(const Site& barrier);

constexpr unsigned bit(unsigned lane) {
    return 1u << lane;
}

// Warp calls (warp.cpp, warp_results.cpp).
/// Computes the results of these lanes, which all made the same call.
void give_results(unsigned warp, unsigned members);
/// Completes calls whose last missing lane has just returned.
void finish_calls_without(const Thread& gone);
/// Completes __activemask calls when no other thread can continue; false if there were none.
bool answer_active_masks();

}  // namespace sixdays::emulator
