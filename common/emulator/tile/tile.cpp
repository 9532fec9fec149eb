#include "common/emulator/tile/tile.hpp"

#include <execinfo.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "common/emulator/checks/trace.hpp"
#include "common/emulator/machine/clocks.hpp"
#include "common/emulator/machine/publish.hpp"
#include "common/emulator/memory/access.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/report/finding.hpp"
#include "common/emulator/tile/coverage.hpp"

namespace sixdays::emulator {

// --- the elements of tiles -----------------------------------------------------------------------
namespace {

struct alignas(64) Elements {  // header in front of the elements
    Elements *before, *behind;
    std::size_t owners;
};
Elements all{&all, &all, 0};

Elements& in_front_of(void* elements) {
    return static_cast<Elements*>(elements)[-1];
}
void give_back(Elements& e) {
    e.before->behind = e.behind;
    e.behind->before = e.before;
    std::free(&e);
}

}  // namespace

void* new_elements(std::size_t bytes) {
    const std::size_t whole = (bytes + sizeof(Elements) - 1) / sizeof(Elements) + 1;
    void* memory = std::aligned_alloc(alignof(Elements), whole * sizeof(Elements));
    auto* e = new (memory) Elements{&all, all.behind, 1};
    all.behind->before = e;
    all.behind = e;
    return e + 1;
}
void share_elements(void* elements) noexcept {
    ++in_front_of(elements).owners;
}
void drop_elements(void* elements) noexcept {
    Elements& e = in_front_of(elements);
    if (--e.owners == 0) give_back(e);
}

bool enter_tile_kernel(const char* kernel, const char* parameters, const void* caller) {
    if (!enter_kernel(kernel, parameters, caller)) return false;
    const InRuntime guard;
    block.in_tiles = true;
    if (block.size != 1) {
        fail({Kind::invalid_launch, cudaErrorInvalidValue, caller,
              format("%s is a tile kernel, launched with blocks of %u threads. A tile block is a "
                     "single thread of control, and the compiler decides how many threads run it: "
                     "write  %s<<<grid, 1>>>(...)",
                     kernel, block.size, kernel)});
    }
    while (all.behind != &all) give_back(*all.behind);
    return true;
}

// --- memory accesses -----------------------------------------------------------------------------
namespace {

// The kernel's line: the innermost caller outside cuda_tile.h.
const void* outside_of_tiles(const void* code) {
    void* frames[32];
    const int count = backtrace(frames, 32);
    for (int i = 0; i < count; ++i) {
        const std::string file = find_line(frames[i]).file;
        if (!file.empty() && file.find("emulator/tile/parts/") == std::string::npos &&
            file.find("emulator/tile/tile.cpp") == std::string::npos) {
            return frames[i];
        }
    }
    return code;
}

}  // namespace

void fail_unset_tile(const void* code) {
    const InRuntime guard;
    code = outside_of_tiles(code);
    fail({Kind::uninitialised_read, cudaErrorLaunchFailure, code,
          "a tile is read that was never given a value: it was only declared."});
}

namespace {

// The access report omits tiles, since it is unspecified which lanes touch which sectors.
void see(const void* element, std::size_t bytes, AccessKind what, const void* code,
         const void* expected = nullptr) {
    const bool traced = tracing;
    tracing = false;
    before_access(element, bytes, what, code, expected);
    tracing = traced;
}

}  // namespace

void read_element(const void* element, std::size_t bytes, const void* code) {
    see(element, bytes, AccessKind::read, code);
}
void write_element(const void* element, std::size_t bytes, const void* code) {
    see(element, bytes, AccessKind::write, code);
}

// --- atomics -------------------------------------------------------------------------------------
namespace {

/// The last atomic accesses to an element in this launch, by two blocks.
struct AtomicUse {
    PastAccess by;
    const void* code = nullptr;
    bool block_scope = false;
};
struct AtomicUses {
    AtomicUse last, of_another_block;
};
std::map<std::uintptr_t, AtomicUses> atomic_uses;

// Two blocks race on an element if one of them accesses it with block scope, even atomically.
void check_scope(std::uintptr_t address, const AtomicCall& call) {
    if (!heap.contains(address) && !variables.contains(address)) return;  // private to the block
    AtomicUses& uses = atomic_uses[address];
    AtomicUse now{this_moment(call.code), call.code, call.block_scope};
    for (const AtomicUse* past : {&uses.last, &uses.of_another_block}) {
        const bool races = past->by.serial != 0 && past->by.serial != now.by.serial &&
                           (past->block_scope || now.block_scope) &&
                           !came_before(past->by, clocks.first_concurrent);
        if (!races) continue;
        fail({Kind::race,
              cudaErrorLaunchFailure,
              call.code,
              format("block %s uses this element atomically%s, and block %s did so in {0}%s. "
                     "thread_scope_block covers the elements of one call, and no other block: "
                     "between two blocks these are plain accesses, and they race. Both need "
                     "thread_scope_device_t.",
                     name(block.index).c_str(), now.block_scope ? ", in thread_scope_block" : "",
                     name(index_of_serial(past->by.serial)).c_str(),
                     past->block_scope ? ", in thread_scope_block" : ""),
              address,
              {past->code}});
    }
    const bool same_block = uses.last.by.serial == now.by.serial;
    if (same_block) now.block_scope = now.block_scope || uses.last.block_scope;
    if (!same_block) uses.of_another_block = uses.last;
    uses.last = now;
}

}  // namespace

void AtomicCall::begin() const noexcept {
    if (releases) thread_fence();
}
void AtomicCall::element(const void* element, std::size_t bytes, const void* expected) const {
    {
        const InRuntime guard;
        check_scope(reinterpret_cast<std::uintptr_t>(element), *this);
    }
    see(element, bytes,
        use == Use::load    ? AccessKind::volatile_read
        : use == Use::store ? AccessKind::volatile_write
                            : AccessKind::atomic,
        code, expected);
}
void AtomicCall::changed() noexcept {
    block.turns_without_write = 0;
}
void AtomicCall::end() const noexcept {
    if (acquires) thread_fence();
    forget_fence();
}

void check_distinct(const void* const* elements, std::size_t count, const void* code) {
    const InRuntime guard;
    std::vector<std::uintptr_t> sorted(count);
    for (std::size_t i = 0; i < count; ++i) {
        sorted[i] = reinterpret_cast<std::uintptr_t>(elements[i]);
    }
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice == sorted.end()) return;
    const auto times = std::count(sorted.begin(), sorted.end(), *twice);
    fail({Kind::race, cudaErrorLaunchFailure, code,
          format("this store writes one element %td times. The elements of a tile are stored in no "
                 "defined order, so which value remains is undefined. Does the span repeat "
                 "elements (stride 0), or are two of the addresses equal?",
                 times),
          *twice});
}

void fail_promise(const char* what, long long value, const char* promise, long long number,
                  const void* code) {
    const InRuntime guard;
    const long long rest = value % number;
    const std::string left = promise[0] == 'd' ? format(", which leaves %lld", rest) : "";
    const std::string it = what[4] == 'a' ? format("0x%llx", static_cast<unsigned long long>(value))
                                          : format("%lld", value);
    fail({Kind::undefined_behaviour, cudaErrorLaunchFailure, code,
          format("an assumption that does not hold: %s is assumed to be %s %lld, but it is %s%s. A "
                 "GPU does not check; it would load and store as if it were true. State it in the "
                 "launcher, only where it holds.",
                 what, promise, number, it.c_str(), left.c_str())});
}

// --- tiles of a span -----------------------------------------------------------------------------
namespace {

std::string list(const long long* values, std::size_t rank) {
    std::string text;
    for (std::size_t d = 0; d < rank; ++d) {
        text += (d == 0 ? "" : ", ") + std::to_string(values[d]);
    }
    return "(" + text + ")";
}

}  // namespace

void check_inside(const TileOfSpan& t, bool masked, const void* code) {
    for (std::size_t d = 0; d < t.rank; ++d) {
        const long long first = t.index[d] * t.lengths[d], end = first + t.lengths[d];
        const bool outside = t.index[d] < 0 || first >= t.extents[d];
        if (!outside && (masked || end <= t.extents[d])) continue;
        const InRuntime guard;
        const std::string head = format(
            "%s of tile %s, of lengths %s, in a span of extents %s: along dimension %zu it covers "
            "elements %lld to %lld, ",
            t.call, list(t.index, t.rank).c_str(), list(t.lengths, t.rank).c_str(),
            list(t.extents, t.rank).c_str(), d, first, end - 1);
        const std::string tail =
            outside ? format(
                          "all of them outside. Even with a mask, at least one element must be "
                          "inside. The span has only %s tile%s along this dimension.",
                          std::to_string((t.extents[d] + t.lengths[d] - 1) / t.lengths[d]).c_str(),
                          t.extents[d] > t.lengths[d] ? "s" : "")
                    : format("but the last one is %lld. The last tile needs a mask: %s_masked.",
                             t.extents[d] - 1, t.call);
        fail({Kind::out_of_bounds, cudaErrorIllegalAddress, code, head + tail,
              reinterpret_cast<std::uintptr_t>(t.span)});
    }
    if (t.farthest <= t.most) return;
    const InRuntime guard;
    fail({Kind::undefined_behaviour, cudaErrorIllegalAddress, code,
          format("%s of tile %s: its last element is %lld elements after the span's first, but the "
                 "span's index type ends at %lld. Give it extents and strides of std::int64_t.",
                 t.call, list(t.index, t.rank).c_str(), t.farthest, t.most),
          reinterpret_cast<std::uintptr_t>(t.span)});
}

// --- coverage: does the grid store every tile? ---------------------------------------------------
namespace {

/// A partitioned span: first element, tile lengths, extents.
struct Partition {
    const void* span;
    std::vector<long long> lengths, extents;
    auto operator<=>(const Partition&) const = default;
};
std::map<Partition, std::set<std::uint64_t>> stored_tiles;  // row-major tile numbers

}  // namespace

void note_stored(const TileOfSpan& t) {
    const InRuntime guard;
    const Partition partition{
        t.span, {t.lengths, t.lengths + t.rank}, {t.extents, t.extents + t.rank}};
    std::uint64_t number = 0;
    for (std::size_t d = 0; d < t.rank; ++d) {
        const auto tiles = static_cast<std::uint64_t>((t.extents[d] - 1) / t.lengths[d] + 1);
        number = number * tiles + static_cast<std::uint64_t>(t.index[d]);
    }
    stored_tiles[partition].insert(number);
}

void begin_coverage() {
    stored_tiles.clear();
    atomic_uses.clear();
}

void remark_uncovered(const Launch& what) {
    for (const auto& [partition, stored] : stored_tiles) {
        std::uint64_t tiles = 1;
        for (std::size_t d = 0; d < partition.lengths.size(); ++d) {
            tiles *=
                static_cast<std::uint64_t>((partition.extents[d] - 1) / partition.lengths[d] + 1);
        }
        if (stored.size() == tiles) continue;
        std::uint64_t missing = 0;
        for (const std::uint64_t one : stored) missing += one == missing;
        remark(what.site,
               format("%s has stored %zu of the %llu tiles of a span of extents %s, divided into "
                      "tiles of lengths %s; the first that no block stored is number %llu. Was the "
                      "grid of %s computed for another tile size?",
                      what.kernel, stored.size(), static_cast<unsigned long long>(tiles),
                      list(partition.extents.data(), partition.extents.size()).c_str(),
                      list(partition.lengths.data(), partition.lengths.size()).c_str(),
                      static_cast<unsigned long long>(missing), name(what.grid).c_str()));
    }
}

}  // namespace sixdays::emulator
