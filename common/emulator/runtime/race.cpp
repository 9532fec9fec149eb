#include "common/emulator/runtime/race.hpp"

#include <algorithm>
#include <cstring>

#include "common/emulator/runtime/finding.hpp"
#include "common/emulator/runtime/memory.hpp"
#include "common/emulator/runtime/order.hpp"
#include "common/emulator/runtime/program.hpp"
#include "common/emulator/runtime/publish.hpp"

namespace sixdays::emulator {

Clocks clocks;

namespace {

std::uint32_t first_serial = 1;  // of this launch
std::uint64_t blocks_in_launch = 0;

constexpr std::uint32_t kClockEnd = (1u << 21) - 2;

std::uintptr_t start_of_program() {
    static const std::uintptr_t start = program_start();
    return start;
}

bool same_moment(const PastAccess& a, const PastAccess& b) {
    return a.serial == b.serial && a.thread == b.thread && a.clock == b.clock &&
           a.atomic == b.atomic;
}

bool same_warp(const PastAccess& a, const PastAccess& b) {
    return a.serial == b.serial && a.thread / kWarp == b.thread / kWarp;
}

// Did the access come before what the current thread does now? Shared memory knows only this block.
bool before(const PastAccess& past, const PastAccess& me, std::uint32_t since) {
    if (past.serial < since) return true;  // nobody, or an earlier launch
    if (past.serial == me.serial) {
        if (past.thread == me.thread || past.clock < clocks.barrier) return true;
        const unsigned warp = me.thread / kWarp;
        if (past.thread / kWarp == warp && clocks.met[warp] &&
            past.clock <= clocks.known[me.thread][past.thread % kWarp]) {
            return true;
        }
    }
    return was_published(past);
}

const char* verb(const PastAccess& past, bool was_write) {
    return was_write ? "writes" : past.atomic != 0 ? "updates atomically" : "reads";
}

uint3 thread_of(const PastAccess& past) {
    const unsigned id = past.thread;
    return {id % block.extents.x, id / block.extents.x % block.extents.y,
            id / block.extents.x / block.extents.y};
}

uint3 block_of(const PastAccess& past) {
    const std::uint64_t id = block_of_turn(past.serial - first_serial, blocks_in_launch);
    return {static_cast<unsigned>(id % block.grid.x),
            static_cast<unsigned>(id / block.grid.x % block.grid.y),
            static_cast<unsigned>(id / block.grid.x / block.grid.y)};
}

[[noreturn]] void accuse(const Region& region, std::uintptr_t address, const PastAccess& me,
                         AccessKind what, const PastAccess& earlier, bool earlier_wrote,
                         std::size_t bytes) {
    const char* does = what == AccessKind::read || what == AccessKind::volatile_read ? "reads"
                       : what == AccessKind::atomic ? "updates atomically"
                                                    : "writes";
    std::string other;
    const char* advice;
    if (earlier.serial != me.serial) {
        other = "thread " + name(thread_of(earlier)) + " of block " + name(block_of(earlier));
        advice =
            "Do both compute the same index: is blockIdx in it? Blocks run in any order, so which "
            "comes first is chance: give each word to one block, "
            "use an atomic, or a second launch.";
    } else {
        other = "thread " + name(thread_of(earlier)) + " of the same block";
        advice = same_warp(earlier, me) ? "Should both touch it? They are lanes of one warp, and "
                                          "no __syncwarp() or __syncthreads() stands "
                                          "between: which comes first is chance. "
                                          "(Or does a thread too many come here: a guard that "
                                          "is missing, or <= for <?)"
                                        : "Should both touch it? No __syncthreads() stands "
                                          "between, so which comes first is chance.";
    }
    const void* code = reinterpret_cast<const void*>(start_of_program() + me.code);
    const void* other_code = reinterpret_cast<const void*>(start_of_program() + earlier.code);
    fail({Kind::race,
          cudaErrorLaunchFailure,
          code,
          format("%s %s %zu byte%s %s, which %s %s in {0}. %s", name(*current).c_str(), does, bytes,
                 bytes == 1 ? "" : "s", describe_inside(region, address, bytes).c_str(),
                 other.c_str(), verb(earlier, earlier_wrote), advice),
          address,
          {Place(other_code)}});
}

// Remembers a plain read or an atomic beside the others of its kind.
void remember(History& h, const PastAccess& me, std::uint32_t since) {
    const bool replaces = h.latest.atomic == me.atomic && before(h.latest, me, since);
    if (!replaces) {
        const bool keep_other = same_warp(h.latest, me) && !same_warp(h.other, me) &&
                                h.other.atomic == me.atomic && !before(h.other, me, since);
        if (!keep_other) h.other = h.latest;
    }
    h.latest = me;
}

struct NewAccess {
    Region& region;
    std::uintptr_t address;
    std::size_t bytes;
    AccessKind what;
    PastAccess me;
    std::uint32_t since;
};

void check_word(History& h, const NewAccess& v) {
    const auto refuse_unless_before = [&](const PastAccess& past, bool wrote) {
        if (!before(past, v.me, v.since)) {
            accuse(v.region, v.address, v.me, v.what, past, wrote, v.bytes);
        }
    };
    if (v.what == AccessKind::write) {
        if (same_moment(h.write, v.me)) return;
        refuse_unless_before(h.write, true);
        refuse_unless_before(h.latest, false);
        refuse_unless_before(h.other, false);
        h.write = v.me;
        return;
    }
    if (same_moment(h.latest, v.me)) return;
    refuse_unless_before(h.write, true);
    // A read minds atomics, an atomic minds reads.
    if (h.latest.atomic != v.me.atomic) refuse_unless_before(h.latest, false);
    if (h.other.atomic != v.me.atomic) refuse_unless_before(h.other, false);
    remember(h, v.me, v.since);
}

// From now on this word's bytes have histories of their own.
void split(Region& region, std::size_t word) {
    std::uint8_t& state = region.state[word * 4];
    if ((state & kSplit) != 0) return;
    state |= kSplit;
    for (std::size_t i = 0; i < 4; ++i) region.bytes[word * 4 + i] = region.words[word];
}

}  // namespace

void begin_race_checks(std::uint64_t blocks) {
    first_serial = clocks.serial + 1;
    blocks_in_launch = blocks;
    forget_publications();
}

void begin_block_clocks(unsigned size) {
    ++clocks.serial;
    clocks.barrier = clocks.newest = 1;
    std::fill_n(clocks.now.begin(), size, 1u);
    clocks.met.fill(false);
    clocks.usable = true;
    forget_fences(size);
}

void meet_at_barrier(unsigned size) {
    clocks.barrier = ++clocks.newest;
    std::fill_n(clocks.now.begin(), size, clocks.barrier);
    clocks.usable = clocks.usable && clocks.newest < kClockEnd;
    share_publications(size);
}

void meet_in_warp(unsigned warp, unsigned lanes) {
    const unsigned base = warp * kWarp;
    if (!clocks.met[warp]) {
        clocks.met[warp] = true;
        for (unsigned lane = 0; lane < kWarp; ++lane) clocks.known[base + lane].fill(0);
    }
    std::array<std::uint32_t, 32> all{};
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        const auto& known = clocks.known[base + lane];
        for (unsigned i = 0; i < kWarp; ++i) all[i] = std::max(all[i], known[i]);
        all[lane] = std::max(all[lane], clocks.now[base + lane]);
    }
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        clocks.known[base + lane] = all;
        clocks.newest = std::max(clocks.newest, ++clocks.now[base + lane]);
    }
    clocks.usable = clocks.usable && clocks.newest < kClockEnd;
    share_publications_in_warp(warp, lanes);
}

void check_race(Region& region, std::uintptr_t address, std::size_t bytes, AccessKind what,
                const void* code) {
    if (!clocks.usable) return;
    const bool shared = region.space == Space::shared;
    // A volatile access of global memory is how flags between blocks are read and written, and
    // orders like an atomic. In shared memory volatile orders nothing: it is a plain access.
    if (what == AccessKind::volatile_read) what = shared ? AccessKind::read : AccessKind::atomic;
    if (what == AccessKind::volatile_write) what = shared ? AccessKind::write : AccessKind::atomic;
    if (what == AccessKind::atomic) use_flag(address);

    PastAccess me;
    me.serial = clocks.serial;
    me.thread = current->id & 1023u;
    me.atomic = what == AccessKind::atomic;
    me.clock = clocks.now[current->id] & 0x1fffffu;
    me.code =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - start_of_program());
    const NewAccess v{region, address, bytes, what, me, shared ? clocks.serial : first_serial};

    const std::size_t begin = address - region.base, end = begin + bytes;
    for (std::size_t word = begin / 4; word * 4 < end; ++word) {
        const bool whole = word * 4 >= begin && word * 4 + 4 <= end;
        if (!whole) split(region, word);
        if ((region.state[word * 4] & kSplit) == 0) {
            check_word(region.words[word], v);
        } else {
            const std::size_t last = std::min(end, word * 4 + 4);
            for (std::size_t i = std::max(begin, word * 4); i < last; ++i)
                check_word(region.bytes[i], v);
        }
    }
}

}  // namespace sixdays::emulator
