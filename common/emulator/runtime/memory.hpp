/// @file
/// What the emulator knows of every byte that a kernel may touch. Device memory and shared memory
/// are Regions: each byte has a state, each word a history of its accesses (race.hpp). The tables
/// are flat and as long as the memory; the system gives them real pages only where something
/// happens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/emulator/runtime/race.hpp"

namespace sixdays::emulator {

/// The state of a byte is a set of these.
enum ByteState : std::uint8_t {
    kLive = 1,         // belongs to an allocation or to shared memory
    kWritten = 2,      // and it has been written
    kPending = 4,      // an asynchronous copy will write it
    kFreed = 8,        // belonged to an allocation
    kSplit = 16,       // of a word whose bytes have their own histories
    kConstant = 64,    // of a __constant__ variable
    kMoreReaders = 32  // its first byte's: more threads read it than its history holds
};

enum class Space : std::uint8_t { global, shared };

struct Place;

struct Region {
    Space space = Space::global;
    std::uintptr_t base = 0;  // a multiple of 16
    std::size_t size = 0;
    std::uint8_t* state = nullptr;  // by byte
    History* words = nullptr;       // by 4 bytes
    History* bytes = nullptr;       // by byte; in use where the state says kSplit

    bool contains(std::uintptr_t address) const { return address - base < size; }
    std::uint8_t* state_of(std::uintptr_t address) const { return state + (address - base); }
    const History& history_of(std::uintptr_t address) const {
        const std::size_t at = address - base;
        return (state[at / 4 * 4] & kSplit) != 0 ? bytes[at] : words[at / 4];
    }
};

/// Calls it with the history of each word, or with that of each byte where a word's bytes have
/// their own or not all of them are meant, its address and its bytes.
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

/// A piece of device or shared memory that belongs together.
struct Extent {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    bool live = false;
    const char* name = nullptr;      // of a variable
    const char* freed_by = nullptr;  // "cudaFree", of an allocation that is not live
    bool is_constant = false;        // a variable that kernels only read
};

/// Device memory: everything that cudaMalloc returns is in here.
extern Region heap;
/// A block's `__shared__` arrays, its dynamic shared memory, and tiles that it cuts out of that.
extern Region shared_arrays;
extern Region shared_dynamic;
extern Region shared_tiles;
inline constexpr std::array<Region*, 3> kSharedRegions = {&shared_arrays, &shared_dynamic,
                                                          &shared_tiles};
/// `__device__` and `__constant__` variables, with what is between them.
extern Region variables;

constexpr std::size_t kHeapBytes = std::size_t{8} << 30;
/// After them comes memory that host and device share: managed memory and pinned host memory. The
/// host's accesses are not seen there, so all of it counts as written.
constexpr std::size_t kSharedWithHostBytes = std::size_t{4} << 30;
constexpr std::size_t kStaticSharedLimit = 48 * 1024;
constexpr std::size_t kDynamicSharedLimit = 163 * 1024;

/// Address space without memory behind it yet; ends the program with a sentence if there is none.
void* reserve(std::size_t bytes, const char* what);

/// Tables for the first `bytes` bytes of a region.
void give_tables(Region& region, std::size_t bytes, const char* what);

void make_heap();
void* allocate(std::size_t bytes);  // null if the heap is full
void* allocate_shared_with_host(std::size_t bytes);
bool is_shared_with_host(const void* pointer);
/// Those of cudaMallocManaged that live.
std::vector<Extent> managed_allocations();
/// Host memory that kernels may touch since cudaHostRegister; nothing is known of its bytes.
bool is_registered(const void* pointer);
/// Device memory that the host cannot reach.
bool is_device_only(const void* pointer);
bool release(void* pointer, const char* by);  // false: not the start of a live allocation
/// A graph allocates again what it freed; false if others live there now.
bool live_again(void* pointer);
void release_everything();
std::size_t allocated_bytes();
/// "2 allocations (512 bytes) of device memory were never freed by cudaFree; ...", or "".
std::string describe_leaks();

/// For the OS thread that is about to run a kernel: where its thread_local variables lie.
void find_shared_arrays();
void make_dynamic_shared(const void* kernel, std::size_t bytes);
/// A block starts: its shared arrays do not exist yet, and its dynamic shared memory is unwritten.
void forget_shared();

/// A tile placed in dynamic shared memory, from `offset` on. It is kept in shared_tiles, away from
/// the others.
struct Tile {
    std::size_t offset, bytes;
    std::uintptr_t at;
};

/// The shared memory of a block that waits for others: what its arrays hold, and what is known of
/// their bytes.
struct SharedImage {
    std::vector<Extent> arrays;  // the dynamic part is the last one
    std::vector<Tile> tiles;
    std::vector<std::uint8_t> bytes, states;
};
SharedImage save_shared();
void restore_shared(const SharedImage& image);

/// Bytes of device memory that all belong to one live allocation?
bool is_device_range(const void* pointer, std::size_t bytes);
/// Host code (a copy, cudaMemset) wrote device memory.
void mark_written(const void* pointer, std::size_t bytes);
/// A launch was stopped: what it should have written into today's allocations may be missing there,
/// and is no mistake of who reads it.
void excuse_unwritten();
bool is_excused(std::uintptr_t address);
/// Words whose bytes were told apart are words again, if all of a word is meant.
void forget_splits(const void* pointer, std::size_t bytes);

/// The allocation, live or freed, that holds this address or is nearest to it.
Extent nearest_allocation(std::uintptr_t address);
/// Where it was allocated.
Place allocated_in(const Extent& allocation);
Extent dynamic_extent();
Extent nearest_shared_array(std::uintptr_t address);

/// "element 1000 of an allocation of 4000 bytes, one past its end", as far as can be said of an
/// address of this region that is not live.
std::string describe_outside(const Region& region, std::uintptr_t address, std::size_t bytes);
/// "byte 16 of an allocation of 4000 bytes", of one that is.
std::string describe_inside(const Region& region, std::uintptr_t address, std::size_t bytes);

/// "at element 4294967295 of ...", if a 32-bit unsigned index just below 0 leads to this address;
/// else "".
std::string describe_wrapped(std::uintptr_t address, std::size_t bytes);

/// No memory that the program knows of: not mapped, or of the emulator's own.
bool is_nobodys(std::uintptr_t address);

/// The variable that holds this address; not live if there is none.
Extent device_variable_at(std::uintptr_t address);
/// The first launch: all variables have been registered.
void find_device_variables();
/// Read-only data of the program, which kernels may read.
bool is_constant_data(std::uintptr_t address);

}  // namespace sixdays::emulator
