#include "common/emulator/checks/wrong_access.hpp"

#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/deadlock.hpp"
#include "common/emulator/machine/address_space.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/memory/cluster.hpp"

namespace sixdays::emulator {

namespace {

using Where = OutOfBounds::Where;
using Reason = UninitialisedRead::Cause;

Where elsewhere(std::uintptr_t address, bool wrapped) {
    if (fiber_of_address(address) != kMaxFibers) return Where::others_locals;
    if (address < 4096) return Where::null;
    if (wrapped) return Where::wrapped_index;
    return is_nobodys(address) ? Where::nowhere : Where::host;
}

// True if other threads of the block write it while this thread waits.
bool is_written_later(const NewAccess& a) {
    yield();
    return (*a.region.state_of(a.address) & kWritten) != 0;
}

// For shared memory that no thread has written, given what the block has done so far.
UninitialisedRead never_written(const NewAccess& a) {
    const Extent array = &a.region == &shared_arrays ? nearest_shared_array(a.address) : Extent{};
    std::size_t written = 0;
    for (std::size_t i = 0; i < array.bytes; ++i) {
        written += (*a.region.state_of(array.begin + i) & kWritten) != 0;
    }
    if (block.missed_barrier > 0) return {a, Reason::returned_early};
    if (written > 0 && written == block.size * a.bytes)
        return {a, Reason::one_element_each, {}, written / a.bytes};
    return {a, Reason::no_thread};
}

UninitialisedRead diagnose(const NewAccess& a) {
    if (&a.region == &cluster_memory) return {a, Reason::no_block_of_cluster};
    if (a.region.space != Space::shared) return {a, Reason::never_written};
    if (const Thread* waits = waits_above(find_line(a.code)))
        return {a, Reason::skipped_barrier, barrier_of(*waits)};
    if (block.barriers_passed > 0 && has_mbarriers()) return {a, Reason::parity_of_mbarrier};
    if (block.barriers_passed == 0 || is_written_later(a)) return {a, Reason::missing_barrier};
    return never_written(a);
}

}  // namespace

void fail_outside(const NewAccess& a) {
    bool freed = false;
    for (std::size_t i = 0; i < a.bytes && a.region.contains(a.address + i); ++i) {
        freed = freed || (*a.region.state_of(a.address + i) & kFreed) != 0;
    }
    fail(OutOfBounds{freed ? Where::freed : Where::outside, a.address, a.bytes, a.kind, a.code,
                     &a.region});
}

void fail_uninitialised(const NewAccess& a) {
    fail(diagnose(a));
}

void fail_pending(const NewAccess& a) {
    if (&a.region == &cluster_memory) fail(PendingAccess{a});
    CopyTo copy;
    for (std::size_t i = 0; i < a.bytes && copy.code == nullptr; ++i) copy = copy_to(a.address + i);
    if (copy.code == nullptr) copy = tile_to(a.address);
    fail(PendingAccess{a, copy});
}

void fail_elsewhere(std::uintptr_t address, std::size_t bytes, AccessKind kind, const void* code) {
    const auto index = wrapped_index(address, bytes);
    fail(OutOfBounds{elsewhere(address, index.has_value()), address, bytes, kind, code, nullptr,
                     index});
}

}  // namespace sixdays::emulator
