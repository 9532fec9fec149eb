#include "common/emulator/checks/wrong_access.hpp"

#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/deadlock.hpp"
#include "common/emulator/machine/address_space.hpp"
#include "common/emulator/machine/finding.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

namespace {

std::string story(const char* what_happens, std::size_t bytes) {
    return format("%s %s %zu byte%s ", name(*current).c_str(), what_happens, bytes,
                  bytes == 1 ? "" : "s");
}

std::string story(AccessKind kind, std::size_t bytes) {
    return story(kind == AccessKind::atomic ? "updates" : writes(kind) ? "writes" : "reads", bytes);
}

std::string inside(const NewAccess& a) {
    return describe_inside(a.region, a.address, a.bytes);
}

struct Elsewhere {
    Kind what;
    std::string where;
};
Elsewhere elsewhere(std::uintptr_t address, std::size_t bytes) {
    if (fiber_of_address(address) != kMaxFibers) {
        return {Kind::out_of_bounds,
                "of another thread's local memory. On a GPU, only the thread itself can access its "
                "local variables."};
    }
    if (address < 4096) {
        return {Kind::out_of_bounds,
                format("at address %zu: a null pointer.", static_cast<std::size_t>(address))};
    }
    if (const std::string wrapped = describe_wrapped(address, bytes); !wrapped.empty()) {
        return {Kind::out_of_bounds, wrapped};
    }
    if (is_nobodys(address)) {
        return {Kind::out_of_bounds,
                "at an address that belongs neither to the GPU nor to the CPU. Did an offset "
                "overflow 32 bits and wrap around, or was the pointer never set?"};
    }
    return {Kind::host_memory,
            "at a host address. A kernel can access only device memory: was a host pointer passed "
            "to the kernel instead of one from cudaMalloc? Or is a parameter of the kernel a "
            "reference, which holds a host address?"};
}

// True if other threads of the block write it while this thread waits.
bool is_written_later(const NewAccess& a) {
    yield();
    return (*a.region.state_of(a.address) & kWritten) != 0;
}

// For shared memory: where the write is probably missing, given what the block has done so far.
std::string never_written(const NewAccess& a) {
    std::string text =
        ", which no thread of this block has written, not even before the last __syncthreads(). ";
    const Extent array = &a.region == &shared_arrays ? nearest_shared_array(a.address) : Extent{};
    std::size_t written = 0;
    for (std::size_t i = 0; i < array.bytes; ++i) {
        written += (*a.region.state_of(array.begin + i) & kWritten) != 0;
    }
    if (block.missed_barrier > 0) {
        text += format(
            "%u of the block's threads returned early: should one of them have written it first? ",
            block.missed_barrier);
    } else if (written > 0 && written == block.size * a.bytes) {
        text += format(
            "The %u threads have written %zu elements of the array, one per thread: should each "
            "thread write several, in a loop? ",
            block.size, written / a.bytes);
    }
    return text +
           "Is a guard missing here, or should a thread without an element store the identity (0 "
           "for a sum)? Shared memory is not initialized: it holds whatever an earlier block left "
           "there.";
}

}  // namespace

void fail_outside(const NewAccess& a) {
    bool freed = false;
    for (std::size_t i = 0; i < a.bytes && a.region.contains(a.address + i); ++i) {
        freed = freed || (*a.region.state_of(a.address + i) & kFreed) != 0;
    }
    fail({freed ? Kind::freed_memory : Kind::out_of_bounds, cudaErrorIllegalAddress, a.code,
          story(a.kind, a.bytes) + describe_outside(a.region, a.address, a.bytes), a.address});
}

void fail_constant(const NewAccess& a) {
    fail({Kind::invalid_call, cudaErrorIllegalAddress, a.code,
          story(a.kind, a.bytes) + inside(a) +
              ". A kernel can only read __constant__ variables; the host sets them with "
              "cudaMemcpyToSymbol.",
          a.address});
}

void fail_uninitialised(const NewAccess& a) {
    std::string why = ", which was never written by any kernel, copy or cudaMemset.";
    Place barrier;
    if (&a.region == &cluster_memory) {
        why =
            ", which no block of the cluster has written, not even before the last cluster.sync().";
    } else if (a.region.space == Space::shared) {
        const Thread* waits = waits_above(find_line(a.code));
        why = waits != nullptr
                  ? ", which no thread of this block has written yet. Other threads wait at the "
                    "__syncthreads() in {0}, which this thread skipped: is that barrier inside an "
                    "`if` or a loop that not every thread enters?"
              : block.barriers_passed > 0 && has_mbarriers()
                  ? ", which no thread of this block has written yet. Is a guard missing here, or "
                    "did a wait on an mbarrier return at once because it used the wrong parity? "
                    "(The phase before phase 0 has parity 1 and counts as complete.)"
              : block.barriers_passed == 0 || is_written_later(a)
                  ? ", which no thread of this block has written yet. Is a __syncthreads() missing "
                    "between the write and this read? Shared memory is not initialized: it holds "
                    "whatever an earlier block left there."
                  : never_written(a);
        if (waits != nullptr) barrier = {waits->barrier_site, waits->barrier_code};
    }
    fail({Kind::uninitialised_read,
          cudaErrorLaunchFailure,
          a.code,
          story("reads", a.bytes) + inside(a) + why,
          a.address,
          {barrier}});
}

void fail_pending(const NewAccess& a) {
    if (&a.region == &cluster_memory) {
        fail({Kind::pending_copy, cudaErrorLaunchFailure, a.code,
              story(a.kind, a.bytes) + inside(a) +
                  ", to which an asynchronous copy is still in flight: the thread of that block "
                  "must wait for it, and then all threads must reach a cluster.sync().",
              a.address});
    }
    CopyTo copy;
    for (std::size_t i = 0; i < a.bytes && copy.code == nullptr; ++i) copy = copy_to(a.address + i);
    if (copy.code == nullptr) copy = tile_to(a.address);
    const bool others = copy.thread != current->id;
    const char* advice =
        copy.is_tile && a.kind == AccessKind::write
            ? "No thread has waited for that tile yet: is the wait for an empty stage missing?"
        : copy.is_tile ? "It has arrived when the phase of its mbarrier completes: is the wait for "
                         "that missing? Or was the stage refilled too early, before this read?"
        : copy.overwrites && others
            ? "Was it started too early, while other threads still read the previous contents: is "
              "a __syncthreads() missing before it? Or has its thread not waited for it?"
            : "That thread must wait for it (__pipeline_wait_prior); then a barrier makes it "
              "visible to the others.";
    fail({Kind::pending_copy,
          cudaErrorLaunchFailure,
          a.code,
          story(a.kind, a.bytes) + inside(a) +
              format(", to which an asynchronous copy is still in flight: %s started it in {0}. %s",
                     others ? name(block.threads[copy.thread]).c_str() : "the same thread", advice),
          a.address,
          {copy.code}});
}

void fail_elsewhere(std::uintptr_t address, std::size_t bytes, AccessKind kind, const void* code) {
    const auto [what, where] = elsewhere(address, bytes);
    fail({what, cudaErrorIllegalAddress, code, story(kind, bytes) + where, address});
}

void fail_misaligned(std::uintptr_t address, std::size_t bytes, std::size_t alignment,
                     AccessKind kind, const void* code) {
    const std::size_t beyond = address % alignment;
    fail({Kind::misaligned, cudaErrorMisalignedAddress, code,
          story(kind, bytes) +
              format("at an address that is not a multiple of %zu: it is %zu byte%s past one.",
                     alignment, beyond, beyond == 1 ? "" : "s"),
          address});
}

void fail_stuck(std::uintptr_t address, std::size_t bytes, const void* code) {
    fail({Kind::stuck, cudaErrorLaunchTimeout, code,
          story("reads", bytes) +
              format("again and again: in %u million accesses no thread of the block has written "
                     "anything, so this loop seems to wait forever. The emulator runs one block "
                     "after another, so a block cannot wait for a later one.",
                     kAccessesPerTurn / 1000u * kTurnsWithoutWrite / 1000u),
          address});
}

}  // namespace sixdays::emulator
