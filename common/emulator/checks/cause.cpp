/// @file
/// The probable cause of a race: which synchronization is missing, or does not reach far enough.
#include "common/emulator/checks/cause.hpp"

#include <array>

#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/deadlock.hpp"
#include "common/emulator/machine/publish.hpp"
#include "common/emulator/memory/cluster.hpp"

namespace sixdays::emulator {

namespace {

using Cause = Race::Cause;

PastAccess meeting_of_threads, meeting_of_blocks;  // the most recent

// Which synchronization may have been intended, and does not order the two accesses.
std::optional<Cause> missing_fence(const Race& race) {
    if (!block.in_tiles && taken_without_fence(race.other, race.address))
        return Cause::fence_after_atomic;
    if (race.meeting.serial != race.accused.serial || race.does == AccessKind::atomic) return {};
    if (block.in_tiles) return Cause::order_of_tile_atomics;
    return race.did == AccessKind::read ? Cause::signal_of_reader : Cause::fence_before_atomic;
}

// Thread t of block b and thread t' of block b' store to one element by one instruction. An index
// b * step + t along one axis is the same for both if the step is (t' - t) / (b - b'). If the threads
// differ along another axis too, the index may depend on that: then only a step that is another
// extent of the block counts.
std::optional<StepOfBlock> step_of_block(const Race& race) {
    if (race.accused.code != race.other.code) return {};
    const auto parts = [](const auto& v) { return std::array<std::int64_t, 3>{v.x, v.y, v.z}; };
    const auto extents = parts(block.extents), b = parts(block.index),
               other_b = parts(index_of_serial(race.other.serial)),
               t = parts(index_of_thread(race.accused.thread())),
               other_t = parts(index_of_thread(race.other.thread()));
    std::optional<StepOfBlock> found;
    bool more_axes = false;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t blocks = b[i] - other_b[i], threads = other_t[i] - t[i];
        more_axes |= blocks == 0 && threads != 0;
        if (blocks == 0) continue;
        const std::int64_t step = threads % blocks == 0 ? threads / blocks : 0;
        if (found || step <= 0) return {};  // it is less than the extent, as `threads` is
        found = {"xyz"[i], 0, step, extents[i]};
        for (std::size_t other = 3; other-- > 0;) {
            if (extents[other] == step) found->instead = "xyz"[other];
        }
    }
    return found && (!more_axes || found->instead != 0) ? found : std::nullopt;
}

Cause between_blocks(Race& race, bool same_line) {
    if (const auto fence = missing_fence(race)) return *fence;
    if (in_cluster && race.other.serial >= clocks.first_of_cluster) return Cause::cluster_barrier;
    if (!same_line) return Cause::order_of_blocks;
    const auto step = step_of_block(race);
    if (!step) return Cause::own_word_of_block;
    race.step = *step;
    return Cause::step_of_block;
}

Cause within_block(const Race& race, bool same_line) {
    if (fills_tile && race.did == AccessKind::read) return Cause::stage_released_early;
    if (race.one_instruction) return Cause::one_instruction;
    if (const auto fence = missing_fence(race)) return *fence;
    if (same_line) {
        const bool both_write = race.does == AccessKind::write && race.did == AccessKind::write;
        return both_write ? Cause::own_word_of_thread : Cause::barrier_between_rounds;
    }
    return same_warp(race.accused, race.other) ? Cause::warp_or_block_barrier
                                               : Cause::block_barrier;
}

}  // namespace

Race diagnose(Race race) {
    if (race.other.serial < clocks.first_serial) {
        race.cause = Cause::other_stream;
        return race;
    }
    const Line here = find_line(code_of(race.accused)), there = find_line(code_of(race.other));
    const bool same_line = here.line != 0 && here.line == there.line && here.file == there.file;
    const bool same_block = race.in_one_block();
    const bool beside_atomic =
        (race.does == AccessKind::atomic) != (race.did == AccessKind::atomic);
    const bool a_read = race.does == AccessKind::read || race.did == AccessKind::read;
    const bool runs = same_block && &block.threads[race.accused.thread()] == current;
    const Thread& them = block.threads[race.other.thread()];
    race.meeting = same_block ? meeting_of_threads : meeting_of_blocks;
    race.waits = runs ? waits_above(here) : nullptr;
    if (runs && is_a_round_ahead(them, there, here)) {
        race.cause = Cause::barrier_of_loop;
        race.barrier = barrier_of(them);
    } else if (race.waits != nullptr) {
        race.cause = Cause::skipped_barrier;
        race.barrier = barrier_of(*race.waits);
    } else if (beside_atomic && a_read) {
        race.cause = Cause::plain_read_of_atomic;
    } else {
        race.cause = same_block ? within_block(race, same_line) : between_blocks(race, same_line);
    }
    return race;
}

void remember_meeting(const PastAccess& now, const PastAccess& other) {
    (now.serial == other.serial ? meeting_of_threads : meeting_of_blocks) = now;
}

}  // namespace sixdays::emulator
