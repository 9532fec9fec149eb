#include "common/emulator/checks/proxy.hpp"

#include <array>
#include <set>

#include "common/emulator/machine/aside.hpp"
#include "common/emulator/machine/clocks.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/mbarrier.hpp"
#include "common/emulator/memory/access.hpp"
#include "common/emulator/memory/cluster.hpp"

namespace sixdays::emulator {

namespace {

struct Fences {
    std::array<std::uint32_t, kMaxThreads> clock{};  // by thread: 1 + its clock at its last fence
    bool any = false;                                // in this block

    bool empty() const { return !any; }
};
Fences fences;

std::set<std::uint32_t> engine_copies;  // code positions, as in PastAccess

std::uint32_t position(const void* code) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code));
}

// By its thread afterwards, or by the current thread once it was ordered after the write.
bool is_fenced(const PastAccess& write) {
    return write.clock() < fences.clock[write.thread()] ||
           write.clock() + 1 < fences.clock[current->id];
}

}  // namespace

void fence_proxy() {
    if (current == nullptr) return;
    const InRuntime guard;
    fences.clock[current->id] = clocks.now[current->id] + 1;
    fences.any = true;
    step_clock();  // what the thread writes next is later than the fence
}

void writes_by_engine(const void* code) {
    engine_copies.insert(position(code));
}

void check_seen_by_proxy(const void* shared, std::size_t bytes, const Place& place) {
    if (!clocks.usable || in_cluster) return;  // a cluster keeps histories elsewhere
    const auto begin = reinterpret_cast<std::uintptr_t>(shared);
    Region* const region = region_of(begin);
    if (region == nullptr) return;
    for_each_piece(*region, begin, bytes, [&](History& h, std::uintptr_t at, std::size_t) {
        for (const PastAccess& past : {h.write, h.atomic}) {
            if (past.serial == clocks.serial && engine_copies.count(past.code) == 0 &&
                !is_fenced(past)) {
                fail(UnseenWrite{at, bytes, place, past});
            }
        }
    });
}

void forget_proxy_fences() {
    if (fences.any) fences = {};
}

void exchange_proxy_fences(std::shared_ptr<void>& aside) {
    exchange(fences, aside);
}

}  // namespace sixdays::emulator
