/// @file
/// What is found, as data. The sentences are made in report/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "common/emulator/machine/finding.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

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

    bool in_one_block() const { return accused.serial == other.serial; }
};

/// An access by the current thread to memory that is not its own to access.
struct OutOfBounds {
    enum class Where : std::uint8_t {
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
/// The kernel's free or delete of an address that no live allocation begins at.
struct WrongFree {
    std::uintptr_t address;
    const void* code;
};

/// Host code accesses device memory, at `place`.
struct HostAccess {
    std::uintptr_t address;
    bool writes;
    Place place;
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
struct ReturnedBeforeBarrier {};
/// A warp call waits for lanes that never reach it; maybe they wait at a barrier.
struct LanesNeverReach {
    const Thread *in_call, *in_barrier;
};
struct BarrierNeverOpens {
    const Thread* in_barrier;
};

using Fact =
    std::variant<Race, OutOfBounds, UninitialisedRead, WriteToConstant, PendingAccess,
                 MisalignedAccess, EndlessReads, UnsetLocal, HeldAccumulator, ChangedSource,
                 WrongFree, HostAccess, ManagedTooEarly, StreamRace, DifferentBarriers,
                 ReturnedBeforeBarrier, LanesNeverReach, BarrierNeverOpens>;

/// The sentences of a fact, which may ask for the state of the running block (api/floors.cpp).
extern Finding (*const in_words)(const Fact& fact, const Site& made);
[[noreturn]] inline void fail_with(const Fact& fact, const Site& made = Site::current()) {
    fail(in_words(fact, made));
}
inline void note_with(const Fact& fact, const Site& made = Site::current()) {
    note(in_words(fact, made));
}

}  // namespace sixdays::emulator
