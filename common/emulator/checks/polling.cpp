#include "common/emulator/checks/polling.hpp"

#include <cstring>
#include <utility>

#include "common/emulator/checks/race.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/signals.hpp"
#include "common/emulator/memory/access.hpp"
#include "common/emulator/memory_order.hpp"

namespace sixdays::emulator {

namespace {

constexpr unsigned kPatience = 100;  // turns of all blocks

// The current thread polls. If nothing has been written for very long, nothing ever will be.
void poll(std::uintptr_t address, std::size_t bytes, const void* code) {
    if (time_is_up) fail_for_time(code);
    if (judgement_pending) judge_stores();
    current->polled.counted = true;  // reads once before it polls again
    if (block.turns_without_write == 0) block.turns_without_write = 1, block.polls = 0;
    // The threads run in a fixed order, so this many polls in a row are by all that can run.
    if (++block.polls > block.ready.size()) {
        block.polls = 0;
        block.polls_in_vain = true;
        ++block.turns_without_write;
    }
    if (block.turns_without_write > kTurnsWithoutWrite * block.in_progress)
        fail(EndlessReads{address, bytes, code, block.others});
    yield();
}

bool repeats(std::uintptr_t address, std::size_t bytes, const void* code) {
    const Poll& last = current->polled;
    return !last.counted && last.address == address && last.bytes == bytes && last.code == code &&
           std::memcmp(last.value.data(), reinterpret_cast<const void*>(address), bytes) == 0;
}

void access(const void* p, std::size_t bytes, AccessKind kind, MemoryOrder order, const void* code,
            const void* expected = nullptr) {
    if (reinterpret_cast<std::uintptr_t>(p) % bytes != 0)
        misaligned_access(p, bytes, bytes, kind, code);
    const WithOrder ordered(order);
    before_access(p, bytes, kind, code, expected);
}

}  // namespace

void let_others_go_first(std::uintptr_t address, std::size_t bytes, const void* code) {
    if (current->accesses_left == 0) {
        current->accesses_left = kAccessesPerTurn;
        ++block.turns_without_write;
        const Poll& last = current->polled;
        if (is_own(address) && last.address != 0) return poll(last.address, last.bytes, last.code);
        poll(address, bytes, code);
    } else if (repeats(address, bytes, code)) {
        poll(address, bytes, code);
    }
}

void remember_poll(std::uintptr_t address, std::size_t bytes, const void* code) {
    Poll& last = current->polled;
    last = {address, bytes, code, {}, false};
    std::memcpy(last.value.data(), reinterpret_cast<const void*>(address), bytes);
}

bool is_patient() {
    return block.turns_without_write < kPatience * block.in_progress;
}

// Names the word that the thread has read last, since it probably waits for that one.
void let_others_run() {
    if (current == nullptr) return;
    const InRuntime guard;
    const Poll& last = current->polled;
    poll(last.address, last.bytes, __builtin_return_address(0));
}

MemoryOrder exchange_order(MemoryOrder order) noexcept {
    return current == nullptr ? order : std::exchange(current->order, order);
}

void load_ordered(const void* from, void* to, std::size_t bytes, MemoryOrder order) {
    access(from, bytes, AccessKind::volatile_read, order, __builtin_return_address(0));
    std::memcpy(to, from, bytes);
}

void store_ordered(void* to, const void* from, std::size_t bytes, MemoryOrder order) {
    access(to, bytes, AccessKind::volatile_write, order, __builtin_return_address(0));
    std::memcpy(to, from, bytes);
}

void begin_update(void* p, void* old, std::size_t bytes, MemoryOrder order, const void* expected) {
    access(p, bytes, AccessKind::atomic, order, __builtin_return_address(0), expected);
    std::memcpy(old, p, bytes);
}

void end_update(void* p, const void* next, std::size_t bytes) noexcept {
    if (current != nullptr && std::memcmp(p, next, bytes) != 0) block.turns_without_write = 0;
    std::memcpy(p, next, bytes);
}

void load_relaxed16(const void* from, void* to) {
    const void* const code = __builtin_return_address(0);
    if (current != nullptr) {
        const InRuntime guard;
        const auto address = reinterpret_cast<std::uintptr_t>(from);
        if (address % 16 == 0 && repeats(address, 16, code)) poll(address, 16, code);
    }
    access(from, 16, AccessKind::volatile_read, MemoryOrder::relaxed, code);
    std::memcpy(to, from, 16);
}

void store_relaxed16(void* to, const void* from) {
    access(to, 16, AccessKind::volatile_write, MemoryOrder::relaxed, __builtin_return_address(0));
    std::memcpy(to, from, 16);
}

}  // namespace sixdays::emulator
