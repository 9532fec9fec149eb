#include "common/emulator/memory/readers.hpp"

#include <algorithm>
#include <unordered_map>

#include "common/emulator/machine/aside.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

namespace {

/// Lanes of a warp that read at the same clock and code position.
struct Readers {
    PastAccess last;
    std::uint32_t lanes;

    PastAccess of(unsigned lane) const {
        PastAccess one = last;
        one.moment = (last.warp() * kWarp + lane) * PastAccess::kClockEnd + last.clock();
        return one;
    }
    template <class Condition>
    bool all_are(Condition condition) const {
        for (unsigned lane = 0; lane < kWarp; ++lane) {
            if ((lanes & bit(lane)) != 0 && !condition(of(lane))) return false;
        }
        return true;
    }
    bool belong_with(const PastAccess& one) const {
        return same_warp(last, one) && last.clock() == one.clock() && last.code == one.code;
    }
};

// Per piece. Beyond that, the oldest are dropped: this can miss a race but never invents one.
constexpr std::size_t kMost = 64;
using Kept = std::unordered_map<std::uintptr_t, std::vector<Readers>>;
Kept kept, kept_of_shared;  // the latter in shared memory

Kept& kept_in(const Region& region) {
    return region.space == Space::shared ? kept_of_shared : kept;
}

std::vector<Readers>* kept_of(const Region& region, std::uintptr_t piece) {
    if ((*region.state_of(piece) & kMoreReaders) == 0) return nullptr;
    Kept& in = kept_in(region);
    const auto found = in.find(piece);
    return found == in.end() ? nullptr : &found->second;
}

template <class Condition>
void keep(Region& region, std::uintptr_t piece, const PastAccess& reader, Condition came_before) {
    std::vector<Readers>& all = kept_in(region)[piece];
    std::uint8_t& state = *region.state_of(piece);
    if ((state & kMoreReaders) == 0) all.clear();  // left over from freed memory
    state |= kMoreReaders;
    const auto lane = std::uint32_t{1} << reader.lane();
    if (!all.empty() && all.back().belong_with(reader)) {
        all.back() = {reader, all.back().lanes | lane};
        return;
    }
    // Whoever waited for a stream's later work has waited for its earlier work too.
    if (reader.serial < clocks.first_serial) {
        std::erase_if(all, [&](const Readers& one) {
            return one.last.serial < clocks.first_serial && same_stream(one.last, reader);
        });
    }
    if (all.size() >= kMost) {
        std::erase_if(all, [&](const Readers& one) { return one.all_are(came_before); });
        if (all.size() >= kMost) all.erase(all.begin());
    }
    all.push_back({reader, lane});
}

}  // namespace

void keep_reader(Region& region, std::uintptr_t piece, const PastAccess& reader,
                 std::uint32_t since) {
    keep(region, piece, reader, [since](const PastAccess& one) { return came_before(one, since); });
}

void keep_reader_of_work(Region& region, std::uintptr_t piece, const PastAccess& reader) {
    keep(region, piece, reader, [](const PastAccess& one) { return work_came_before(one.serial); });
}

std::vector<PastAccess> more_readers(const Region& region, std::uintptr_t piece) {
    std::vector<PastAccess> all;
    const std::vector<Readers>* const found = kept_of(region, piece);
    if (found == nullptr) return all;
    for (const Readers& one : *found) {
        for (unsigned lane = 0; lane < kWarp; ++lane) {
            if ((one.lanes & bit(lane)) != 0) all.push_back(one.of(lane));
        }
    }
    return all;
}

void forget_reader(const Region& region, std::uintptr_t piece, const PastAccess& reader) {
    std::vector<Readers>* const found = kept_of(region, piece);
    if (found == nullptr) return;
    for (Readers& one : *found) {
        if (same_warp(one.last, reader)) one.lanes &= ~bit(reader.lane());
    }
}

void forget_readers(Region& region, std::uintptr_t piece) {
    std::uint8_t& state = *region.state_of(piece);
    if ((state & kMoreReaders) == 0) return;
    state &= static_cast<std::uint8_t>(~kMoreReaders);
    kept_in(region).erase(piece);
}

void split_readers(Region& region, std::uintptr_t word) {
    const std::vector<Readers>* const found = kept_of(region, word);
    if (found == nullptr) return;
    const std::vector<Readers> all = *found;
    for (std::uintptr_t byte = word + 1; byte < word + 4; ++byte) {
        *region.state_of(byte) |= kMoreReaders;
        kept_in(region)[byte] = all;
    }
}

void exchange_readers(std::shared_ptr<void>& aside) {
    exchange(kept_of_shared, aside);
}

void forget_all_readers() {
    kept.clear();
    kept_of_shared.clear();
}

void split(Region& region, std::size_t word) {
    std::uint8_t& state = region.state[word * 4];
    if ((state & kSplit) != 0) return;
    state |= kSplit;
    for (std::size_t i = 0; i < 4; ++i) region.bytes[word * 4 + i] = region.words[word];
    split_readers(region, region.base + word * 4);
}

}  // namespace sixdays::emulator
