#include "common/emulator/mbarrier.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/proxy.hpp"
#include "common/emulator/checks/tile_chunks.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/publish.hpp"
#include "common/emulator/machine/signals.hpp"
#include "common/emulator/memory/access.hpp"
#include "emulated/ptx.h"

namespace sixdays::emulator {

bool fills_tile = false;

namespace {

using What = WrongMbarrier::What;

struct TileCopy {
    unsigned char* to;
    std::vector<unsigned char> bytes;  // in the layout of the target
    unsigned thread;
    const void* code;
};

struct Mbarrier : MbarrierState {
    std::vector<TileCopy> copies;    // of this phase
    std::vector<Thread*> waiting;    // for this phase
    std::vector<std::int64_t> seen;  // by thread: the last phase it waited for
    unsigned by;                     // which thread has set it up
    bool engine_sees;                // visible to the copy engine
};
constexpr std::int64_t kNone = -2, kUnused = -3;  // the phase before phase 0 is -1

std::map<std::uintptr_t, Mbarrier> mbarriers;  // of this block

std::uintptr_t address_of(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p);
}

Mbarrier& find(std::uint64_t* word, const Place& place) {
    const auto found = mbarriers.find(address_of(word));
    if (found == mbarriers.end()) {
        // Reports an address past the end of its array, but not what others do there.
        const Region* const region = region_of(address_of(word));
        const bool live = region != nullptr && (*region->state_of(address_of(word)) & kLive) != 0;
        if (!live) access_by_thread(word, sizeof(*word), AccessKind::atomic, place.code);
        fail(WrongMbarrier{What::not_initialized, place});
    }
    // Checks once that init() came before. An atomic access would publish the thread's writes,
    // which waiting does not do.
    std::int64_t& seen = found->second.seen[current->id];
    if (seen == kUnused) {
        access_by_thread(word, sizeof(*word), AccessKind::atomic, place.code);
        seen = kNone;
    }
    return found->second;
}

// Release: threads that use the same word later may rely on what this thread did before.
void tell(const std::uint64_t* word) {
    use_atomically(Space::shared, address_of(word), true, true, MemoryOrder::release);
}
void learn(const std::uint64_t* word) {
    use_atomically(Space::shared, address_of(word), true, false, MemoryOrder::acquire);
}

// Ends the phase if all its arrivals and bytes are there. @param now  tiles in flight arrive now
void complete(Mbarrier& b, bool now) {
    if (b.missing > 0 || b.asked != b.told || (!b.copies.empty() && !now)) return;
    for (const TileCopy& copy : b.copies) {
        set_pending(copy.to, copy.bytes.size(), false);
        std::memcpy(copy.to, copy.bytes.data(), copy.bytes.size());
    }
    b.copies.clear();
    b.missing = b.arrivals;
    b.told = b.asked = 0;
    ++b.phase;
    block.turns_without_write = 0;
    for (Thread* thread : b.waiting) make_ready(*thread);
    b.waiting.clear();
}

std::int64_t phase_of(const Mbarrier& b, unsigned parity) {
    return static_cast<unsigned>(b.phase % 2) != parity % 2 ? b.phase - 1 : b.phase;
}

// A thread that waits for phase `phase` lets that phase's tiles arrive.
bool is_complete(Mbarrier& b, std::int64_t phase) {
    complete(b, b.phase == phase);
    return b.phase != phase;
}

void wait_in(Mbarrier& b, const Place& place, Site site) {
    b.waiting.push_back(current);
    current->state = Thread::State::at_mbarrier;
    current->barrier_site = site;
    current->barrier_code = place.code;
    wait_for_turn();
}

// The mbarrier on which the copy engine will complete a copy.
Mbarrier& find_for_engine(std::uint64_t* word, const Place& place) {
    Mbarrier& b = find(word, place);
    if (!b.engine_sees) fail(WrongMbarrier{What::unseen_by_engine, place, b});
    return b;
}

void write_by_engine(const unsigned char* to, const Place& place) {
    fills_tile = true;
    access_by_thread(to, kChunkBytes, AccessKind::write, place.code);
    fills_tile = false;
}

void start(Mbarrier& b, std::uint64_t* word, TileCopy copy) {
    writes_by_engine(copy.code);
    set_pending(copy.to, copy.bytes.size(), true);
    b.asked += copy.bytes.size();
    b.copies.push_back(std::move(copy));
    tell(word);  // orders these writes before reads of threads that wait for the tile
    complete(b, !b.waiting.empty());
}

}  // namespace

void mbarrier_init(std::uint64_t* word, unsigned arrivals, Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    const Place place(site, __builtin_return_address(0));
    access_by_thread(word, sizeof(*word), AccessKind::write, place.code);
    if (!is_shared_address(word) || address_of(word) % 8 != 0 || arrivals == 0)
        fail(WrongMbarrier{What::cannot_be_here, place});
    Mbarrier& b = mbarriers[address_of(word)] = {};
    b.arrivals = b.missing = arrivals;
    b.seen.assign(block.size, kUnused);
    b.set_up = place;
    b.by = current->id;
    *word = 0;
}

void mbarriers_are_set_up() {
    if (current == nullptr) return;
    fence_proxy();
    const InRuntime guard;
    for (auto& [word, b] : mbarriers) b.engine_sees |= b.by == current->id;
}

std::uint64_t mbarrier_arrive(std::uint64_t* word, std::size_t bytes, Site site,
                              unsigned arrivals) {
    if (current == nullptr) return 0;
    const InRuntime guard;
    const Place place(site, __builtin_return_address(0));
    Mbarrier& b = find(word, place);
    if (b.missing < arrivals) fail(WrongMbarrier{What::arrives_early, place, b});
    tell(word);
    const std::int64_t phase = b.phase;
    b.missing -= arrivals;
    b.told += bytes;
    complete(b, !b.waiting.empty());
    return static_cast<std::uint64_t>(phase);
}

void mbarrier_wait(std::uint64_t* word, unsigned parity, Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    const Place place(site, __builtin_return_address(0));
    if (time_is_up) fail_for_time(site);
    Mbarrier& b = find(word, place);
    // PTX allows no other parity (mbarrier.test_wait).
    if (parity > 1) fail(WrongMbarrier{What::parity, place, b, parity});
    const std::int64_t phase = phase_of(b, parity);
    if (b.seen[current->id] == phase) fail(WrongMbarrier{What::waits_again, place, b, phase});
    b.seen[current->id] = phase;
    if (!is_complete(b, phase)) wait_in(b, place, site);
    learn(word);
}

bool mbarrier_asks(std::uint64_t* word, unsigned parity, bool waits, Site site) {
    if (current == nullptr) return true;
    const InRuntime guard;
    const Place place(site, __builtin_return_address(0));
    if (time_is_up) fail_for_time(site);
    Mbarrier& b = find(word, place);
    if (!is_complete(b, phase_of(b, parity))) {
        if (!waits) {
            let_others_run();
            return false;
        }
        wait_in(b, place, site);
    }
    learn(word);
    return true;
}

void copy_tile(void* to_shared, const TileMap& map, std::int64_t plane, std::int64_t row,
               std::int64_t column, std::uint64_t* word, Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    const Place place(site, __builtin_return_address(0));
    Mbarrier& b = find_for_engine(word, place);
    auto* const to = static_cast<unsigned char*>(to_shared);
    if (!is_shared_address(to) || address_of(to) % 1024 != 0)
        fail(WrongCopy{WrongCopy::What::place_of_tile, place, address_of(to)});
    const std::size_t bytes = bytes_of_tile(map);
    if (b.asked + bytes > b.told)
        fail(WrongMbarrier{What::too_few_bytes, place, b, static_cast<std::int64_t>(bytes)});
    TileCopy copy{to, std::vector<unsigned char>(bytes), current->id, place.code};
    for_each_chunk(map, plane, row, column,
                   [&](std::size_t at, const unsigned char* from, std::size_t valid) {
                       write_by_engine(to + at, place);
                       if (from == nullptr) return;
                       access_by_thread(from, valid, AccessKind::read, place.code);
                       std::memcpy(copy.bytes.data() + at, from, valid);
                   });
    start(b, word, std::move(copy));
}

void copy_bulk(void* to_shared, const void* from, std::size_t bytes, std::uint64_t* word,
               Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    const Place place(site, __builtin_return_address(0));
    Mbarrier& b = find_for_engine(word, place);
    auto* const to = static_cast<unsigned char*>(to_shared);
    const auto* const source = static_cast<const unsigned char*>(from);
    if (!is_shared_address(to) || (address_of(to) | address_of(from) | bytes) % kChunkBytes != 0)
        fail(WrongCopy{WrongCopy::What::bulk, place, address_of(to), bytes});
    TileCopy copy{to, std::vector<unsigned char>(bytes), current->id, place.code};
    for (std::size_t at = 0; at < bytes; at += kChunkBytes) {
        write_by_engine(to + at, place);
        access_by_thread(source + at, kChunkBytes, AccessKind::read, place.code);
        std::memcpy(copy.bytes.data() + at, source + at, kChunkBytes);
    }
    start(b, word, std::move(copy));
}

void exchange_mbarriers(std::shared_ptr<void>& aside) {
    exchange(mbarriers, aside);
}

CopyTo tile_to(std::uintptr_t address) {
    for (const auto& [word, b] : mbarriers) {
        for (const TileCopy& copy : b.copies) {
            if (address - address_of(copy.to) < copy.bytes.size()) {
                return {copy.thread, copy.code, false, true};
            }
        }
    }
    return {};
}

bool has_mbarriers() {
    return !mbarriers.empty();
}

void forget_mbarriers() {
    mbarriers.clear();
    fills_tile = false;
}

// Reports which thread waits for which mbarrier, one thread per mbarrier, at most three.
bool report_waiting_for_mbarriers() {
    MbarriersNeverComplete fact;
    for (const auto& [word, b] : mbarriers) {
        if (!b.waiting.empty() && fact.all.size() < 3) fact.all.push_back({b.waiting.front(), b});
    }
    if (fact.all.empty()) return false;
    note(fact);
    return true;
}

}  // namespace sixdays::emulator
