/// @file
/// The report of a race: which threads, where, and which synchronization is probably missing.
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/report/describe.hpp"
#include "common/emulator/report/names.hpp"
#include "common/emulator/report/sentences.hpp"

namespace sixdays::emulator {

namespace {

using Cause = Race::Cause;

const char* verb(AccessKind kind) {
    return kind == AccessKind::atomic ? "updates atomically"
           : kind == AccessKind::read ? "reads"
                                      : "writes";
}

std::string advice_on_step(const StepOfBlock& step) {
    const auto threads = static_cast<long long>(step.threads),
               extent = static_cast<long long>(step.extent);
    const std::string instead =
        step.instead == 0 ? "less than "
                          : format("blockDim.%c (%lld) instead of ", step.instead, threads);
    return format(
        "Both compute the same index. From one block to the next, blockIdx.%c moves it by %lld "
        "thread%s, but a block has %lld threads along %c, so blocks overlap. Is blockIdx.%c "
        "multiplied by %sblockDim.%c (%lld)?",
        step.axis, threads, threads == 1 ? "" : "s", extent, step.axis, step.axis, instead.c_str(),
        step.axis, extent);
}

std::string advice_between_blocks(const Race& race) {
    const std::string number = block.in_tiles ? "bid()" : "blockIdx";
    const bool same_thread = race.accused.thread() == race.other.thread();
    return (race.cause == Cause::own_word_of_block
                ? "Two blocks access the same word from the same line: is " + number +
                      " missing from the index" +
                      (same_thread ? "? " : ", or multiplied by less than a block's extent? ")
                : "Do both compute the same index: is " + number + " part of it? ") +
           "Blocks run in any order, so the order of the two accesses is undefined: let only one "
           "block access each word, use an atomic, or " +
           (block.cooperative ? "wait in grid.sync() between the two." : "use a second launch.");
}

std::string advice_on_one_line(const Race& race) {
    const bool shared = race.region->space == Space::shared;
    return std::string("Both accesses are on the same line: ") +
           (shared ? "if a loop passes values from one iteration to the next, a __syncthreads() is "
                     "missing between iterations; if one thread writes what another reads in the "
                     "same iteration, let all threads read, then reach a barrier, then write; "
                   : "") +
           "if they count or accumulate, use an atomic; if each thread should have its own word, "
           "do both compute the same index?";
}

std::string advice_on_index(const Race& race) {
    return race.region->space == Space::global
               ? "Do both compute the same index: is part of threadIdx missing from it? Or should "
                 "both access it? "
               : "Should both access it? ";
}

std::string advice(const Race& race) {
    switch (race.cause) {
        case Cause::other_stream:
            break;
        case Cause::barrier_of_loop:
            return "Meanwhile that thread has reached the __syncthreads() in {2} again: it is one "
                   "iteration ahead. Is a __syncthreads() missing at the end of the iteration, "
                   "before anything is overwritten?";
        case Cause::skipped_barrier:
            return "Meanwhile " + name(*race.waits) +
                   " waits at the __syncthreads() in {2}, which this thread skipped. Is that "
                   "barrier inside an `if` or a loop that not every thread enters? Then it orders "
                   "nothing for the threads outside: all threads must reach it.";
        case Cause::plain_read_of_atomic:
            return "A plain read concurrent with atomics may see any earlier value: read it with "
                   "an atomic, after a barrier, or in a second launch.";
        case Cause::barrier_between_rounds:
            return advice_on_one_line(race);
        case Cause::warp_or_block_barrier:
            return advice_on_index(race) +
                   "They are lanes of one warp, and there is no __syncwarp() or __syncthreads() "
                   "between the two accesses, so their order is undefined. (Or does one thread too "
                   "many get here: is a guard missing, or `<=` used for `<`?)";
        case Cause::block_barrier:
            return advice_on_index(race) +
                   "There is no __syncthreads() between the two accesses, so their order is "
                   "undefined.";
        case Cause::step_of_block:
            return advice_on_step(race.step);
        case Cause::own_word_of_block:
        case Cause::order_of_blocks:
            return advice_between_blocks(race);
        case Cause::stage_released_early:
            return "The copy engine refills it while it may still be read. A consumer must wait "
                   "for the wgmma that reads a stage before it releases that stage: is the stage "
                   "released too early, or is the wait for the release missing?";
        case Cause::one_instruction:
            return "Lanes of one warp store different values there in the same instruction: which "
                   "one remains is undefined. Do both compute the same index, or should only one "
                   "of them store?";
        case Cause::fence_after_atomic:
            return "An atomic told this thread that the value is ready, but there is no "
                   "__threadfence() (or __syncthreads()) between that atomic and this access.";
        case Cause::order_of_tile_atomics:
            return "If the atomic in {1} is meant to signal that the value is ready, the writing "
                   "block must use memory_order_release there, and this block memory_order_acquire "
                   "(or acq_rel). ";
        case Cause::signal_of_reader:
            return "If the atomic in {1} is meant to signal that all threads have read it, that "
                   "thread has not signaled there: it needs a __threadfence() between its read and "
                   "its own atomic, and this thread must wait for that atomic too.";
        case Cause::fence_before_atomic:
            return "If the atomic in {1} is meant to signal that the value is ready, there is no "
                   "__threadfence() between the write and that atomic. Every thread that writes "
                   "needs one; if one thread signals for others, a barrier must follow it. ";
        case Cause::own_word_of_thread:
            return "Both write it from the same line, and no barrier can order that, except "
                   "between iterations of a loop. Do both compute the same index: is part of "
                   "threadIdx missing from it? Or should only one thread execute this line?";
        case Cause::cluster_barrier:
            return "Both blocks belong to one cluster, and there is no cluster.sync() between the "
                   "two accesses, so their order is undefined.";
    }
    return "";
}

// The other access belongs to another launch, or to a copy.
Finding between_streams(const Race& race) {
    const Work& other = *work_of(race.other.serial);
    const bool copy = race.other.code == 0;
    const Thread& accused = block.threads[race.accused.thread()];
    return {
        Kind::race,
        cudaErrorLaunchFailure,
        code_of(race.accused),
        format("%s %s %zu byte%s %s, which %s, on another stream, %s in {%d}%s. Nothing orders the "
               "two streams: neither an event that one records and the other waits for "
               "(cudaStreamWaitEvent) nor a wait on the host in between. They may run at the same "
               "time, so the order of the two accesses is undefined.",
               name(accused).c_str(), verb(race.does), race.bytes, race.bytes == 1 ? "" : "s",
               describe_inside(*race.region, race.address, race.bytes).c_str(), other.what.c_str(),
               verb(race.did), copy ? 1 : 0, copy ? "" : ", launched in {1}"),
        race.address,
        {code_of(race.other), other.where},
        &accused};
}

}  // namespace

Finding words(const StreamRace& race) {
    const Work& other = *work_of(race.other.serial);
    return by_host(
        Kind::race, cudaErrorLaunchFailure, race.where,
        format("%s %s device memory, %s, which %s, on another stream and started in {0}, %s. "
               "Nothing orders the two streams: neither an event that one records and the other "
               "waits for nor a wait on the host in between. They may run at the same time.",
               race.call, race.writes ? "writes" : "reads",
               describe_inside(heap, race.address, race.bytes).c_str(), other.what.c_str(),
               verb(race.did)),
        race.address, other.where);
}

Finding words(const Race& race) {
    if (race.cause == Cause::other_stream) return between_streams(race);
    const std::string theirs = race.in_one_block()
                                   ? "the same block"
                                   : "block " + name(index_of_serial(race.other.serial));
    const std::string other =
        block.in_tiles ? theirs
                       : "thread " + name(index_of_thread(race.other.thread())) + " of " + theirs;
    const Thread& accused = block.threads[race.accused.thread()];
    const std::string same_array =
        race.region == &heap ? equal_parameters(nearest_allocation(race.address)) : "";
    return {Kind::race,
            cudaErrorLaunchFailure,
            code_of(race.accused),
            format("%s %s %zu byte%s %s, which %s %s in {0}.%s %s", name(accused).c_str(),
                   verb(race.does), race.bytes, race.bytes == 1 ? "" : "s",
                   describe_inside(*race.region, race.address, race.bytes).c_str(), other.c_str(),
                   verb(race.did), same_array.c_str(), advice(race).c_str()),
            race.address,
            {code_of(race.other), code_of(race.meeting), race.barrier},
            &accused};
}

}  // namespace sixdays::emulator
