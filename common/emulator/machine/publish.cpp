#include "common/emulator/machine/publish.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/emulator/machine/aside.hpp"
#include "common/emulator/machine/block.hpp"

namespace sixdays::emulator {

namespace {

/// What one may know of a block: everything before a barrier, and more of some warps.
struct BlockClock {
    std::uint32_t barrier = 0;
    std::vector<std::pair<unsigned, LaneClocks>> warps;

    bool covers(const PastAccess& past) const {
        if (past.clock() < barrier) return true;
        for (const auto& [warp, lanes] : warps) {
            if (warp == past.warp()) return past.clock() <= lanes[past.lane()];
        }
        return false;
    }
    void add(unsigned warp, const LaneClocks& more) {
        for (auto& [known, lanes] : warps) {
            if (known != warp) continue;
            for (unsigned i = 0; i < kWarp; ++i) lanes[i] = std::max(lanes[i], more[i]);
            return;
        }
        warps.emplace_back(warp, more);
    }
    void add(const BlockClock& more) {
        barrier = std::max(barrier, more.barrier);
        for (const auto& [warp, lanes] : more.warps) add(warp, lanes);
    }
};

/// One clock per block of the launch, in execution order; null: nothing is known of that block.
/// Shared between threads that know the same, and copied on write.
using Clock = std::shared_ptr<const BlockClock>;
using Knowledge = std::shared_ptr<std::vector<Clock>>;

void add(Knowledge& mine, std::size_t block, const Clock& clock) {
    if (!clock || (mine && block < mine->size() && (*mine)[block] == clock)) return;
    if (!mine) mine = std::make_shared<std::vector<Clock>>();
    if (mine.use_count() > 1) mine = std::make_shared<std::vector<Clock>>(*mine);
    if (mine->size() <= block) mine->resize(block + 1);
    Clock& known = (*mine)[block];
    if (!known) {
        known = clock;
        return;
    }
    const auto both = std::make_shared<BlockClock>(*known);
    both->add(*clock);
    known = both;
}

void add(Knowledge& mine, const Knowledge& more) {
    if (!mine) mine = more;
    if (!more || mine == more) return;
    for (std::size_t block = 0; block < more->size(); ++block) add(mine, block, (*more)[block]);
}

std::size_t number(std::uint32_t serial) {
    return serial - clocks.first_serial;
}

bool covers(const Knowledge& knowledge, const PastAccess& past) {
    const std::size_t block = number(past.serial);
    return knowledge && block < knowledge->size() && (*knowledge)[block] &&
           (*knowledge)[block]->covers(past);
}

/// The knowledge published at a word, and who last published there.
struct Word {
    Knowledge told;
    PastAccess by;
};
using Words = std::unordered_map<std::uintptr_t, Word>;
Words words, shared_words;  // the second of this block

struct Taken {
    std::uintptr_t address;
    const Word* word;
    bool operator==(const Taken&) const = default;
};

/// The state of one thread since its block's last barrier.
struct Voice {
    bool fenced = false;
    LaneClocks fence{};            // clocks of its own warp at its last fence
    Knowledge of_others_at_fence;  // and knowledge of other blocks
    Knowledge knows;               // acquired from words
    std::vector<Taken> taken;      // words that it used without a fence since
};
std::vector<Voice> voices(kMaxThreads);
bool news = false;      // since the last barrier
bool any_news = false;  // in this block

// What the block's threads fenced before their last barrier: any of them may publish it.
BlockClock fenced_by_block;
Knowledge of_others_by_block;

void learn(Voice& mine) {
    for (const Taken& one : mine.taken) add(mine.knows, one.word->told);
    mine.taken.clear();
}

void publish(Word& at, const Voice& mine) {
    auto own = std::make_shared<BlockClock>(fenced_by_block);
    if (mine.fenced) {
        own->barrier = clocks.barrier;
        own->add(current->warp(), mine.fence);
    }
    add(at.told, of_others_by_block);
    add(at.told, mine.of_others_at_fence);
    add(at.told, number(clocks.serial), own);
}

void take(Words& known, std::uintptr_t address, Voice& mine) {
    const auto found = known.find(address);
    if (found == known.end()) return;
    const Taken now{address, &found->second};
    if (std::count(mine.taken.begin(), mine.taken.end(), now) > 0) return;
    mine.taken.push_back(now);
    news = any_news = true;
}

void acquire(const Words& known, std::uintptr_t address, Voice& mine) {
    const auto found = known.find(address);
    if (found == known.end()) return;
    add(mine.knows, found->second.told);
    news = any_news = true;
}

// As if a fence preceded this write, and no other one.
void release(Word& at, const Voice& mine) {
    publish(at, {true, clocks_of_warp(), mine.knows, {}, {}});
    news = any_news = clocks.orders_beyond_barriers = true;
    step_clock();
}

}  // namespace

void forget_publications() {
    words.clear();
}

void forget_fences(unsigned threads) {
    static unsigned of_last_block = 0;
    const unsigned spoke = std::exchange(of_last_block, threads);
    voices.resize(kMaxThreads);
    if (!any_news) return;
    std::fill_n(voices.begin(), spoke, Voice{});
    shared_words.clear();
    fenced_by_block = {};
    of_others_by_block.reset();
    news = any_news = false;
}

void exchange_publications(std::shared_ptr<void>& aside) {
    std::tuple all(std::move(voices), std::move(shared_words), news, any_news,
                   std::move(fenced_by_block), std::move(of_others_by_block));
    exchange(all, aside);
    std::tie(voices, shared_words, news, any_news, fenced_by_block, of_others_by_block) =
        std::move(all);
}

void share_at_barrier(unsigned threads) {
    if (!news) return;
    news = false;
    Knowledge all;
    for (unsigned id = 0; id < threads; ++id) {
        Voice& voice = voices[id];
        learn(voice);
        add(all, voice.knows);
        if (!voice.fenced) continue;
        fenced_by_block.barrier = clocks.barrier;
        fenced_by_block.add(id / kWarp, voice.fence);
        add(of_others_by_block, voice.of_others_at_fence);
    }
    for (unsigned id = 0; id < threads; ++id) voices[id] = {false, {}, {}, all, {}};
}

void share_in_warp(unsigned warp, unsigned lanes) {
    if (!news) return;
    Voice all;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        Voice& voice = voices[warp * kWarp + lane];
        learn(voice);
        add(all.knows, voice.knows);
        add(all.of_others_at_fence, voice.of_others_at_fence);
        all.fenced = all.fenced || voice.fenced;
        for (unsigned i = 0; i < kWarp; ++i) all.fence[i] = std::max(all.fence[i], voice.fence[i]);
    }
    for (unsigned lane = 0; lane < kWarp; ++lane) {
        if ((lanes >> lane & 1) != 0) voices[warp * kWarp + lane] = all;
    }
}

static Knowledge of_cluster, of_segment;  // so far, and at the last barrier that all reached

void tell_cluster(unsigned threads) {
    for (unsigned id = 0; id < threads; ++id) {
        learn(voices[id]);
        add(of_cluster, voices[id].knows);
    }
    const auto all = std::make_shared<BlockClock>();
    all->barrier = PastAccess::kClockEnd;
    add(of_cluster, number(clocks.serial), all);
}

void learn_from_cluster(unsigned threads) {
    for (unsigned id = 0; id < threads; ++id) voices[id].knows = of_segment;
    news = any_news = true;
}

void begin_segment() {
    of_segment = of_cluster;
}

void forget_knowledge_of_cluster(std::uintptr_t begin, std::size_t bytes) {
    of_cluster.reset();
    of_segment.reset();
    // The next cluster's shared memory reuses these addresses.
    std::erase_if(words, [=](const auto& word) { return word.first - begin < bytes; });
}

void thread_fence() noexcept {
    if (current == nullptr) return;
    Voice& mine = voices[current->id];
    learn(mine);
    mine.fenced = news = any_news = clocks.orders_beyond_barriers = true;
    mine.fence = clocks_of_warp();
    mine.of_others_at_fence = mine.knows;
    step_clock();  // what the thread does next comes after the fence
}

void forget_fence() noexcept {
    if (current == nullptr) return;
    Voice& mine = voices[current->id];
    mine.fenced = false;
    mine.taken.clear();
}

void use_atomically(Space space, std::uintptr_t address, bool reads, bool writes,
                    MemoryOrder order) {
    if (!any_news && words.empty() && !releases(order)) return;
    Voice& mine = voices[current->id];
    Words& known = space == Space::shared ? shared_words : words;
    if (reads && acquires(order)) acquire(known, address, mine);
    if (writes && releases(order)) {
        release(known[address], mine);
    } else if (writes && (mine.fenced || fenced_by_block.barrier > 0)) {
        Word& at = known[address];
        const PastAccess now = this_moment(nullptr);
        if (!same_moment(std::exchange(at.by, now), now)) publish(at, mine);
    }
    if (reads && !acquires(order)) take(known, address, mine);
}

bool was_published(const PastAccess& past) {
    return any_news && covers(voices[current->id].knows, past);
}

bool taken_without_fence(const PastAccess& past, std::uintptr_t address) {
    const auto& taken = voices[current->id].taken;
    return std::any_of(taken.begin(), taken.end(), [&](const Taken& one) {
        return one.address != address && covers(one.word->told, past);
    });
}

}  // namespace sixdays::emulator
