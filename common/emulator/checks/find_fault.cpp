#include "common/emulator/checks/find_fault.hpp"

#include "common/emulator/checks/polling.hpp"
#include "common/emulator/checks/race.hpp"
#include "common/emulator/checks/trace.hpp"
#include "common/emulator/checks/wrong_access.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/memory/in_flight.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

namespace {

bool reads(AccessKind what) {
    return what == AccessKind::read || what == AccessKind::volatile_read ||
           what == AccessKind::atomic;
}

// Slow path: some byte is not live and written, so determine what is wrong.
void check_bytes(const NewAccess& a) {
    if (!a.region.contains(a.address + a.bytes - 1)) fail_outside(a);
    std::uint8_t* state = a.region.state_of(a.address);
    std::uint8_t all = 0xff, any = 0;
    for (std::size_t i = 0; i < a.bytes; ++i) {
        all &= state[i];
        any |= state[i];
    }
    if ((all & kLive) == 0) fail_outside(a);
    if ((any & kPending) != 0) fail_pending(a);
    // A struct may have unwritten padding, so one written byte is enough. Data that an aborted
    // launch failed to write is not this access's bug.
    if (reads(a.kind) && (any & kWritten) == 0 &&
        (a.region.space == Space::shared || !is_excused(a.address))) {
        fail_uninitialised(a);
    }
    if (!writes(a.kind)) return;
    if ((any & kConstant) != 0) fail(WriteToConstant{a});
    for (std::size_t i = 0; i < a.bytes; ++i) state[i] |= kWritten;
}

}  // namespace

void find_fault(std::uintptr_t address, std::size_t bytes, AccessKind what, const void* code,
                const void* expected, bool traced) {
    const InRuntime guard;
    if (current->accesses_left == 0 || (what == AccessKind::volatile_read && is_patient()))
        let_others_go_first(address, bytes, code);
    Region* region = region_of(address);
    if (region == nullptr) {
        if (is_own(address) || (!writes(what) && is_constant_data(address))) return;
        if (is_registered(reinterpret_cast<void*>(address))) {
            if (what == AccessKind::volatile_read) remember_poll(address, bytes, code);
            return;
        }
        fail_elsewhere(address, bytes, what, code);
    }
    if (region == &cluster_memory) check_reach(address, code);
    const NewAccess access{*region, address, bytes, what, code, expected};
    check_bytes(access);
    if (judgement_pending && writes(what)) judge_stores();
    check_race(access);
    const bool noted = tracing && traced && region != &variables;
    if (noted) trace_access(*region, address, bytes, what, code);
    if (what == AccessKind::write || what == AccessKind::volatile_write)
        block.turns_without_write = 0;
    if ((what == AccessKind::volatile_read || what == AccessKind::atomic) &&
        region->space == Space::global)
        remember_poll(address, bytes, code);
}

}  // namespace sixdays::emulator
