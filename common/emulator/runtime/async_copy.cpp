#include "common/emulator/async_copy.hpp"

#include <cstring>
#include <vector>

#include "common/emulator/runtime/access.hpp"
#include "common/emulator/runtime/async.hpp"
#include "common/emulator/runtime/finding.hpp"

namespace sixdays::emulator {

namespace {

struct Copy {
    void* to;
    const void* from;
    std::size_t bytes, valid_bytes;
    const void* code;
    int group = -1;  // -1: not committed yet
};

struct Queue {
    std::vector<Copy> copies;
    int groups = 0;  // committed so far
};
std::vector<Queue> queues(kMaxThreads);
bool any = false;  // in this block

void check_target(const Copy& copy, const Site& site) {
    const InRuntime guard;
    const auto to = reinterpret_cast<std::uintptr_t>(copy.to);
    const auto from = reinterpret_cast<std::uintptr_t>(copy.from);
    if (copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16) {
        fail({Kind::undefined_behaviour, cudaErrorLaunchFailure, site,
              format("%s starts an asynchronous copy of %zu bytes; 4, 8 and 16 exist.",
                     name(*current).c_str(), copy.bytes)});
    }
    if (to % copy.bytes != 0 || from % copy.bytes != 0) {
        fail(
            {Kind::misaligned, cudaErrorMisalignedAddress, site,
             format("%s starts an asynchronous copy of %zu bytes, but its %s is %zu bytes beyond a "
                    "multiple of that.",
                    name(*current).c_str(), copy.bytes, to % copy.bytes != 0 ? "target" : "source",
                    to % copy.bytes != 0 ? to % copy.bytes : from % copy.bytes),
             to});
    }
    if (!shared_arrays.contains(to) && !shared_dynamic.contains(to)) {
        fail({Kind::out_of_bounds, cudaErrorIllegalAddress, site,
              name(*current) +
                  " starts an asynchronous copy to an address outside of shared memory.",
              to});
    }
}

// The copy arrives: the thread writes its target now.
void land(const Copy& copy) {
    set_pending(copy.to, copy.bytes, false);
    before_access(copy.to, copy.bytes, AccessKind::write, copy.code);
    std::memset(copy.to, 0, copy.bytes);
    std::memcpy(copy.to, copy.from, copy.valid_bytes);
}

void land_groups_before(Queue& queue, int group) {
    std::vector<Copy> rest;
    for (const Copy& copy : queue.copies) {
        if (copy.group >= 0 && copy.group < group) {
            land(copy);
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
    const Copy copy{to_shared, from_global, bytes, valid_bytes, code};
    check_target(copy, site);
    before_access(from_global, valid_bytes, AccessKind::read, code);
    before_access(to_shared, bytes, AccessKind::write,
                  code);  // in bounds, nobody else's, not pending already?
    set_pending(to_shared, bytes, true);
    queues[current->id].copies.push_back(copy);
    any = true;
}

void async_commit() {
    if (current == nullptr) return;
    Queue& queue = queues[current->id];
    for (Copy& copy : queue.copies) {
        if (copy.group < 0) copy.group = queue.groups;
    }
    ++queue.groups;
    any = true;
}

void async_wait(int groups) {
    if (current == nullptr) return;
    Queue& queue = queues[current->id];
    land_groups_before(queue, queue.groups - groups);
}

void async_wait_all() {
    if (current == nullptr) return;
    async_commit();
    async_wait(0);
}

void forget_copies(unsigned threads) {
    if (!any) return;
    for (unsigned id = 0; id < threads; ++id) queues[id] = {};
    any = false;
}

}  // namespace sixdays::emulator
