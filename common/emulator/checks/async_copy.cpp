#include "common/emulator/async_copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "common/emulator/checks/async.hpp"
#include "common/emulator/machine/finding.hpp"
#include "common/emulator/memory/access.hpp"
#include "emulated/ptx.h"

namespace sixdays::emulator {

namespace {

struct Copy {
    void* to;
    const void* from;
    std::size_t bytes, valid_bytes;
    const void* code;
    bool overwrites;                   // data written before
    std::array<std::byte, 16> source;  // its contents when the copy was started
    int group = -1;                    // -1: not committed yet
};

struct Queue {
    std::vector<Copy> copies;
    int groups = 0;  // committed so far
};
struct Queues {
    std::vector<Queue> of = std::vector<Queue>(kMaxThreads);  // by thread
    std::size_t used = 0;  // queues that this block, or an earlier one, may have left nonempty

    bool empty() const { return used == 0; }
};
Queues queues;

Queue& own_queue() {
    queues.used = std::max(queues.used, current->id + std::size_t{1});
    return queues.of[current->id];
}

void check_target(const Copy& copy, const Site& site) {
    const InRuntime guard;
    const auto to = reinterpret_cast<std::uintptr_t>(copy.to);
    const auto from = reinterpret_cast<std::uintptr_t>(copy.from);
    if (copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16) {
        fail({Kind::undefined_behaviour, cudaErrorLaunchFailure, site,
              format("%s starts an asynchronous copy of %zu bytes; the size must be 4, 8 or 16.",
                     name(*current).c_str(), copy.bytes)});
    }
    if (to % copy.bytes != 0 || from % copy.bytes != 0) {
        fail({Kind::misaligned, cudaErrorMisalignedAddress, site,
              format("%s starts an asynchronous copy of %zu bytes, but its %s is %zu bytes past a "
                     "multiple of that.",
                     name(*current).c_str(), copy.bytes, to % copy.bytes != 0 ? "target" : "source",
                     to % copy.bytes != 0 ? to % copy.bytes : from % copy.bytes),
              to});
    }
    if (!is_shared_address(copy.to)) {
        fail({Kind::out_of_bounds, cudaErrorIllegalAddress, site,
              name(*current) +
                  " starts an asynchronous copy to an address outside of shared memory.",
              to});
    }
}

// The copy may have read its source at any time before the wait.
void check_source(const Copy& copy, const void* wait) {
    const InRuntime guard;
    if (std::memcmp(copy.from, copy.source.data(), copy.valid_bytes) == 0) return;
    fail_with(
        ChangedSource{reinterpret_cast<std::uintptr_t>(copy.from), copy.bytes, wait, copy.code});
}

// The copy completes: the thread writes the target now. (The trace counted it when it started.)
void land(const Copy& copy, const void* wait) {
    check_source(copy, wait);
    set_pending(copy.to, copy.bytes, false);
    before_access(copy.to, copy.bytes, AccessKind::write, copy.code, nullptr, false);
    std::memset(copy.to, 0, copy.bytes);
    std::memcpy(copy.to, copy.from, copy.valid_bytes);
}

void land_groups_before(Queue& queue, int group, const void* wait) {
    std::vector<Copy> rest;
    for (const Copy& copy : queue.copies) {
        if (copy.group >= 0 && copy.group < group) {
            land(copy, wait);
        } else {
            rest.push_back(copy);
        }
    }
    queue.copies.swap(rest);
}

}  // namespace

void async_copy(void* to_shared, const void* from_global, std::size_t bytes,
                std::size_t valid_bytes, std::source_location site) {
    if (current == nullptr) return;
    const void* code = __builtin_return_address(0);
    Copy copy{to_shared, from_global, bytes, valid_bytes, code, false, {}};
    check_target(copy, site);
    before_access(from_global, valid_bytes, AccessKind::read, code);
    std::memcpy(copy.source.data(), from_global, valid_bytes);
    copy.overwrites = was_written(to_shared);
    // Checks that the target is in bounds, free of races and not already pending.
    before_access(to_shared, bytes, AccessKind::write, code);
    set_pending(to_shared, bytes, true);
    own_queue().copies.push_back(copy);
}

void async_commit() {
    if (current == nullptr) return;
    Queue& queue = own_queue();
    for (Copy& copy : queue.copies) {
        if (copy.group < 0) copy.group = queue.groups;
    }
    ++queue.groups;
}

void async_wait(int groups) {
    if (current == nullptr) return;
    Queue& queue = queues.of[current->id];
    land_groups_before(queue, queue.groups - groups, __builtin_return_address(0));
}

void async_wait_all() {
    if (current == nullptr) return;
    async_commit();
    async_wait(0);
}

CopyTo copy_to(std::uintptr_t address) {
    for (unsigned id = 0; id < queues.used; ++id) {
        for (const Copy& copy : queues.of[id].copies) {
            if (address - reinterpret_cast<std::uintptr_t>(copy.to) < copy.bytes) {
                return {id, copy.code, copy.overwrites};
            }
        }
    }
    return {};
}

void forget_copies() {
    std::fill_n(queues.of.begin(), queues.used, Queue{});
    queues.used = 0;
}

void exchange_copies(std::shared_ptr<void>& aside) {
    exchange(queues, aside);
}

}  // namespace sixdays::emulator
