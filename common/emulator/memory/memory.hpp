/// @file
/// What the emulator knows of every byte that a kernel may access. Device memory and shared memory
/// are Regions: each byte has a state, each word an access history (history.hpp). The tables are flat
/// and as long as the memory, and the system backs with real pages only the parts in use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/emulator/machine/publish.hpp"
#include "common/emulator/memory/history.hpp"

namespace sixdays::emulator {

/// The state of a byte is a set of these.
enum ByteState : std::uint8_t {
    kLive = 1,         // belongs to an allocation or to shared memory
    kWritten = 2,      // and it has been written
    kPending = 4,      // an asynchronous copy will write it
    kFreed = 8,        // belonged to an allocation
    kSplit = 16,       // part of a word whose bytes have separate histories
    kConstant = 64,    // of a __constant__ variable
    kMoreReaders = 32  // on a piece's first byte: the history does not hold all readers
};

struct Region {
    Space space = Space::global;
    std::uintptr_t base = 0;  // a multiple of 16
    std::size_t size = 0;
    std::uint8_t* state = nullptr;  // by byte
    History* words = nullptr;       // per 4 bytes
    History* bytes = nullptr;       // per byte, used where kSplit is set

    bool contains(std::uintptr_t address) const { return address - base < size; }
    std::uint8_t* state_of(std::uintptr_t address) const { return state + (address - base); }
    const History& history_of(std::uintptr_t address) const {
        const std::size_t at = address - base;
        return (state[at / 4 * 4] & kSplit) != 0 ? bytes[at] : words[at / 4];
    }
};

/// Calls `call` with the history, address and size of each word. A word that is only partly in the
/// range, or is split already, is passed byte by byte.
template <class Call>
void for_each_piece(Region& region, std::uintptr_t address, std::size_t bytes, Call call) {
    const std::size_t begin = address - region.base, end = begin + bytes;
    for (std::size_t word = begin / 4; word * 4 < end; ++word) {
        const bool whole = word * 4 >= begin && word * 4 + 4 <= end;
        if (!whole) split(region, word);
        if ((region.state[word * 4] & kSplit) == 0) {
            call(region.words[word], region.base + word * 4, std::size_t{4});
            continue;
        }
        const std::size_t last = end < word * 4 + 4 ? end : word * 4 + 4;
        for (std::size_t i = begin > word * 4 ? begin : word * 4; i < last; ++i) {
            call(region.bytes[i], region.base + i, std::size_t{1});
        }
    }
}

/// A contiguous piece of device or shared memory: an allocation, array or variable.
struct Extent {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    bool live = false;
    const char* name = nullptr;      // of a variable
    const char* freed_by = nullptr;  // "cudaFree", if the allocation was freed
    bool is_constant = false;        // a variable that is read-only in kernels
};

/// Device memory: contains everything that cudaMalloc returns.
extern Region heap;
/// A block's `__shared__` arrays, its dynamic shared memory, and tiles cut out of that.
extern Region shared_arrays;
extern Region shared_dynamic;
extern Region shared_tiles;
inline constexpr std::array<Region*, 3> kSharedRegions = {&shared_arrays, &shared_dynamic,
                                                          &shared_tiles};
/// `__device__` and `__constant__` variables, and whatever is between them.
extern Region variables;

constexpr std::size_t kHeapBytes = std::size_t{8} << 30;
/// It is followed by memory that host and device share: managed and pinned. Accesses of the host
/// are not tracked there, so all of it counts as written.
constexpr std::size_t kSharedWithHostBytes = std::size_t{4} << 30;
constexpr std::size_t kStaticSharedLimit = 48 * 1024;
constexpr std::size_t kDynamicSharedLimit = 163 * 1024;

/// Allocates the tables for the first `bytes` bytes of a region.
void give_tables(Region& region, std::size_t bytes, const char* what);

void make_heap();
void* allocate(std::size_t bytes);  // null if the heap is full
void* allocate_shared_with_host(std::size_t bytes);
bool is_shared_with_host(const void* pointer);
/// Live allocations of cudaMallocManaged.
std::vector<Extent> managed_allocations();
/// Device memory that the host cannot access.
bool is_device_only(const void* pointer);
bool release(void* pointer, const char* by);  // false: not the start of a live allocation
/// Reallocates memory that a graph had freed; false if it overlaps live allocations.
bool live_again(void* pointer);
void release_everything();
std::size_t allocated_bytes();
/// Device memory that was never freed, and where the first piece of it was allocated.
struct Leaks {
    std::size_t count = 0, bytes = 0;
    Place first;
};
Leaks leaks();

/// Locates the thread_local variables of the OS thread that is about to run a kernel.
void find_shared_arrays();
/// @param limit  on the kernel's dynamic shared memory
void make_dynamic_shared(std::size_t bytes, std::size_t limit);
/// A block starts: no shared array exists yet, and dynamic shared memory is unwritten.
void forget_shared();

/// A tile cut out of dynamic shared memory at `offset`. It is placed in shared_tiles, away from
/// other tiles, so that overruns are detected.
struct Tile {
    std::size_t offset, bytes;
    std::uintptr_t at;
};

/// The shared memory of a block that waits for other blocks: its contents and its state tables.
struct SharedImage {
    std::vector<Extent> arrays;  // the last one is the dynamic part
    std::vector<Tile> tiles;
    std::vector<std::uint8_t> bytes, states;
};
SharedImage save_shared();
void restore_shared(const SharedImage& image);
/// The same for the histories of shared memory. Only a block that polls still needs them: after a
/// barrier of the grid, the accesses before it no longer matter.
void exchange_histories(std::shared_ptr<void>& aside);

/// True if these bytes are device memory of one live allocation.
bool is_device_range(const void* pointer, std::size_t bytes);
/// Marks device memory that host code (a copy, cudaMemset) wrote.
void mark_written(const void* pointer, std::size_t bytes);
/// A launch was aborted: its results may be missing in allocations made so far, so reading
/// unwritten bytes there is not reported.
void excuse_unwritten();
bool is_excused(std::uintptr_t address);
/// Merges the histories of split words that are entirely in the range.
void forget_splits(const void* pointer, std::size_t bytes);

/// The allocation, live or freed, that contains this address or is nearest to it.
Extent nearest_allocation(std::uintptr_t address);
/// The position in the source that allocated it.
Place allocated_in(const Extent& allocation);
Extent dynamic_extent();
Extent nearest_shared_array(std::uintptr_t address);

/// The wrapped index that leads to this address, if any.
std::optional<WrappedIndex> wrapped_index(std::uintptr_t address, std::size_t bytes);

/// The variable that contains this address; not live if there is none.
Extent device_variable_at(std::uintptr_t address);
/// On the first launch, when all variables have been registered.
void find_device_variables();
/// Read-only data of the program, which kernels may read.
bool is_constant_data(std::uintptr_t address);

}  // namespace sixdays::emulator
