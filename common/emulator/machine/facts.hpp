/// @file
/// What is found, as data, on this floor and on those above. The sentences are made in report/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "common/emulator/machine/clocks.hpp"
#include "common/emulator/machine/place.hpp"

namespace sixdays::emulator {

struct Region;

enum class AccessKind : std::uint8_t { read, write, atomic, volatile_read, volatile_write };
constexpr bool writes(AccessKind kind) {
    return kind != AccessKind::read && kind != AccessKind::volatile_read;
}

/// An access that is about to be made.
struct NewAccess {
    Region& region;
    std::uintptr_t address;
    std::size_t bytes;
    AccessKind kind;
    const void* code;                // return address of the hook, in the kernel
    const void* expected = nullptr;  // the value that a compare-and-swap compares with
};

/// How far an index moves from a block to the next one along an axis, in threads along it.
struct StepOfBlock {
    char axis, instead;  // of blockIdx, and of blockDim that it is multiplied by (0: none)
    std::int64_t threads, extent;  // the block has `extent` threads there
};

/// Two unordered accesses: one by the running block, the other earlier in this launch or before it.
struct Race {
    /// What is probably missing.
    enum class Cause : std::uint8_t {
        other_stream,            // an event or a wait between two streams
        barrier_of_loop,         // `other` is one iteration ahead: a barrier at the end of each
        skipped_barrier,         // a thread waits at `barrier`, which this one never reaches
        plain_read_of_atomic,    // an atomic read
        stage_released_early,    // the copy engine refills a tile that is still read
        one_instruction,         // two lanes of one warp store different values
        fence_after_atomic,      // between the atomic that signaled, and this access
        order_of_tile_atomics,   // release and acquire, in CUDA Tile C++
        signal_of_reader,        // the reader's own, after a fence
        fence_before_atomic,     // between the write, and the atomic that signals it
        own_word_of_thread,      // two writes by one line
        barrier_between_rounds,  // two accesses by one line
        warp_or_block_barrier,   // between lanes of one warp
        block_barrier,           // between two warps
        cluster_barrier,         // between two blocks of a cluster
        step_of_block,           // blockIdx is multiplied by too little, so blocks overlap
        own_word_of_block,       // two blocks, by one line
        order_of_blocks          // two blocks
    };

    const Region* region;
    std::uintptr_t address;
    std::size_t bytes;
    PastAccess accused, other;
    AccessKind does, did;          // read, write or atomic
    bool one_instruction = false;  // by two lanes of one warp that store different values

    Cause cause = Cause::block_barrier;  // diagnose() finds the rest
    Place barrier{};                     // the one in the next iteration, or that was skipped
    const Thread* waits = nullptr;       // at the skipped one
    PastAccess meeting{};                // the last atomics on one word by two threads, or blocks
    StepOfBlock step{};                  // if it is too small

    bool in_one_block() const { return accused.serial == other.serial; }
};

/// A 32-bit unsigned index that wrapped below 0, or one that is 2^32 too large, of an allocation of
/// that many bytes.
struct WrappedIndex {
    static constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;
    std::uint64_t index;
    std::size_t allocation_bytes;

    bool is_below_zero() const { return index < kWrap; }
};

/// An access by the current thread to memory that is not its own to access.
struct OutOfBounds {
    enum class Where : std::uint8_t {
        unmapped,       // the processor faults; bytes and kind are unknown
        outside,        // of every live piece of its region
        freed,          // the same, and it was live once
        others_locals,  // local memory of another thread
        null,
        wrapped_index,
        nowhere,  // memory of neither the device nor the host
        host
    };
    Where where;
    std::uintptr_t address;
    std::size_t bytes;
    AccessKind kind;
    const void* code;
    const Region* region = nullptr;  // if outside or freed
    std::optional<WrappedIndex> index{};
};

/// A read by the current thread of memory that was never written.
struct UninitialisedRead {
    enum class Cause : std::uint8_t {
        never_written,        // global memory
        no_block_of_cluster,  // shared memory of a cluster
        skipped_barrier,      // others wait at it
        parity_of_mbarrier,   // or a guard
        missing_barrier,      // it is written later, or no barrier has been passed
        returned_early,       // some threads, which may have been meant to write it
        one_element_each,     // every thread wrote one: should each write several?
        no_thread
    };
    NewAccess access;
    Cause cause;
    Place barrier{};           // the one that was skipped
    std::size_t elements = 0;  // that the block has written
};

/// An asynchronous copy in flight to shared memory.
struct CopyTo {
    unsigned thread = 0;         // its index in the block
    const void* code = nullptr;  // where it was started; null if no copy is in flight
    bool overwrites = false;     // data that the block had written there before
    bool is_tile = false;        // it completes on an mbarrier
};
struct WriteToConstant {
    NewAccess access;
};
/// An asynchronous copy to it is still in flight; in a cluster, one by another block.
struct PendingAccess {
    NewAccess access;
    std::optional<CopyTo> copy{};
};
struct MisalignedAccess {
    std::uintptr_t address;
    std::size_t bytes, alignment;
    AccessKind kind;
    const void* code;
};
/// The current thread polls, and no block has written anything for a very long time.
struct EndlessReads {
    std::uintptr_t address;  // the last one that it read; 0 if unknown
    std::size_t bytes;
    const void* code;
    OtherBlocks others;
};

/// The current thread reads its own local variable, which has no value.
struct UnsetLocal {
    const char* name;
    std::size_t byte;     // of the variable
    std::size_t element;  // bytes of one, in an array; otherwise 0
    const void* code;
};
/// The current thread accesses accumulators of a wgmma that it has not waited for.
struct HeldAccumulator {
    bool writes;
    const void *code, *wgmma;
};

/// An asynchronous copy whose source has changed before the current thread waited for it.
struct ChangedSource {
    std::uintptr_t address;
    std::size_t bytes;
    const void *wait, *start;
};
/// wgmma or the copy engine reads, for the current thread, what a thread has written to shared
/// memory without fence_proxy_async() since.
struct UnseenWrite {
    std::uintptr_t address;
    std::size_t bytes;
    Place reads;
    PastAccess wrote;
};
/// A thread has requested the store of a tile and never waited until the engine had read it.
struct UnwaitedStore {
    const Thread* thread;
    const void* start;
};
/// The kernel's free or delete of an address that no live allocation begins at.
struct WrongFree {
    std::uintptr_t address;
    const void* code;
};

/// A block's shared arrays and its dynamic shared memory take more than a block may have.
struct TooMuchShared {
    std::size_t array_bytes, dynamic_bytes;
    Place place;
};
/// The current thread cuts a tile out of dynamic shared memory, and past its end.
struct TileTooLarge {
    std::size_t bytes, offset, dynamic_bytes;
    Place place;
};
struct StackOverflow {
    std::size_t bytes;  // of a stack
    const void* code;
};
struct TimeIsUp {
    int seconds;
    Place place;
};

/// Host code accesses device memory, or an address where there is no memory.
struct HostAccess {
    std::uintptr_t address;
    bool writes, in_device_memory;
    Place place;
};
/// Host code accesses pinned memory that an asynchronous copy fills, or writes what it reads.
struct PinnedTooEarly {
    std::uintptr_t address;
    bool writes;
    std::size_t byte;
    bool is_target;
    Place place, copy;
};
/// Host code accesses managed memory that unfinished work has used.
struct ManagedTooEarly {
    std::uintptr_t address;
    bool writes;
    PastAccess other;
    bool was_read;
    Place place;
};
/// A copy or cudaMemsetAsync, and the access of another stream's work with which it races.
struct StreamRace {
    const char* call;
    bool writes;
    std::uintptr_t address;
    std::size_t bytes;
    PastAccess other;
    AccessKind did;
    Place where;
};

/// Threads of one block wait at two barriers.
struct DifferentBarriers {
    const Thread *first, *astray;
};
/// A barrier opens without threads that have returned.
struct ReturnedBeforeBarrier {
    Place barrier;
};
struct BarrierNeverOpens {
    const Thread* in_barrier;
};
/// The current thread calls a barrier of several blocks where it must not.
struct WrongArrival {
    enum class What : std::uint8_t { not_cooperative, waits_without_arriving, arrives_twice };
    What what;
    Place place;
};
struct WrongWarpCall {
    enum class What : std::uint8_t {
        another_call,       // `other` waits for this thread, in another call
        own_lane_left_out,  // of the mask
        width,
        lane_left_out,   // of the mask; a shuffle reads its value
        lane_not_there,  // in the block
        lane_never_came,
        no_value,           // of the thread's variable, which `lane` reads
        lane_skipped_call,  // it has ended without it, and has not returned early
        never_complete      // maybe `other` waits at a barrier
    };
    What what;
    const Thread *thread, *other = nullptr;
    unsigned lane = 0;  // whose value is read, or that reads it
};

/// The thread to report, if its block is not the running one.
struct Who {
    uint3 thread, block;
};
/// A thread, by default the current one, asks for shared memory of a block in its cluster.
struct OutOfReach {
    enum class Why : std::uint8_t {
        own_block,
        not_started,
        has_ended,
        may_have_ended,  // the running block
        no_such_block,
        not_shared
    };
    Why why;
    Place place;
    unsigned rank = 0;           // of the other block
    unsigned blocks = 0;         // of the cluster
    std::uintptr_t address = 0;  // if not shared
    std::optional<Who> who{};
};

struct MbarrierState {
    unsigned arrivals;        // expected per phase
    unsigned missing;         // pending in this phase
    std::size_t told, asked;  // bytes of this phase: expected, requested
    std::int64_t phase;
    Place set_up;
};
/// The current thread misuses an mbarrier.
struct WrongMbarrier {
    enum class What : std::uint8_t {
        not_initialized,
        cannot_be_here,
        unseen_by_engine,
        parity,
        arrives_early,
        waits_again,   // for phase `number`
        too_few_bytes  // are expected for a tile of `number` bytes
    };
    What what;
    Place place;
    MbarrierState barrier{};
    std::int64_t number = 0;
};
struct MbarriersNeverComplete {
    std::vector<std::pair<const Thread*, MbarrierState>> all;  // with one thread that waits
};
/// The current thread starts an asynchronous copy that the hardware cannot make.
struct WrongCopy {
    enum class What : std::uint8_t {
        size,
        misaligned,
        target_not_shared,
        place_of_tile,
        place_of_stored_tile,
        bulk
    };
    What what;
    Place place;
    std::uintptr_t target;  // 0 if the size is wrong; of a stored tile, its source
    std::size_t bytes = 0;
    std::uintptr_t source = 0;  // if misaligned
};
struct WrongWgmma {
    enum class What : std::uint8_t { operand_leaves, no_fence, other_operands, never_complete };
    What what;
    Place place, other{};        // the call by another thread
    std::uintptr_t address = 0;  // of the operand
    const Thread* waits = nullptr;
    unsigned came = 0;  // threads
};

/// A value that the compiler passes to a handler; of up to 64 bits, or it is unknown.
struct Value {
    std::int64_t bits;
    bool is_signed = true, is_known = true;
};
/// Undefined behaviour in C++, in a kernel or in host code.
struct UndefinedBehaviour {
    enum class What : std::uint8_t {
        overflow,
        negation,
        division,
        shift,
        shift_by_all,  // a GPU gives 0
        conversion,    // of `real`; a GPU gives `left`
        index,
        misaligned,
        too_small,
        invalid_value,
        unreachable,
        no_return,
        array_length,
        null_argument,
        null_result,
        count_of_zero
    };
    What what;
    Place place;
    const char* type = "";
    Value left{}, right{};
    char sign = ' ';
    unsigned column = 0;
    std::uintptr_t address = 0;
    std::size_t alignment = 0;
    double real = 0;
};
struct Assertion {
    const char* expression;  // null: __trap()
    Place place;
};

struct Fact
    : std::variant<Race, OutOfBounds, UninitialisedRead, WriteToConstant, PendingAccess,
                   MisalignedAccess, EndlessReads, UnsetLocal, HeldAccumulator, ChangedSource,
                   UnseenWrite, UnwaitedStore, WrongFree, TooMuchShared, TileTooLarge,
                   StackOverflow, TimeIsUp, HostAccess, PinnedTooEarly, ManagedTooEarly, StreamRace,
                   DifferentBarriers, ReturnedBeforeBarrier, BarrierNeverOpens, WrongArrival,
                   WrongWarpCall, OutOfReach, WrongMbarrier, MbarriersNeverComplete, WrongCopy,
                   WrongWgmma, UndefinedBehaviour, Assertion> {
    using variant::variant;
};

/// Reports a bug, if it is the first, and ends the launch. In a kernel this does not return.
/// @param made  the line of the emulator that found it
[[noreturn]] void fail(const Fact& fact, const Site& made = Site::current());
/// Reports a bug and returns; the launch ends when the thread next yields.
void note(const Fact& fact, const Site& made = Site::current());
/// Worth knowing but not an error: reported once per source position.
void remark(const Place& where, const Fact& fact, const Site& made = Site::current());

/// True if this launch has failed.
bool launch_failed();
void set_launch_failed(bool yes);
/// Stops the current thread, for ever: the launch has failed.
[[noreturn]] void end_launch();

}  // namespace sixdays::emulator
