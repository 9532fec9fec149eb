#include "common/emulator/async_copy.hpp"

#include <array>
#include <cstring>
#include <vector>

#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/copy_groups.hpp"
#include "common/emulator/machine/facts.hpp"
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

CopyGroups<Copy> copies_in_flight;

void check_target(const Copy& copy, const Site& site) {
    using What = WrongCopy::What;
    const InRuntime guard;
    const auto to = reinterpret_cast<std::uintptr_t>(copy.to);
    const auto from = reinterpret_cast<std::uintptr_t>(copy.from);
    if (copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16)
        fail(WrongCopy{What::size, site, 0, copy.bytes});
    if (to % copy.bytes != 0 || from % copy.bytes != 0)
        fail(WrongCopy{What::misaligned, site, to, copy.bytes, from});
    if (!is_shared_address(copy.to)) fail(WrongCopy{What::target_not_shared, site, to});
}

// The copy may have read its source at any time before the wait.
void check_source(const Copy& copy, const void* wait) {
    const InRuntime guard;
    if (std::memcmp(copy.from, copy.source.data(), copy.valid_bytes) == 0) return;
    fail(ChangedSource{reinterpret_cast<std::uintptr_t>(copy.from), copy.bytes, wait, copy.code});
}

// The copy completes: the thread writes the target now. (The trace counted it when it started.)
void land(const Copy& copy, const void* wait) {
    check_source(copy, wait);
    set_pending(copy.to, copy.bytes, false);
    before_access(copy.to, copy.bytes, AccessKind::write, copy.code, nullptr, false);
    std::memset(copy.to, 0, copy.bytes);
    std::memcpy(copy.to, copy.from, copy.valid_bytes);
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
    copies_in_flight.start(copy);
}

void async_commit() {
    if (current != nullptr) copies_in_flight.commit();
}

void async_wait(int groups) {
    if (current == nullptr) return;
    const void* const wait = __builtin_return_address(0);
    copies_in_flight.wait(groups, [wait](const Copy& copy) { land(copy, wait); });
}

void async_wait_all() {
    if (current == nullptr) return;
    async_commit();
    async_wait(0);
}

CopyTo copy_to(std::uintptr_t address) {
    CopyTo found{};
    copies_in_flight.for_each([&](unsigned id, const Copy& copy) {
        if (address - reinterpret_cast<std::uintptr_t>(copy.to) < copy.bytes)
            found = {id, copy.code, copy.overwrites};
    });
    return found;
}

void forget_copies() {
    copies_in_flight.clear();
}

void exchange_copies(std::shared_ptr<void>& aside) {
    exchange(copies_in_flight, aside);
}

}  // namespace sixdays::emulator
