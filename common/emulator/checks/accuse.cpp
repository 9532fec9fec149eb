#include "common/emulator/checks/accuse.hpp"

#include <cstring>

#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/deadlock.hpp"
#include "common/emulator/machine/order.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/machine/publish.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

namespace {

PastAccess meeting_of_threads, meeting_of_blocks;  // the most recent

const void* code_of(const PastAccess& access) {
    const auto start = program_start();  // the program's code is less than 4 GB long
    return reinterpret_cast<const void*>(start + (access.code - static_cast<std::uint32_t>(start)));
}

bool is(const char* verb, const char* other) {
    return std::strcmp(verb, other) == 0;
}

// Which synchronization may have been intended, and why it does not order the two accesses.
std::string missing_fence(const Race& race) {
    if (!block.in_tiles && taken_without_fence(race.other)) {
        return "An atomic told this thread that the value is ready, but there is no "
               "__threadfence() (or __syncthreads()) between that atomic and this access.";
    }
    const bool blocks = race.accused.serial != race.other.serial;
    const PastAccess& met = blocks ? meeting_of_blocks : meeting_of_threads;
    if (met.serial != race.accused.serial || is(race.does, "updates atomically")) return "";
    if (block.in_tiles) {
        return "If the atomic in {1} is meant to signal that the value is ready, the writing block "
               "must use memory_order_release there, and this block memory_order_acquire (or "
               "acq_rel). ";
    }
    if (is(race.did, "reads")) {
        return "If the atomic in {1} is meant to signal that all threads have read it, that thread "
               "has not signaled there: it needs a __threadfence() between its read and its own "
               "atomic, and this thread must wait for that atomic too.";
    }
    return "If the atomic in {1} is meant to signal that the value is ready, there is no "
           "__threadfence() between the write and that atomic. Every thread that writes needs one; "
           "if one thread signals for others, a barrier must follow it. ";
}

std::string advice_between_blocks(const Race& race, bool same_line) {
    const std::string fence = missing_fence(race);
    if (!fence.empty()) return fence;
    if (in_cluster && race.other.serial >= clocks.first_of_cluster) {
        return "Both blocks belong to one cluster, and there is no cluster.sync() between the two "
               "accesses, so their order is undefined.";
    }
    const std::string number = block.in_tiles ? "bid()" : "blockIdx";
    return (same_line ? "Two blocks access the same word from the same line: is " + number +
                            " missing from the index? "
                      : "Do both compute the same index: is " + number + " part of it? ") +
           "Blocks run in any order, so the order of the two accesses is undefined: let only one "
           "block access each word, use an atomic, or use a second launch.";
}

std::string advice_within_block(const Race& race, bool same_line) {
    if (fills_tile && is(race.did, "reads")) {
        return "The copy engine refills it while it may still be read. A consumer must wait for "
               "the wgmma that reads a stage before it releases that stage: is the stage released "
               "too early, or is the wait for the release missing?";
    }
    if (race.one_instruction) {
        return "Lanes of one warp store different values there in the same instruction: which one "
               "remains is undefined. Do both compute the same index, or should only one of them "
               "store?";
    }
    const std::string fence = missing_fence(race);
    if (!fence.empty()) return fence;
    if (same_line && is(race.does, "writes") && is(race.did, "writes")) {
        return "Both write it from the same line, and no barrier can order that, except between "
               "iterations of a loop. Do both compute the same index: is part of threadIdx missing "
               "from it? Or should only one thread execute this line?";
    }
    if (same_line) {
        const bool shared = race.region->space == Space::shared;
        return std::string("Both accesses are on the same line: ") +
               (shared
                    ? "if a loop passes values from one iteration to the next, a __syncthreads() "
                      "is missing between iterations; if one thread writes what another reads in "
                      "the same iteration, let all threads read, then reach a barrier, then write; "
                    : "") +
               "if they count or accumulate, use an atomic; if each thread should have its own "
               "word, do both compute the same index?";
    }
    const std::string ask = race.region->space == Space::global
                                ? "Do both compute the same index: is part of threadIdx missing "
                                  "from it? Or should both access it? "
                                : "Should both access it? ";
    return ask +
           (same_warp(race.accused, race.other)
                ? "They are lanes of one warp, and there is no __syncwarp() or __syncthreads() "
                  "between the two accesses, so their order is undefined. (Or does one thread too "
                  "many get here: is a guard missing, or `<=` used for `<`?)"
                : "There is no __syncthreads() between the two accesses, so their order is "
                  "undefined.");
}

// The other access belongs to another launch, or to a copy.
Finding between_streams(const Race& race, Site made) {
    const Work& other = *work_of(race.other.serial);
    const bool copy = race.other.code == 0;
    const Thread& accused = block.threads[race.accused.thread()];
    return {Kind::race,
            cudaErrorLaunchFailure,
            code_of(race.accused),
            format("%s %s %zu byte%s %s, which %s, on another stream, %s in {%d}%s. Nothing orders "
                   "the two streams: neither an event that one records and the other waits for "
                   "(cudaStreamWaitEvent) nor a wait on the host in between. They may run at the "
                   "same time, so the order of the two accesses is undefined.",
                   name(accused).c_str(), race.does, race.bytes, race.bytes == 1 ? "" : "s",
                   describe_inside(*race.region, race.address, race.bytes).c_str(),
                   other.what.c_str(), race.did, copy ? 1 : 0, copy ? "" : ", launched in {1}"),
            race.address,
            {code_of(race.other), other.where},
            &accused,
            true,
            made};
}

}  // namespace

Finding in_words(const Race& race, Site made) {
    if (race.other.serial < clocks.first_serial) return between_streams(race, made);
    const Line here = find_line(code_of(race.accused)), there = find_line(code_of(race.other));
    const bool same_line = here.line != 0 && here.line == there.line && here.file == there.file;
    const bool same_block = race.accused.serial == race.other.serial;
    const bool beside_atomic =
        is(race.does, "updates atomically") != is(race.did, "updates atomically");
    const bool a_read = is(race.does, "reads") || is(race.did, "reads");
    const bool runs = same_block && &block.threads[race.accused.thread()] == current;
    const Thread* waits = runs ? waits_above(here) : nullptr;
    const Thread& them = block.threads[race.other.thread()];
    const bool ahead = runs && is_a_round_ahead(them, there, here);
    const std::string advice =
        ahead ? "Meanwhile that thread has reached the __syncthreads() in {2} again: it is one "
                "iteration ahead. Is a __syncthreads() missing at the end of the iteration, before "
                "anything is overwritten?"
        : waits != nullptr
            ? "Meanwhile " + name(*waits) +
                  " waits at the __syncthreads() in {2}, which this thread skipped. Is that "
                  "barrier inside an `if` or a loop that not every thread enters? Then it orders "
                  "nothing for the threads outside: all threads must reach it."
        : beside_atomic && a_read
            ? "A plain read concurrent with atomics may see any earlier value: read it with an "
              "atomic, after a barrier, or in a second launch."
        : same_block ? advice_within_block(race, same_line)
                     : advice_between_blocks(race, same_line);
    const PastAccess& met = same_block ? meeting_of_threads : meeting_of_blocks;
    const std::string theirs =
        same_block ? "the same block" : "block " + name(index_of_serial(race.other.serial));
    const std::string other =
        block.in_tiles ? theirs
                       : "thread " + name(index_of_thread(race.other.thread())) + " of " + theirs;
    const Thread& accused = block.threads[race.accused.thread()];
    return {Kind::race,
            cudaErrorLaunchFailure,
            code_of(race.accused),
            format("%s %s %zu byte%s %s, which %s %s in {0}. %s", name(accused).c_str(), race.does,
                   race.bytes, race.bytes == 1 ? "" : "s",
                   describe_inside(*race.region, race.address, race.bytes).c_str(), other.c_str(),
                   race.did, advice.c_str()),
            race.address,
            {code_of(race.other), code_of(met),
             ahead              ? Place(them.barrier_site, them.barrier_code)
             : waits != nullptr ? Place(waits->barrier_site, waits->barrier_code)
                                : Place()},
            &accused,
            true,
            made};
}

void remember_meeting(const PastAccess& now, const PastAccess& other) {
    (now.serial == other.serial ? meeting_of_threads : meeting_of_blocks) = now;
}

}  // namespace sixdays::emulator
