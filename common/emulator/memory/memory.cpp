#include "common/emulator/memory/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "common/emulator/machine/address_space.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/memory/host_access.hpp"
#include "common/emulator/memory/in_flight.hpp"

namespace sixdays::emulator {

Region heap;

namespace {

// Allocations are separated by unallocated gaps, so that an index past the end is detected. Freed
// memory is not reused until the allocator has passed through the whole heap.
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kGap = 64 * 1024;

struct Allocation {
    std::size_t bytes;
    bool live;
    Calls calls;  // the call stack that made it
    std::uint64_t number;
    const char* freed_by = nullptr;
};
std::map<std::uintptr_t, Allocation> allocations;  // by address; freed ones too, for the reports
std::uint64_t last_number = 0, last_excused = 0;   // numbers of allocations
/// A part of the heap; `next` is where the search for the next allocation starts.
struct HeapPart {
    std::uintptr_t begin = 0, end = 0, next = 0;
    std::size_t live_bytes = 0;
} of_device, with_host;

std::size_t round_up(std::size_t n, std::size_t to) {
    return (n + to - 1) / to * to;
}

// Returns whole pages to the system.
void give_back(void* pointer, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const std::uintptr_t begin = round_up(address, 4096), end = (address + bytes) / 4096 * 4096;
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

// The allocation that starts at or before this address.
const std::pair<const std::uintptr_t, Allocation>* allocation_before(std::uintptr_t address) {
    auto after = allocations.upper_bound(address);
    return after == allocations.begin() ? nullptr : &*std::prev(after);
}

bool overlaps_live(std::uintptr_t begin, std::uintptr_t end) {
    auto it = allocations.upper_bound(begin);
    if (it != allocations.begin()) --it;
    for (; it != allocations.end() && it->first < end; ++it) {
        if (it->second.live && it->first + it->second.bytes + kGap > begin) return true;
    }
    return false;
}

}  // namespace

void give_tables(Region& region, std::size_t bytes, const char* what) {
    region.state = static_cast<std::uint8_t*>(reserve(bytes, what));
    region.words = static_cast<History*>(reserve(bytes / 4 * sizeof(History), what));
    region.bytes = static_cast<History*>(reserve(bytes * sizeof(History), what));
}

void make_heap() {
    if (heap.size != 0) return;
    heap.space = Space::global;
    heap.size = kHeapBytes + kSharedWithHostBytes;
    heap.base = reinterpret_cast<std::uintptr_t>(reserve(heap.size, "device memory"));
    give_tables(heap, heap.size, "the state of device memory");
    const std::uintptr_t border = heap.base + kHeapBytes;
    of_device = {heap.base + kGap, border, heap.base + kGap};
    with_host = {border + kGap, heap.base + heap.size, border + kGap};
}

// 0 if there is none.
static std::uintptr_t find_room(const HeapPart& part, std::size_t step) {
    for (const std::uintptr_t start : {part.next, part.begin}) {
        for (std::uintptr_t at = start; at + step <= part.end;) {
            if (!overlaps_live(at, at + step)) return at;
            const auto* blocking = allocation_before(at + step - 1);
            while (!blocking->second.live) blocking = allocation_before(blocking->first - 1);
            at = round_up(blocking->first + blocking->second.bytes, kAlignment) + kGap;
        }
    }
    return 0;
}

static void* allocate_in(HeapPart& part, std::size_t bytes, std::uint8_t state) {
    const std::size_t step = round_up(bytes, kAlignment) + kGap;
    if (bytes > heap.size || part.live_bytes + step > part.end - part.begin) return nullptr;
    const std::uintptr_t at = find_room(part, step);
    if (at == 0) return nullptr;
    // Forget allocations that were freed here.
    for (auto it = allocations.lower_bound(at); it != allocations.end() && it->first < at + step;) {
        it = allocations.erase(it);
    }
    std::memset(heap.state_of(at), state, bytes);
    allocations[at] = {bytes, true, calls_so_far(), ++last_number};
    part.next = at + step;
    part.live_bytes += bytes;
    if (current == nullptr) close_device_memory();
    return reinterpret_cast<void*>(at);
}

void* allocate(std::size_t bytes) {
    make_heap();
    return allocate_in(of_device, bytes, kLive);
}

bool is_kernel_at_work() noexcept {
    return current != nullptr;
}
void* allocate_here(std::size_t bytes) {
    if (!is_kernel_at_work()) return std::malloc(bytes);
    const InRuntime guard;
    return bytes == 0 ? nullptr : allocate(bytes);
}
bool is_kernels_own(const void* pointer) {
    return is_device_only(pointer);
}
void free_here(void* pointer) {
    if (!is_kernels_own(pointer)) return std::free(pointer);
    const InRuntime guard;
    if (release(pointer, "the kernel's free or delete")) return;
    fail(WrongFree{reinterpret_cast<std::uintptr_t>(pointer), __builtin_return_address(0)});
}

void* allocate_shared_with_host(std::size_t bytes) {
    make_heap();
    return allocate_in(with_host, bytes, kLive | kWritten);
}

bool is_shared_with_host(const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return heap.contains(address) && address >= with_host.begin;
}

std::vector<Extent> managed_allocations() {
    std::vector<Extent> all;
    if (with_host.live_bytes == 0) return all;
    for (auto it = allocations.lower_bound(with_host.begin); it != allocations.end(); ++it) {
        if (it->second.live && !is_pinned(reinterpret_cast<void*>(it->first))) {
            all.push_back({it->first, it->second.bytes, true});
        }
    }
    return all;
}

bool is_device_only(const void* pointer) {
    return heap.contains(reinterpret_cast<std::uintptr_t>(pointer)) &&
           !is_shared_with_host(pointer);
}

bool release(void* pointer, const char* by) {
    const auto it = allocations.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (it == allocations.end() || !it->second.live) return false;
    const std::size_t bytes = it->second.bytes;
    if (is_shared_with_host(pointer)) protect(pointer, bytes, HostMay::write);
    std::memset(heap.state_of(it->first), kFreed, bytes);
    it->second.live = false;
    it->second.freed_by = by;
    (is_shared_with_host(pointer) ? with_host : of_device).live_bytes -= bytes;
    const std::size_t offset = it->first - heap.base;
    give_back(reinterpret_cast<void*>(it->first), bytes);
    give_back(heap.words + offset / 4, bytes / 4 * sizeof(History));
    give_back(heap.bytes + offset, bytes * sizeof(History));
    return true;
}

bool live_again(void* pointer) {
    const auto it = allocations.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (it == allocations.end()) return false;
    if (it->second.live) return true;
    const std::size_t bytes = it->second.bytes;
    if (overlaps_live(it->first, it->first + round_up(bytes, kAlignment) + kGap)) return false;
    std::memset(heap.state_of(it->first), kLive, bytes);
    it->second.live = true;
    of_device.live_bytes += bytes;
    return true;
}

void release_everything() {
    for (const auto& [address, allocation] : allocations) {
        void* pointer = reinterpret_cast<void*>(address);
        if (allocation.live && !is_pinned(pointer)) release(pointer, "cudaDeviceReset");
    }
}

std::size_t allocated_bytes() {
    return of_device.live_bytes;
}

Leaks leaks() {
    Leaks found;
    for (const auto& [address, allocation] : allocations) {
        if (!allocation.live || is_pinned(reinterpret_cast<void*>(address))) continue;
        found.bytes += allocation.bytes;
        if (found.count++ == 0) found.first = own_place(allocation.calls);
    }
    return found;
}

bool is_device_range(const void* pointer, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto* found = heap.contains(address) ? allocation_before(address) : nullptr;
    return found != nullptr && found->second.live &&
           address - found->first + bytes <= found->second.bytes;
}

void mark_written(const void* pointer, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    const std::uintptr_t end = begin + bytes;
    const std::uintptr_t first = std::min(end, round_up(begin, 4)),
                         last = std::max(first, end / 4 * 4);
    const auto mark = [](std::uintptr_t from, std::uintptr_t to) {
        for (; from < to; ++from) *heap.state_of(from) |= kLive | kWritten;
    };
    mark(begin, first);
    std::memset(heap.state_of(first), kLive | kWritten, last - first);
    mark(last, end);
}

void excuse_unwritten() {
    last_excused = last_number;
}

bool is_excused(std::uintptr_t address) {
    const auto* found = allocation_before(address);
    return found != nullptr && found->second.number <= last_excused;
}

void forget_splits(const void* pointer, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
    for (std::uintptr_t word = round_up(begin, 4); word + 4 <= begin + bytes; word += 4)
        *heap.state_of(word) &= static_cast<std::uint8_t>(~kSplit);
}

Extent nearest_allocation(std::uintptr_t address) {
    const auto after = allocations.upper_bound(address);
    Extent before{}, behind{};
    if (after != allocations.end())
        behind = {after->first, after->second.bytes, after->second.live, nullptr,
                  after->second.freed_by};
    if (after == allocations.begin()) return behind;
    const auto& [begin, found] = *std::prev(after);
    before = {begin, found.bytes, found.live, nullptr, found.freed_by};
    if (after == allocations.end() || address < begin + found.bytes) return before;
    return address - (begin + found.bytes) <= after->first - address ? before : behind;
}

Place allocated_in(const Extent& allocation) {
    const auto found = allocations.find(allocation.begin);
    return found == allocations.end() ? Place() : own_place(found->second.calls);
}

std::optional<WrappedIndex> wrapped_index(std::uintptr_t address, std::size_t bytes) {
    constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;
    constexpr std::uint64_t kNear = 1 << 24;  // further below 0 is not a wrapped index
    std::uint64_t nearest = kNear;            // the fewest elements below 0 so far
    std::size_t held = 0;                     // bytes of that allocation
    for (const auto& [begin, allocation] : allocations) {
        const std::uint64_t index = (address - begin) / bytes;
        if (address < begin || (address - begin) % bytes != 0 || !allocation.live) continue;
        if (index >= kWrap && index - kWrap < allocation.bytes / bytes)
            return WrappedIndex{index, allocation.bytes};
        if (kWrap - index - 1 >= nearest) continue;  // also rejects indices of more than 32 bits
        nearest = kWrap - index - 1;
        held = allocation.bytes;
    }
    if (nearest == kNear) return std::nullopt;
    return WrappedIndex{kWrap - nearest - 1, held};
}

}  // namespace sixdays::emulator
