#include "common/emulator/checks/race.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "common/emulator/checks/cause.hpp"
#include "common/emulator/machine/aside.hpp"
#include "common/emulator/machine/publish.hpp"
#include "common/emulator/memory/access.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

namespace {

/// A word, or one byte of a word whose bytes have separate histories.
struct Piece {
    std::uintptr_t address;
    std::size_t bytes;

    const void* memory() const { return reinterpret_cast<const void*>(out_of_own_window(address)); }
};

/// A possible race: what happens to the memory next decides.
struct Suspicion {
    Race race;
    Piece piece;
    std::array<std::byte, 4> value{};  // of the memory at that time

    Suspicion(const Race& r, const Piece& p) : race(r), piece(p) {
        std::memcpy(value.data(), p.memory(), p.bytes);
    }
    bool still_there(const void* memory) const {
        return std::memcmp(value.data(), memory, piece.bytes) == 0;
    }
};

// Two lanes of one warp stored here in the same instruction: a race if the second value differs.
std::vector<Suspicion> stores;
// A plain read concurrent with an atomic: a race, unless the reader's next access to the word is a
// compare-and-swap that expects the value read. Then a stale value is harmless.
std::vector<Suspicion> suspicions;

// Code positions whose plain read was followed by a compare-and-swap in some thread. A thread that
// reads there and goes no further is not racing: `if (old >= value) return;` in a loop that
// computes an atomic maximum.
std::set<std::uint32_t> reads_of_cas_loops;

bool sees_enough(const PastAccess& reader) {
    return reads_of_cas_loops.count(reader.code) != 0;
}

[[noreturn]] void accuse(const Race& race, Site made = Site::current()) {
    stores.clear();
    fail(diagnose(race), made);
}

/// One access to one piece, and the piece's history.
class Check {
public:
    Check(const NewAccess& access, AccessKind kind, const PastAccess& me, std::uint32_t since)
        : access_(access), kind_(kind), me_(me), since_(since) {}

    void operator()(History& h, const Piece& piece) const {
        if (!suspicions.empty()) judge_own_read(h, piece);
        if (kind_ == AccessKind::read) return read(h, piece);
        if (kind_ == AccessKind::atomic) return update(h, piece);
        write(h, piece);
    }

private:
    bool came_before(const PastAccess& past) const { return emulator::came_before(past, since_); }
    Race race(const PastAccess& past, AccessKind did) const {
        return {&access_.region, access_.address, access_.bytes, me_, past, kind_, did};
    }
    void reject_unless_before(const PastAccess& past, AccessKind did,
                              Site made = Site::current()) const {
        if (!came_before(past)) accuse(race(past, did), made);
    }

    void read(History& h, const Piece& piece) const {
        if (same_moment(h.read, me_)) return;
        reject_unless_before(h.write, AccessKind::write);
        if (!came_before(h.atomic)) suspect(race(h.atomic, AccessKind::atomic), piece);
        if (remember_read(h, me_, since_)) return;
        const bool keeps_other = keeps_other_read(h, me_, since_);
        keep_reader(access_.region, piece.address, keeps_other ? h.read : h.other_read, since_);
        if (!keeps_other) h.other_read = h.read;
        h.read = me_;
    }

    void write(History& h, const Piece& piece) const {
        if (same_moment(h.write, me_)) return;
        if (!came_before(h.write)) {
            Race found = race(h.write, AccessKind::write);
            found.one_instruction = same_warp(h.write, me_) && h.write.code == me_.code;
            if (!found.one_instruction) accuse(found);
            stores.push_back({found, piece});
        }
        reject_unless_before(h.read, AccessKind::read);
        reject_unless_before(h.other_read, AccessKind::read);
        for (const PastAccess& past : more_readers(access_.region, piece.address)) {
            reject_unless_before(past, AccessKind::read);
        }
        reject_unless_before(h.atomic, AccessKind::atomic);
        h = {me_, {}, {}, {}};
        forget_readers(access_.region, piece.address);
    }

    void update(History& h, const Piece& piece) const {
        reject_unless_before(h.write, AccessKind::write);
        std::vector<PastAccess> readers = more_readers(access_.region, piece.address);
        readers.insert(readers.begin(), {h.read, h.other_read});
        for (const PastAccess& past : readers) {
            const bool loop = access_.expected != nullptr && same_thread(past, me_);
            if (loop) reads_of_cas_loops.insert(past.code);
        }
        if (expects(piece, piece.memory())) take_back_own_read(h, piece);
        for (const PastAccess& past : readers) {
            if (came_before(past) || sees_enough(past)) continue;
            Race found = race(past, AccessKind::read);
            if (past.serial != me_.serial) accuse(found);  // no later access can clear that read
            std::swap(found.accused, found.other);
            std::swap(found.does, found.did);
            suspect(found, piece);
        }
        if (!came_before(h.atomic)) remember_meeting(me_, h.atomic);
        h.atomic = me_;
    }

    // Compares with this piece's part of the value that a compare-and-swap expects.
    bool expects(const Piece& piece, const void* value) const {
        if (access_.expected == nullptr) return false;
        const auto* expected = static_cast<const std::byte*>(access_.expected);
        return std::memcmp(expected + (piece.address - access_.address), value, piece.bytes) == 0;
    }

    static void suspect(const Race& found, const Piece& piece) {
        if (suspicion_of(found.accused, piece) == suspicions.end())
            suspicions.push_back({found, piece});
    }

    static std::vector<Suspicion>::iterator suspicion_of(const PastAccess& reader,
                                                         const Piece& piece) {
        return std::find_if(suspicions.begin(), suspicions.end(), [&](const Suspicion& s) {
            return s.piece.address == piece.address && same_thread(s.race.accused, reader);
        });
    }

    void judge_own_read(History& h, const Piece& piece) const {
        const auto s = suspicion_of(me_, piece);
        if (s == suspicions.end()) return;
        if (access_.expected != nullptr) reads_of_cas_loops.insert(s->race.accused.code);
        const bool another = access_.expected != nullptr || !sees_enough(s->race.accused);
        if (!expects(piece, s->value.data()) && another) accuse(s->race);
        suspicions.erase(s);
        take_back_own_read(h, piece);
    }

    void take_back_own_read(History& h, const Piece& piece) const {
        for (PastAccess* past : {&h.read, &h.other_read}) {
            if (same_thread(*past, me_)) *past = {};
        }
        forget_reader(access_.region, piece.address, me_);
    }

    const NewAccess& access_;
    const AccessKind kind_;
    const PastAccess me_;
    const std::uint32_t since_;
};

// Blocks signal each other with volatile accesses to global memory, which therefore order like
// atomics. In shared memory volatile orders nothing: it counts as a plain access.
AccessKind kind_in(Space space, AccessKind kind) {
    if (space == Space::global || current->order != MemoryOrder::none)
        return kind == AccessKind::read || kind == AccessKind::write ? kind : AccessKind::atomic;
    return kind == AccessKind::volatile_read    ? AccessKind::read
           : kind == AccessKind::volatile_write ? AccessKind::write
                                                : kind;
}

}  // namespace

void begin_race_checks() {
    begin_launch_clocks();
    if (clocks.first_concurrent > clocks.serial) forget_all_readers();  // ordered after all work
    stores.clear();
    suspicions.clear();
    reads_of_cas_loops.clear();
    judgement_pending = false;
}

void exchange_suspicions(std::shared_ptr<void>& aside) {
    exchange(suspicions, aside);
    judgement_pending = !suspicions.empty();  // the stores have been judged
}

void judge_stores() {
    const std::vector<Suspicion> all = std::move(stores);
    stores.clear();
    for (const Suspicion& s : all) {
        if (!s.still_there(s.piece.memory())) accuse(s.race);
    }
    judgement_pending = !suspicions.empty();
}

void judge_block() {
    const auto wrong = std::find_if(suspicions.begin(), suspicions.end(), [](const Suspicion& s) {
        return !sees_enough(s.race.accused);
    });
    if (wrong != suspicions.end() && !launch_failed()) note(diagnose(wrong->race));
    suspicions.clear();
    stores.clear();
    judgement_pending = false;
}

void check_race(const NewAccess& given) {
    if (!clocks.usable) return;
    const bool clustered = in_cluster && given.region.space == Space::shared;
    const NewAccess access = clustered ? NewAccess{cluster_memory, in_window(given.address),
                                                   given.bytes,    given.kind,
                                                   given.code,     given.expected}
                                       : given;
    Region& region = access.region;
    const AccessKind kind = kind_in(region.space, access.kind);
    if (kind == AccessKind::atomic) {
        use_atomically(clustered ? Space::global : region.space, access.address,
                       access.kind != AccessKind::volatile_write,
                       access.kind != AccessKind::volatile_read, current->order);
    }
    const Check check(access, kind, this_moment(access.code),
                      clustered                       ? clocks.first_of_cluster
                      : region.space == Space::shared ? clocks.serial
                                                      : clocks.first_concurrent);
    for_each_piece(region, access.address, access.bytes,
                   [&check](History& h, std::uintptr_t address, std::size_t bytes) {
                       check(h, {address, bytes});
                   });
    judgement_pending = !stores.empty() || !suspicions.empty();
}

}  // namespace sixdays::emulator
