#include "common/emulator/checks/locals.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/emulator/checks/async.hpp"
#include "common/emulator/machine/address_space.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/memory/access.hpp"

namespace sixdays::emulator {

namespace {

struct Local {
    std::uintptr_t begin;
    std::size_t bytes, element;
    const char* name;
};
struct Held {
    std::uintptr_t begin;
    std::size_t bytes;
    std::size_t call;
    const void* code;
};
struct Watched {
    std::vector<std::vector<Local>> unset = std::vector<std::vector<Local>>(kMaxThreads);
    std::vector<std::vector<Held>> held = std::vector<std::vector<Held>>(kMaxThreads);
    unsigned count = 0;  // entries in both, over all threads

    bool empty() const { return count == 0; }
};
Watched watched;

// The fill byte of uninitialized variables: -ftrivial-auto-var-init=pattern.
constexpr std::byte kPattern{0xfe};

// For each byte of the stacks: may it be uninitialized? Memory that was written by code without
// hooks, such as the emulator's own, differs from the pattern.
std::uint8_t* unset_bytes(std::uintptr_t address) {
    static auto* const all = static_cast<std::uint8_t*>(
        reserve(kMaxFibers * kStackStride, "what is known of local variables"));
    static const auto first = reinterpret_cast<std::uintptr_t>(stack_of_fiber(0));
    return all + (address - first);
}

bool is_on_stack(std::uintptr_t address, std::size_t bytes) {
    const std::uintptr_t from = address - reinterpret_cast<std::uintptr_t>(current->fiber->stack);
    return from < kStackBytes && bytes <= kStackBytes - from;
}

// The first of these bytes that has no value; `bytes` if all have one.
std::size_t first_unset(std::uintptr_t address, std::size_t bytes) {
    const std::uint8_t* const unset = unset_bytes(address);
    const auto* values = reinterpret_cast<const std::byte*>(address);
    std::size_t at = 0;
    while (at < bytes && (unset[at] == 0 || values[at] != kPattern)) ++at;
    return at;
}

const Local* local_at(std::uintptr_t address) {
    const auto& mine = watched.unset[current->id];
    const auto local = std::find_if(mine.rbegin(), mine.rend(), [&](const Local& one) {
        return address - one.begin < one.bytes;
    });
    return local == mine.rend() ? nullptr : &*local;
}

void check_unset(std::uintptr_t address, std::size_t bytes, bool writes, const void* code) {
    if (!is_on_stack(address, bytes)) return;
    const std::size_t at = writes ? bytes : first_unset(address, bytes);
    std::memset(unset_bytes(address), 0, bytes);
    const Local* const local = at == bytes ? nullptr : local_at(address + at);
    if (local == nullptr) return;
    const bool is_array = local->element < local->bytes;
    fail(UnsetLocal{local->name, address + at - local->begin, is_array ? local->element : 0, code});
}

void check_held(std::uintptr_t address, std::size_t bytes, bool writes, const void* code) {
    const auto& mine = watched.held[current->id];
    const auto touched = std::find_if(mine.begin(), mine.end(), [&](const Held& one) {
        return address < one.begin + one.bytes && one.begin < address + bytes;
    });
    if (touched == mine.end()) return;
    fail(HeldAccumulator{writes, code, touched->code});
}

}  // namespace

void hold_local(const void* sums, std::size_t bytes, std::size_t call, const void* code) {
    release_local(sums, call);
    watched.held[current->id].push_back(
        {reinterpret_cast<std::uintptr_t>(sums), bytes, call, code});
    ++watched.count;
    watching_locals = true;
}

void release_local(const void* sums, std::size_t call) {
    const auto begin = reinterpret_cast<std::uintptr_t>(sums);
    watched.count -=
        static_cast<unsigned>(std::erase_if(watched.held[current->id], [&](const Held& one) {
            return one.begin == begin && one.call < call;
        }));
    watching_locals = !watched.empty();
}

void watch_local(const volatile void* variable, std::size_t bytes, const unsigned char* values,
                 std::size_t element, const char* name) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(variable);
    if (current == nullptr || !is_on_stack(begin, bytes)) return;
    const InRuntime guard;
    watched.unset[current->id].push_back({begin, bytes, element, name});
    ++watched.count;
    watching_locals = true;
    std::uint8_t* const unset = unset_bytes(begin);
    std::memset(unset, 1, bytes);
    for (std::size_t i = 0; values != nullptr && i < bytes; ++i) {
        if (values[i % element] == 0) unset[i] = 0;
    }
}

void forget_local(const volatile void* variable, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(variable);
    if (current == nullptr || !is_on_stack(begin, bytes)) return;
    const InRuntime guard;
    auto& mine = watched.unset[current->id];
    if (mine.empty()) return;
    mine.pop_back();  // destroyed in reverse order
    --watched.count;
    watching_locals = !watched.empty();
    std::memset(unset_bytes(begin), 0, bytes);
}

void note_operand(const volatile void* variable, std::size_t bytes) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(variable);
    if (!watching_locals || current == nullptr || !is_on_stack(address, bytes)) return;
    const std::size_t at = first_unset(address, bytes);
    const Local* const local = at == bytes ? nullptr : local_at(address + at);
    current->unset_operand = local == nullptr ? nullptr : local->name;
}

void check_local(std::uintptr_t address, std::size_t bytes, bool writes, const void* code) {
    const InRuntime guard;
    if (!watched.held[current->id].empty()) check_held(address, bytes, writes, code);
    if (!watched.unset[current->id].empty()) check_unset(address, bytes, writes, code);
}

// A block that was stopped leaves some behind.
void forget_locals() {
    if (!watching_locals) return;
    for (auto& of_thread : watched.unset) {
        for (const Local& one : of_thread) std::memset(unset_bytes(one.begin), 0, one.bytes);
        of_thread.clear();
    }
    for (auto& of_thread : watched.held) of_thread.clear();
    watched.count = 0;
    watching_locals = false;
}

void exchange_locals(std::shared_ptr<void>& aside) {
    exchange(watched, aside);
    watching_locals = !watched.empty();
}

}  // namespace sixdays::emulator
