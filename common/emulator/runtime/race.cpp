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

std::uint32_t first_run = 1;  // of this launch
std::uint64_t blocks_in_launch = 0;

constexpr std::uint32_t kClockEnd = (1u << 21) - 2;

std::uintptr_t start_of_program() {
    static const std::uintptr_t start = program_start();
    return start;
}

bool same_moment(const Touch& a, const Touch& b) {
    return a.run == b.run && a.thread == b.thread && a.clock == b.clock && a.atomic == b.atomic;
}

bool same_warp(const Touch& a, const Touch& b) {
    return a.run == b.run && a.thread / kWarp == b.thread / kWarp;
}

// Did the touch come before what the current thread does now? Shared memory knows only this block.
bool before(const Touch& touch, const Touch& me, std::uint32_t since_run) {
    if (touch.run < since_run) return true;  // nobody, or an earlier launch
    if (touch.run == me.run) {
        if (touch.thread == me.thread || touch.clock < clocks.barrier) return true;
        const unsigned warp = me.thread / kWarp;
        if (touch.thread / kWarp == warp && clocks.met[warp] &&
            touch.clock <= clocks.known[me.thread][touch.thread % kWarp]) {
            return true;
        }
    }
    return was_published(touch);
}

const char* past(const Touch& touch, bool was_write) {
    return was_write ? "writes" : touch.atomic != 0 ? "updates atomically" : "reads";
}

uint3 thread_of(const Touch& touch) {
    const unsigned id = touch.thread;
    return {id % block.extents.x, id / block.extents.x % block.extents.y,
            id / block.extents.x / block.extents.y};
}

uint3 block_of(const Touch& touch) {
    const std::uint64_t id = block_of_turn(touch.run - first_run, blocks_in_launch);
    return {static_cast<unsigned>(id % block.grid.x),
            static_cast<unsigned>(id / block.grid.x % block.grid.y),
            static_cast<unsigned>(id / block.grid.x / block.grid.y)};
}

[[noreturn]] void accuse(const Region& region, std::uintptr_t address, const Touch& me, Access what,
                         const Touch& earlier, bool earlier_wrote, std::size_t bytes) {
    const char* verb = what == Access::read || what == Access::volatile_read ? "reads"
                       : what == Access::atomic                              ? "updates atomically"
                                                                             : "writes";
    std::string other;
    const char* advice;
    if (earlier.run != me.run) {
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
          format("%s %s %zu byte%s %s, which %s %s in {0}. %s", name(*current).c_str(), verb, bytes,
                 bytes == 1 ? "" : "s", describe_inside(region, address, bytes).c_str(),
                 other.c_str(), past(earlier, earlier_wrote), advice),
          address,
          {Place(other_code)}});
}

// Remembers a plain read or an atomic beside the others of its kind.
void remember(History& h, const Touch& me, std::uint32_t since_run) {
    const bool replaces = h.latest.atomic == me.atomic && before(h.latest, me, since_run);
    if (!replaces) {
        const bool keep_other = same_warp(h.latest, me) && !same_warp(h.other, me) &&
                                h.other.atomic == me.atomic && !before(h.other, me, since_run);
        if (!keep_other) h.other = h.latest;
    }
    h.latest = me;
}

struct Visit {
    Region& region;
    std::uintptr_t address;
    std::size_t bytes;
    Access what;
    Touch me;
    std::uint32_t since_run;
};

void visit(History& h, const Visit& v) {
    const auto refuse_unless_before = [&](const Touch& touch, bool wrote) {
        if (!before(touch, v.me, v.since_run)) {
            accuse(v.region, v.address, v.me, v.what, touch, wrote, v.bytes);
        }
    };
    if (v.what == Access::write) {
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
    remember(h, v.me, v.since_run);
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
    first_run = clocks.run + 1;
    blocks_in_launch = blocks;
    forget_publications();
}

void begin_block_clocks(unsigned size) {
    ++clocks.run;
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

void check_race(Region& region, std::uintptr_t address, std::size_t bytes, Access what,
                const void* code) {
    if (!clocks.usable) return;
    const bool shared = region.space == Space::shared;
    // A volatile access of global memory is how flags between blocks are read and written, and
    // orders like an atomic. In shared memory volatile orders nothing: it is a plain access.
    if (what == Access::volatile_read) what = shared ? Access::read : Access::atomic;
    if (what == Access::volatile_write) what = shared ? Access::write : Access::atomic;
    if (what == Access::atomic) use_flag(address);

    Touch me;
    me.run = clocks.run;
    me.thread = current->id & 1023u;
    me.atomic = what == Access::atomic;
    me.clock = clocks.now[current->id] & 0x1fffffu;
    me.code =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - start_of_program());
    const Visit v{region, address, bytes, what, me, shared ? clocks.run : first_run};

    const std::size_t begin = address - region.base, end = begin + bytes;
    for (std::size_t word = begin / 4; word * 4 < end; ++word) {
        const bool whole = word * 4 >= begin && word * 4 + 4 <= end;
        if (!whole) split(region, word);
        if ((region.state[word * 4] & kSplit) == 0) {
            visit(region.words[word], v);
        } else {
            const std::size_t last = std::min(end, word * 4 + 4);
            for (std::size_t i = std::max(begin, word * 4); i < last; ++i)
                visit(region.bytes[i], v);
        }
    }
}

}  // namespace sixdays::emulator
