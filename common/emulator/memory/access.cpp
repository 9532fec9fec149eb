#include "common/emulator/memory/access.hpp"

#include <cstring>

#include "common/emulator/machine/facts.hpp"
#include "common/emulator/memory/cluster.hpp"

namespace sixdays::emulator {

bool judgement_pending, tracing = false, watching_locals = false;

namespace {

std::uintptr_t arguments_begin;
std::size_t arguments_bytes;

}  // namespace

Region* region_of(std::uintptr_t address) {
    if (heap.contains(address)) return &heap;
    if (shared_arrays.contains(address)) return &shared_arrays;
    if (shared_dynamic.contains(address)) return &shared_dynamic;
    if (shared_tiles.contains(address)) return &shared_tiles;
    if (in_cluster && cluster_memory.contains(address)) return &cluster_memory;
    if (variables.contains(address) && (*variables.state_of(address) & kLive) != 0) {
        return &variables;
    }
    return nullptr;
}

bool is_own(std::uintptr_t address) {
    return is_on_stack(*current, address) || address - arguments_begin < arguments_bytes;
}

namespace {

// True if the word at this address is live, written, and not last accessed by a concurrent thread.
// Then the access is recorded too.
bool is_everyday(History& h, AccessKind kind, const PastAccess& me, std::uint32_t since) {
    if (kind == AccessKind::read) {
        if (same_moment(h.read, me)) return true;
        return came_before(h.write, since) && came_before(h.atomic, since) &&
               remember_read(h, me, since);
    }
    if (same_moment(h.write, me)) return true;
    if (!came_before(h.write, since) || !came_before(h.atomic, since) ||
        !came_before(h.read, since) || !came_before(h.other_read, since)) {
        return false;
    }
    h = {me, {}, {}, {}};
    return true;
}

// Fast path: a thread's own variables, the launch's arguments, or whole words of memory in their
// usual state. False sends the access to the slow path.
bool is_everyday(std::uintptr_t address, std::size_t bytes, AccessKind kind, const void* code) {
    if (is_own(address)) {
        if (watching_locals) access_checks.local(address, bytes, writes(kind), code);
        return true;
    }
    if (kind != AccessKind::read && kind != AccessKind::write) return false;
    if (bytes % 4 != 0 || bytes > 16 || address % 4 != 0 || judgement_pending || tracing ||
        !clocks.usable) {
        return false;
    }
    const Region* region = region_of(address);
    if (region == nullptr || !region->contains(address + bytes - 1)) return false;
    if (in_cluster && region->space == Space::shared) return false;
    const PastAccess me = this_moment(code);
    const std::uint32_t since =
        region->space == Space::global ? clocks.first_concurrent : clocks.serial;
    constexpr std::uint32_t kGood = (kLive | kWritten) * 0x01010101u;
    const std::uint32_t may_be_set = kind == AccessKind::read ? kConstant * 0x01010101u : 0;
    const std::uint8_t* state = region->state_of(address);
    History* h = region->words + (address - region->base) / 4;
    for (std::size_t word = 0; word < bytes / 4; ++word) {
        std::uint32_t now;
        std::memcpy(&now, state + 4 * word, 4);
        if ((now & ~may_be_set) != kGood || !is_everyday(h[word], kind, me, since)) return false;
    }
    if (kind == AccessKind::write) block.turns_without_write = 0;
    return true;
}

}  // namespace

void check_access(const void* pointer, std::size_t bytes, AccessKind what, const void* code,
                  const void* expected, bool traced) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (current->accesses_left != 0 && is_everyday(address, bytes, what, code)) return;
    access_checks.examine(address, bytes, what, code, expected, traced);
}

void misaligned_access(const void* pointer, std::size_t bytes, std::size_t alignment,
                       AccessKind what, const void* code) {
    if (current == nullptr || in_runtime) return;
    const InRuntime guard;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    fail(MisalignedAccess{address, bytes, alignment, what, code});
}

bool was_written(const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const Region* region = region_of(address);
    return region != nullptr && (*region->state_of(address) & kWritten) != 0;
}

void set_pending(const void* pointer, std::size_t bytes, bool pending) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    std::uint8_t* state = region_of(address)->state_of(address);
    for (std::size_t i = 0; i < bytes; ++i) {
        state[i] = static_cast<std::uint8_t>(pending ? state[i] | kPending : state[i] & ~kPending);
    }
}

void set_arguments(const void* begin, std::size_t bytes) {
    arguments_begin = reinterpret_cast<std::uintptr_t>(begin);
    arguments_bytes = bytes;
}

}  // namespace sixdays::emulator
