/// @file
/// The reports of wrong accesses by kernels: what is wrong, and what is probably missing.
#include <algorithm>
#include <cinttypes>

#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/access.hpp"
#include "common/emulator/memory/in_flight.hpp"
#include "common/emulator/report/describe.hpp"
#include "common/emulator/report/sentences.hpp"

namespace sixdays::emulator {

namespace {

std::string inside(const NewAccess& a) {
    return describe_inside(a.region, a.address, a.bytes);
}

std::string where_wrapped(const WrappedIndex& at, std::size_t bytes) {
    const std::size_t elements = at.allocation_bytes / bytes;
    if (at.is_below_zero()) {
        return format(
            "at element %" PRIu64
            " of an allocation of %zu elements of that size (%zu bytes): as an unsigned index that "
            "is %" PRIu64
            " below 0, wrapped around. Is a larger value subtracted from an unsigned one?",
            at.index, elements, at.allocation_bytes, WrappedIndex::kWrap - at.index);
    }
    return format("at element %" PRIu64
                  " of an allocation of %zu elements of that size (%zu bytes): that is 2^32 "
                  "elements past its element %" PRIu64
                  ". Is a negative stride or index stored in a 32-bit unsigned variable?",
                  at.index, elements, at.allocation_bytes, at.index - WrappedIndex::kWrap);
}

std::string where(const OutOfBounds& fact) {
    switch (fact.where) {
        using enum OutOfBounds::Where;
        case unmapped:
            return format(" accesses address 0x%zx, where there is no memory.",
                          static_cast<std::size_t>(fact.address));
        case outside:
        case freed:
            break;
        case others_locals:
            return "of another thread's local memory. On a GPU, only the thread itself can access "
                   "its local variables.";
        case null:
            return format("at address %zu: a null pointer.",
                          static_cast<std::size_t>(fact.address));
        case wrapped_index:
            return where_wrapped(*fact.index, fact.bytes);
        case nowhere:
            return "at an address that belongs neither to the GPU nor to the CPU. Did an offset "
                   "overflow 32 bits and wrap around, or was the pointer never set?";
        case host:
            return "at a host address. A kernel can access only device memory: was a host pointer "
                   "passed to the kernel instead of one from cudaMalloc? Or is a parameter of the "
                   "kernel a reference, which holds a host address?";
    }
    return describe_outside(*fact.region, fact.address, fact.bytes);
}

Kind kind_of(OutOfBounds::Where where) {
    return where == OutOfBounds::Where::freed  ? Kind::freed_memory
           : where == OutOfBounds::Where::host ? Kind::host_memory
                                               : Kind::out_of_bounds;
}

// Of the allocation, up to this access, only the first bytes are written, as many as a pointer has.
bool starts_with_one_pointer(const NewAccess& a) {
    if (&a.region != &heap) return false;
    const Extent in = nearest_allocation(a.address);
    const std::uint8_t* const state = heap.state_of(in.begin);
    const auto written = [](std::uint8_t byte) { return (byte & kWritten) != 0; };
    const std::uint8_t* const end = state + (a.address + a.bytes - in.begin);
    return end - state > 8 && std::all_of(state, state + 8, written) &&
           std::none_of(state + 8, end, written);
}

std::string why(const UninitialisedRead& fact) {
    using Cause = UninitialisedRead::Cause;
    const std::string never =
        ", which no thread of this block has written, not even before the last __syncthreads(). ";
    const std::string advice =
        "Is a guard missing here, or should a thread without an element store the identity (0 for "
        "a sum)? Shared memory is not initialized: it holds whatever an earlier block left there.";
    switch (fact.cause) {
        case Cause::never_written:
            return ", which was never written by any kernel, copy or cudaMemset." +
                   (starts_with_one_pointer(fact.access)
                        ? std::string(" Only the first 8 bytes of it were, as many as a pointer "
                                      "has: does a copy or cudaMemset take sizeof a pointer?")
                        : "");
        case Cause::no_block_of_cluster:
            return ", which no block of the cluster has written, not even before the last "
                   "cluster.sync().";
        case Cause::skipped_barrier:
            return ", which no thread of this block has written yet. Other threads wait at the "
                   "__syncthreads() in {0}, which this thread skipped: is that barrier inside an "
                   "`if` or a loop that not every thread enters?";
        case Cause::parity_of_mbarrier:
            return ", which no thread of this block has written yet. Is a guard missing here, or "
                   "did a wait on an mbarrier return at once because it used the wrong parity? "
                   "(The phase before phase 0 has parity 1 and counts as complete.)";
        case Cause::missing_barrier:
            return ", which no thread of this block has written yet. Is a __syncthreads() missing "
                   "between the write and this read? Shared memory is not initialized: it holds "
                   "whatever an earlier block left there.";
        case Cause::returned_early:
            return never +
                   format(
                       "%u of the block's threads returned early: should one of them have written "
                       "it first? ",
                       block.missed_barrier) +
                   advice;
        case Cause::one_element_each:
            return never +
                   format(
                       "The %u threads have written %zu elements of the array, one per thread: "
                       "should each thread write several, in a loop? ",
                       block.size, fact.elements) +
                   advice;
        case Cause::no_thread:
            break;
    }
    return never + advice;
}

const char* advice_on(const CopyTo& copy, AccessKind kind, bool others) {
    return copy.is_tile && kind == AccessKind::write
               ? "No thread has waited for that tile yet: is the wait for an empty stage missing?"
           : copy.is_tile
               ? "It has arrived when the phase of its mbarrier completes: is the wait for that "
                 "missing? Or was the stage refilled too early, before this read?"
           : copy.overwrites && others
               ? "Was it started too early, while other threads still read the previous contents: "
                 "is a __syncthreads() missing before it? Or has its thread not waited for it?"
               : "That thread must wait for it (__pipeline_wait_prior); then a barrier makes it "
                 "visible to the others.";
}

Finding words(const OutOfBounds& fact) {
    const bool unmapped = fact.where == OutOfBounds::Where::unmapped;
    return by_thread(kind_of(fact.where), cudaErrorIllegalAddress, fact.code,
                     (unmapped ? "" : story(fact.kind, fact.bytes)) + where(fact), fact.address);
}

Finding words(const UninitialisedRead& fact) {
    const NewAccess& a = fact.access;
    return by_thread(Kind::uninitialised_read, cudaErrorLaunchFailure, a.code,
                     story("reads", a.bytes) + inside(a) + why(fact), a.address, fact.barrier);
}

Finding words(const WriteToConstant& fact) {
    const NewAccess& a = fact.access;
    return by_thread(Kind::invalid_call, cudaErrorIllegalAddress, a.code,
                     story(a.kind, a.bytes) + inside(a) +
                         ". A kernel can only read __constant__ variables; the host sets them with "
                         "cudaMemcpyToSymbol.",
                     a.address);
}

std::string advice_on(const PendingAccess& fact) {
    if (!fact.copy) {
        return "the thread of that block must wait for it, and then all threads must reach a "
               "cluster.sync().";
    }
    const CopyTo& copy = *fact.copy;
    const bool others = copy.thread != current->id;
    return format("%s started it in {0}. %s",
                  others ? name(block.threads[copy.thread]).c_str() : "the same thread",
                  advice_on(copy, fact.access.kind, others));
}

Finding words(const PendingAccess& fact) {
    const NewAccess& a = fact.access;
    return by_thread(Kind::pending_copy, cudaErrorLaunchFailure, a.code,
                     story(a.kind, a.bytes) + inside(a) +
                         ", to which an asynchronous copy is still in flight: " + advice_on(fact),
                     a.address, fact.copy.value_or(CopyTo{}).code);
}

Finding words(const MisalignedAccess& fact) {
    const std::size_t beyond = fact.address % fact.alignment;
    return by_thread(
        Kind::misaligned, cudaErrorMisalignedAddress, fact.code,
        story(fact.kind, fact.bytes) +
            format("at an address that is not a multiple of %zu: it is %zu byte%s past one.",
                   fact.alignment, beyond, beyond == 1 ? "" : "s"),
        fact.address);
}

std::string name_of(const UnsetLocal& local) {
    if (local.element > 0) {
        return format("element %zu of its local array `%s`", local.byte / local.element,
                      local.name);
    }
    const std::string from = local.byte > 0 ? format(" from byte %zu on", local.byte) : "";
    return format("its local variable `%s`%s", local.name, from.c_str());
}

Finding words(const UnsetLocal& fact) {
    return by_thread(
        Kind::uninitialised_read, cudaErrorLaunchFailure, fact.code,
        " reads " + name_of(fact) +
            ", which has no value yet. On a GPU it holds whatever was in the register before. Is "
            "its initial value  = 0  missing, or does some path to this line never set it?");
}

Finding words(const WrongFree& fact) {
    const std::uintptr_t address = fact.address;
    const Extent near = nearest_allocation(address);
    return by_thread(
        Kind::invalid_call, cudaErrorIllegalAddress, fact.code,
        near.begin == address
            ? std::string(" frees memory that was already freed by ") + near.freed_by + "."
            : " frees an address where no allocation begins: it is " + place_in_heap(address),
        address);
}

Finding words(const StackOverflow& fact) {
    return by_thread(
        Kind::stack_overflow, cudaErrorLaunchFailure, fact.code,
        format(" needs more than the %zu KB that the emulator gives a thread for its local "
               "variables and calls. Is there a very large local array, or an infinite recursion?",
               fact.bytes / 1024));
}

Finding words(const TimeIsUp& fact) {
    return by_thread(
        Kind::stuck, cudaErrorLaunchTimeout, fact.place,
        format(" is still here after its block has run for %d seconds of CPU time. Does the loop "
               "around this line ever end?",
               fact.seconds));
}

Finding in_words(const Fact& fact, const Site& made) {
    Finding finding = std::visit([](const auto& one) { return words(one); },
                                 static_cast<const Fact::variant&>(fact));
    finding.made = made;
    finding.fact = std::make_shared<const Fact>(fact);
    return finding;
}

}  // namespace

void note_fact(const Fact& fact, const Site& made) {
    note(in_words(fact, made));
}

void remark_fact(const Place& where, const Fact& fact, const Site& made) {
    if (!is_remarked(where)) remark(where, in_words(fact, made).text, made);
}

void tell_crash(const Fact& fact) {
    const Finding finding = in_words(fact, Site::current());
    if (telling) tell_note(file_and_line(find_line(finding.place)) + ": " + finding.text);
}

}  // namespace sixdays::emulator
