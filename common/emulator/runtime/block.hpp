/// @file
/// One running block: which thread runs, which wait for which. Blocks run one after another, and
/// the threads of a block take turns on one OS thread; they change at barriers and warp calls only
/// (and in loops that spin).
#pragma once

#include <array>
#include <cstdint>
#include <source_location>
#include <vector>

#include "common/emulator/runtime/fiber.hpp"
#include "emulated/launch.h"
#include "emulated/warp.h"

namespace sixdays::emulator {

constexpr unsigned kWarp = 32;
constexpr unsigned kMaxThreads = 1024;

struct Line;

struct Fiber {
    Context context;
    std::byte* stack = nullptr;
};

/// What a lane brought to a warp call, and what it gets.
struct WarpSlot {
    WarpCall what;
    unsigned mask;
    std::uint64_t value;
    std::uint64_t result;
    int argument;
    int width;
    Site site;
    const void* code;  // where the call was made
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

    uint3 index;      // threadIdx
    unsigned id = 0;  // x + y * blockDim.x + z * blockDim.x * blockDim.y
    State state = State::fresh;
    bool in_kernel = false;  // past the kernel's first brace
    Fiber* fiber = nullptr;
    unsigned accesses_left = 0;  // accesses until others get a turn
    Site barrier_site;           // of the last barrier that it came to
    const void* barrier_code = nullptr;
    WarpSlot call;                // where it waits, if at_warp_call
    int arrived_at_cluster = -1;  // at which barrier of it, and has not waited yet

    unsigned lane() const { return id % kWarp; }
    unsigned warp() const { return id / kWarp; }
};

struct Block {
    uint3 index{};  // blockIdx
    dim3 extents;   // blockDim
    dim3 grid;      // gridDim
    unsigned size = 0;
    unsigned live = 0;        // threads that have not returned
    unsigned at_barrier = 0;  // of those
    unsigned at_grid_barrier = 0;
    bool cooperative = false;  // launched together with all others, so that they can meet
    bool in_tiles = false;     // by a kernel in tiles, which knows no threads
    dim3 cluster;              // clusterDim
    int cluster_barriers = 0;  // passed
    dim3 wanted_cluster = dim3(0, 0, 0);  // by a kernel that was launched without
    const Thread* first_at_barrier = nullptr;
    const Thread* astray = nullptr;    // the first that came to another barrier than that one
    unsigned turns_without_write = 0;  // turns taken from impatient threads since the last store
    unsigned barriers_passed = 0;
    unsigned missed_barrier = 0;        // threads that had returned when the last one opened
    std::vector<Site> barriers_opened;  // each of them once
    int barrier_votes = 0;              // predicates that were true, so far
    int barrier_result = 0;
    volatile int seconds_left = 0;                              // of its time
    std::array<unsigned, kMaxThreads / kWarp> live_lanes{};     // by warp, as masks of lanes
    std::array<unsigned, kMaxThreads / kWarp> waiting_lanes{};  // those in a warp call
    std::vector<Thread> threads = std::vector<Thread>(kMaxThreads);
    std::vector<unsigned> order;  // in which threads get their first turn
    std::array<std::vector<unsigned>, kMaxThreads / kWarp> lane_order;  // the same, by warp

    Thread* lane(unsigned warp, unsigned lane) {
        const unsigned id = warp * kWarp + lane;
        return id < size ? &threads[id] : nullptr;
    }
};

/// The thread whose code is running now; null outside of kernels, where hooks do nothing. Another
/// thread of the host may be in its own code meanwhile.
extern constinit thread_local Thread* current;
extern Block block;

/// True while the runtime itself works for a thread: hooks do nothing then. The linker keeps one
/// copy of each std::string function, and it may be the watched copy of some kernel file, which
/// would call the hooks for what the runtime does.
extern constinit thread_local bool in_runtime;
struct InRuntime {
    InRuntime() { in_runtime = true; }
    InRuntime(const InRuntime&) = delete;
    InRuntime& operator=(const InRuntime&) = delete;
    ~InRuntime() { in_runtime = before; }
    const bool before = in_runtime;
};

/// threadIdx of the thread with this number.
uint3 index_of_thread(unsigned id);
/// blockIdx of the block that has the `turn`-th turn of this launch (launch.cpp).
uint3 index_of_block(std::uint64_t turn);

/// A launch starts: who the threads of its blocks are.
void number_threads();
/// Runs every thread of `block` to its end, or until a Finding was stored.
/// @return false if the block waits for others at a barrier of the grid
bool run_block(const Launch& what);
/// Goes on behind that barrier.
bool resume_block(const Launch& what);
/// The launch failed: threads of `block` that stopped halfway never go on.
void abandon_block();
/// Runs all blocks of a cooperative launch, from one barrier of the grid to the next
/// (cooperative.cpp).
void run_cooperative_grid(const Launch& what, std::uint64_t blocks);
/// The same for one cluster after another.
void run_clusters(const Launch& what, dim3 extents);

/// For the current thread, which waits: lets others run until make_ready is called on it.
void wait_for_turn();
/// Gives the others a turn, and goes on.
void yield();
void make_ready(Thread& thread);

/// Marks the current thread as returned; threads that waited for it no longer need to.
void leave_block(Thread& me);
/// No thread can continue: reports which threads wait, where, and for which others.
void report_deadlock();
/// A thread that waits at a barrier above this line of its file, or in a loop around it, to which
/// the current thread, now here, has never come; null if there is none.
const Thread* waits_above(const Line& here);

/// Has this thread, in a loop around `here`, reached a barrier again that the block has already
/// passed, and did it pass `there`, above it, on the way? Then it is one iteration ahead of the
/// current thread.
bool is_a_round_ahead(const Thread& thread, const Line& there, const Line& here);

constexpr unsigned bit(unsigned lane) {
    return 1u << lane;
}

// Warp calls (warp.cpp, warp_results.cpp).
/// Works out what each of these lanes, which made the same call, gets from it.
void give_results(unsigned warp, unsigned members);
/// Answers calls whose last missing lane has just returned.
void finish_calls_without(const Thread& gone);
/// Answers calls of __activemask when no other thread can continue; false if there were none.
bool answer_active_masks();

constexpr unsigned kAccessesPerTurn = 20000;   // accesses until others get a turn
constexpr unsigned kTurnsWithoutWrite = 5000;  // such turns without a store in the block

}  // namespace sixdays::emulator
