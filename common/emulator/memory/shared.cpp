/// @file
/// Shared memory: the arrays that kernels declare, and the dynamic buffer.
#include <link.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/emulator/machine/address_space.hpp"
#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/memory/memory.hpp"
#include "emulated/ptx.h"

namespace sixdays::emulator {

Region shared_arrays;
Region shared_dynamic;
Region shared_tiles;

// Dynamic shared memory has a fixed address and a symbol: `extern __shared__ float tile[];` at file
// scope is an alias of it.
static constexpr std::size_t kGuard = 64 * 1024;  // on both sides
extern "C" {
alignas(4096) unsigned char sixdays_dynamic_memory[kGuard + kDynamicSharedLimit + kGuard];
}
asm(".globl sixdays_dynamic_shared\n.set sixdays_dynamic_shared, sixdays_dynamic_memory + 65536");

namespace {

std::vector<Extent> arrays;   // opened by this block, and its tiles
std::size_t array_bytes = 0;  // of the arrays

std::vector<Tile> tiles;
constexpr std::size_t kTileGap = 4096;
constexpr std::size_t kMostTiles = 256;
constexpr std::size_t kTileArea = 2 * kDynamicSharedLimit + kMostTiles * kTileGap;
Extent dynamic;
std::size_t limit;  // on the kernel's dynamic shared memory

std::uintptr_t number(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p);
}

// Room for any offset in the first page: the base differs between OS threads.
std::size_t bytes_of_tables(const Region& region) {
    return (region.size + 8191) / 4096 * 4096;
}

}  // namespace

// Shared arrays are thread_local variables of the program, so their address depends on the OS
// thread that runs the kernel. The first object in the list is the program itself.
void find_shared_arrays() {
    Extent found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
                *static_cast<Extent*>(data) = {number(info->dlpi_tls_data),
                                               info->dlpi_phdr[i].p_memsz, true};
            }
            return 1;
        },
        &found);
    Region& region = shared_arrays;
    const std::uintptr_t base = found.begin / 16 * 16;
    if (shared_arrays.state != nullptr)
        forget_shared();  // left by the last launch, maybe on another OS thread
    region.space = Space::shared;
    region.base = base;
    region.size = found.begin + found.bytes - base;
    if (region.state == nullptr && region.size > 0) {
        give_tables(region, bytes_of_tables(region), "the state of shared memory");
    }
}

void open_shared_array(const volatile void* pointer, std::size_t bytes, const char* name,
                       Site site) {
    const void* array = const_cast<const void*>(pointer);
    if (current == nullptr) return;
    const InRuntime guard;
    std::uint8_t* state = shared_arrays.state_of(number(array));
    if ((*state & kLive) != 0) return;  // another thread has opened it
    std::memset(state, kLive, bytes);
    arrays.push_back({number(array), bytes, true, name});
    array_bytes += bytes;
    // The limit set by cudaFuncSetAttribute applies to the dynamic part alone.
    const std::size_t all = limit > kStaticSharedLimit ? kDynamicSharedLimit : kStaticSharedLimit;
    if (array_bytes > kStaticSharedLimit || array_bytes + dynamic.bytes > all)
        fail(TooMuchShared{array_bytes, dynamic.bytes, site});
}

void* cut_shared_tile(const void* pointer, std::size_t bytes, Site site) {
    void* const plain = const_cast<void*>(pointer);
    const std::size_t offset = number(pointer) - dynamic.begin;
    if (current == nullptr || number(pointer) - shared_dynamic.base >= shared_dynamic.size)
        return plain;
    const InRuntime guard;
    if (offset + bytes > dynamic.bytes) fail(TileTooLarge{bytes, offset, dynamic.bytes, site});
    for (const Tile& tile : tiles) {
        if (tile.offset == offset && tile.bytes == bytes) return reinterpret_cast<void*>(tile.at);
    }
    // Keeps the offset modulo 1024, so that banks and Hopper's swizzle are the same as on a GPU.
    const std::uintptr_t after =
        tiles.empty() ? shared_tiles.base : tiles.back().at + tiles.back().bytes;
    const std::uintptr_t at = (after + kTileGap) / 1024 * 1024 + offset % 1024;
    if (at + bytes + kTileGap > shared_tiles.base + shared_tiles.size) return plain;
    tiles.push_back({offset, bytes, at});
    arrays.push_back({at, bytes, true});
    std::memset(shared_tiles.state_of(at), kLive, bytes);
    return reinterpret_cast<void*>(at);
}

void make_dynamic_shared(std::size_t bytes, std::size_t limit_of_kernel) {
    Region& region = shared_dynamic;
    if (region.size == 0) {
        region.space = Space::shared;
        region.size = kGuard + kDynamicSharedLimit + kGuard;
        region.base = number(sixdays_dynamic_memory);
        give_tables(region, region.size, "the state of shared memory");
        shared_tiles = {Space::shared, number(reserve(kTileArea, "tiles of shared memory")),
                        kTileArea};
        give_tables(shared_tiles, kTileArea, "the state of shared memory");
    }
    limit = limit_of_kernel;
    dynamic = {region.base + kGuard, bytes, true};
    std::memset(region.state, 0, region.size);
}

void forget_shared() {
    for (const Extent& array : arrays) {
        Region& region = shared_tiles.contains(array.begin) ? shared_tiles : shared_arrays;
        std::memset(region.state_of(array.begin), 0, array.bytes);
    }
    arrays.clear();
    tiles.clear();
    array_bytes = 0;
    std::memset(shared_dynamic.state_of(dynamic.begin), kLive, dynamic.bytes);
}

// A 32-bit shared address: one of the three regions and the offset in it, or an offset in the
// cluster's windows.
constexpr std::uint32_t kSharedWindow = 0xf0000000u, kWindow = 1u << 24;
constexpr std::uint32_t kClusterWindow = kSharedWindow + 3 * kWindow;

std::uint32_t to_shared_space(const void* generic) {
    if (in_cluster && cluster_memory.contains(number(generic)))
        return kClusterWindow + static_cast<std::uint32_t>(number(generic) - cluster_memory.base);
    for (std::uint32_t i = 0; i < 3; ++i) {
        const Region& region = *kSharedRegions[i];
        if (!region.contains(number(generic))) continue;
        // Keeps the position within a row of 128 bytes.
        const auto offset = static_cast<std::uint32_t>(number(generic) - region.base);
        return kSharedWindow + i * kWindow + static_cast<std::uint32_t>(region.base % 128) + offset;
    }
    return 0;
}

void* from_shared_space(std::uint32_t address) {
    if (address < kSharedWindow || (address >= kClusterWindow && !in_cluster)) {
        return reinterpret_cast<void*>(std::uintptr_t{address});
    }
    if (address >= kClusterWindow) {
        return reinterpret_cast<void*>(cluster_memory.base + (address - kClusterWindow));
    }
    const Region& region = *kSharedRegions[(address - kSharedWindow) / kWindow];
    return reinterpret_cast<void*>(region.base - region.base % 128 +
                                   (address - kSharedWindow) % kWindow);
}

bool is_shared_address(const void* p) {
    return std::any_of(std::begin(kSharedRegions), std::end(kSharedRegions),
                       [p](const Region* region) { return region->contains(number(p)); });
}
bool is_global_address(const void* p) {
    return heap.contains(number(p)) || variables.contains(number(p));
}

static Region& region_of_array(const Extent& array) {
    return shared_tiles.contains(array.begin)     ? shared_tiles
           : shared_dynamic.contains(array.begin) ? shared_dynamic
                                                  : shared_arrays;
}

SharedImage save_shared() {
    SharedImage image{arrays, tiles, {}, {}};
    image.arrays.push_back(dynamic);
    for (const Extent& array : image.arrays) {
        const auto* begin = reinterpret_cast<const std::uint8_t*>(array.begin);
        const std::uint8_t* state = region_of_array(array).state_of(array.begin);
        image.bytes.insert(image.bytes.end(), begin, begin + array.bytes);
        image.states.insert(image.states.end(), state, state + array.bytes);
    }
    return image;
}

void restore_shared(const SharedImage& image) {
    forget_shared();
    arrays.assign(image.arrays.begin(), image.arrays.end() - 1);
    tiles = image.tiles;
    std::size_t at = 0;
    for (const Extent& array : image.arrays) {
        std::memcpy(reinterpret_cast<void*>(array.begin), image.bytes.data() + at, array.bytes);
        std::memcpy(region_of_array(array).state_of(array.begin), image.states.data() + at,
                    array.bytes);
        at += array.bytes;
    }
    for (const Extent& array : arrays)
        array_bytes += shared_tiles.contains(array.begin) ? 0 : array.bytes;
}

namespace {

/// Tables for the histories of the three regions, of words and of bytes.
using Histories = std::array<std::pair<History*, History*>, 3>;
std::vector<Histories> unused;  // by blocks that have ended

Histories histories() {
    Histories all;
    if (!unused.empty()) {
        all = unused.back();
        unused.pop_back();
        return all;
    }
    const auto reserved = [](std::size_t count) {
        return static_cast<History*>(
            reserve(count * sizeof(History), "the state of shared memory"));
    };
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t bytes = bytes_of_tables(*kSharedRegions[i]);
        all[i] = {reserved(bytes / 4), reserved(bytes)};
    }
    return all;
}

}  // namespace

void exchange_histories(std::shared_ptr<void>& aside) {
    const auto give_back = [](Histories* all) {
        unused.push_back(*all);
        delete all;
    };
    if (!aside) aside = std::shared_ptr<Histories>(new Histories(histories()), give_back);
    Histories& saved = *static_cast<Histories*>(aside.get());
    for (std::size_t i = 0; i < 3; ++i) {
        std::swap(kSharedRegions[i]->words, saved[i].first);
        std::swap(kSharedRegions[i]->bytes, saved[i].second);
    }
}

void* dynamic_shared_memory() noexcept {
    return reinterpret_cast<void*>(dynamic.begin);
}

Extent dynamic_extent() {
    return dynamic;
}

Extent nearest_shared_array(std::uintptr_t address) {
    const auto distance = [address](const Extent& e) {
        const std::uintptr_t end = e.begin + e.bytes;
        return address < e.begin ? e.begin - address : address < end ? 0 : address - end;
    };
    const auto nearest = std::min_element(
        arrays.begin(), arrays.end(),
        [&](const Extent& a, const Extent& b) { return distance(a) < distance(b); });
    return nearest == arrays.end() ? Extent{} : *nearest;
}

}  // namespace sixdays::emulator
