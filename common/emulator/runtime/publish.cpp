#include "common/emulator/runtime/publish.hpp"

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/emulator/runtime/block.hpp"

namespace sixdays::emulator {

namespace {

struct Flag;

/// The first `count` publications of a flag.
struct Seen {
    const Flag* flag;
    std::size_t count;
};
using Knowledge = std::vector<Seen>;

/// What a thread had behind it at a fence: its block up to the last barrier, its warp up to the
/// last warp call, and what others had published to it.
struct Publication {
    std::uint32_t serial, thread, barrier;
    std::array<std::uint32_t, 32> known;
    Knowledge knowledge;

    bool covers(const PastAccess& past) const {
        if (past.serial != serial) return false;
        if (past.clock < barrier) return true;
        return past.thread / kWarp == thread / kWarp && past.clock <= known[past.thread % kWarp];
    }
};

struct Flag {
    std::vector<Publication> all;
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_serial;
};

std::unordered_map<std::uintptr_t, Flag> flags;
std::vector<Publication> fences(kMaxThreads);  // by thread: its last one in this block
std::vector<bool> fenced(kMaxThreads, false);
std::vector<Knowledge> knowledge(kMaxThreads);  // by thread, since the last barrier
Knowledge common_knowledge;                     // of the block, from before it
bool anybody_knows = false;                     // since the last barrier

void learn(Knowledge& mine, const Seen& news) {
    for (Seen& seen : mine) {
        if (seen.flag != news.flag) continue;
        if (news.count > seen.count) seen.count = news.count;
        return;
    }
    mine.push_back(news);
}

void learn_all(Knowledge& mine, const Knowledge& news) {
    for (const Seen& seen : news) learn(mine, seen);
}

void publish(Flag& flag, const Publication& what) {
    if (!flag.all.empty()) {
        const Publication& last = flag.all.back();
        if (last.serial == what.serial && last.thread == what.thread &&
            last.barrier == what.barrier && last.known == what.known) {
            return;  // nothing new since the last time
        }
    }
    flag.by_serial[what.serial].push_back(flag.all.size());
    flag.all.push_back(what);
}

}  // namespace

void forget_publications() {
    flags.clear();
}

void forget_fences(unsigned threads) {
    for (unsigned id = 0; id < threads; ++id) {
        fenced[id] = false;
        if (anybody_knows) knowledge[id].clear();
    }
    common_knowledge.clear();
    anybody_knows = false;
}

void share_publications(unsigned threads) {
    if (!anybody_knows) return;
    for (unsigned id = 0; id < threads; ++id) {
        learn_all(common_knowledge, knowledge[id]);
        knowledge[id].clear();
    }
    anybody_knows = false;
}

void share_publications_in_warp(unsigned warp, unsigned lanes) {
    if (!anybody_knows) return;
    Knowledge all;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((lanes >> lane & 1) != 0) learn_all(all, knowledge[warp * kWarp + lane]);
    }
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((lanes >> lane & 1) != 0) knowledge[warp * kWarp + lane] = all;
    }
}

void thread_fence() noexcept {
    if (current == nullptr) return;
    const unsigned id = current->id;
    Publication& mine = fences[id];
    mine.serial = clocks.serial;
    mine.thread = id;
    mine.barrier = clocks.barrier;
    mine.known.fill(0);
    if (clocks.met[current->warp()]) mine.known = clocks.known[id];
    mine.known[current->lane()] = clocks.now[id];
    // What the thread does after the fence is not published by it.
    if (++clocks.now[id] > clocks.newest) clocks.newest = clocks.now[id];
    mine.knowledge = common_knowledge;
    learn_all(mine.knowledge, knowledge[id]);
    fenced[id] = true;
}

void use_flag(std::uintptr_t address) {
    const unsigned id = current->id;
    if (flags.empty() && !fenced[id]) return;
    const auto found = flags.find(address);
    if (found != flags.end()) {
        learn(knowledge[id], {&found->second, found->second.all.size()});
        anybody_knows = true;
    }
    if (fenced[id]) publish(flags[address], fences[id]);
}

bool was_published(const PastAccess& past) {
    if (flags.empty()) return false;
    Knowledge open = common_knowledge;
    learn_all(open, knowledge[current->id]);
    std::set<std::pair<const Flag*, std::size_t>> looked_at;
    while (!open.empty()) {
        const Seen seen = open.back();
        open.pop_back();
        if (!looked_at.insert({seen.flag, seen.count}).second) continue;
        const auto of_serial = seen.flag->by_serial.find(past.serial);
        if (of_serial != seen.flag->by_serial.end()) {
            for (const std::size_t i : of_serial->second) {
                if (i < seen.count && seen.flag->all[i].covers(past)) return true;
            }
        }
        for (std::size_t i = 0; i < seen.count; ++i) {
            for (const Seen& more : seen.flag->all[i].knowledge) {
                if (looked_at.count({more.flag, more.count}) == 0) open.push_back(more);
            }
        }
    }
    return false;
}

}  // namespace sixdays::emulator
