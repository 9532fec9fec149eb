#include "common/emulator/memory/managed.hpp"

#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

namespace {

bool closed = false;

void protect_all(HostMay what) {
    for (const Extent& one : managed_allocations()) {
        protect(reinterpret_cast<void*>(one.begin), one.bytes, what);
    }
}

}  // namespace

void open_managed() {
    if (!closed) return;
    closed = false;
    protect_all(HostMay::write);
}

void close_managed() {
    if (closed || unfinished_work() == nullptr) return;
    closed = true;
    protect_all(HostMay::nothing);
}

bool open_managed_page(std::uintptr_t address, bool writes, const Calls& calls) {
    const auto* pointer = reinterpret_cast<const void*>(address);
    if (!closed || !is_device_range(pointer, 1) || !is_shared_with_host(pointer)) return false;
    const History& h = heap.history_of(address);
    for (const PastAccess* past : {&h.write, &h.atomic, &h.read, &h.other_read}) {
        const bool was_read = past == &h.read || past == &h.other_read;
        if (past->serial == 0 || (was_read && !writes) || work_of(past->serial) == nullptr)
            continue;
        note(ManagedTooEarly{address, writes, *past, was_read, own_place(calls)});
        open_managed();
        return true;
    }
    protect(pointer, 1, HostMay::write);
    return true;
}

}  // namespace sixdays::emulator
