#include <cstring>
#include <vector>

#include "common/emulator/checks/async.hpp"
#include "common/emulator/checks/copy_groups.hpp"
#include "common/emulator/checks/proxy.hpp"
#include "common/emulator/checks/tile_chunks.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/mbarrier.hpp"
#include "common/emulator/memory/access.hpp"
#include "emulated/ptx.h"

namespace sixdays::emulator {

namespace {

struct TileStore {
    TileMap map;
    std::int64_t row, column;
    const unsigned char* from;
    std::vector<unsigned char> source;  // its contents when the store was started
    const void* code;
    int group = -1;  // -1: not committed yet
};

CopyGroups<TileStore> tile_stores;

// The engine may have read the tile at any time before the wait.
void land(const TileStore& store, const void* wait) {
    access_by_thread(store.from, store.source.size(), AccessKind::read, wait);
    if (std::memcmp(store.from, store.source.data(), store.source.size()) != 0) {
        fail(ChangedSource{reinterpret_cast<std::uintptr_t>(store.from), store.source.size(), wait,
                           store.code});
    }
    for_each_chunk(store.map, 0, store.row, store.column,
                   [&](std::size_t at, const unsigned char* element, std::size_t) {
                       if (element == nullptr) return;
                       // As an H200 does: the whole chunk, even if its last elements are outside.
                       auto* const to = const_cast<unsigned char*>(element);
                       access_by_thread(to, kChunkBytes, AccessKind::write, store.code);
                       std::memcpy(to, store.source.data() + at, kChunkBytes);
                   });
}

}  // namespace

void store_tile(const TileMap& map, std::int64_t row, std::int64_t column, const void* shared,
                Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    const Place place(site, __builtin_return_address(0));
    const auto* const from = static_cast<const unsigned char*>(shared);
    const auto address = reinterpret_cast<std::uintptr_t>(shared);
    if (!is_shared_address(from) || address % 1024 != 0)
        fail(WrongCopy{WrongCopy::What::place_of_stored_tile, place, address});
    const std::size_t bytes = bytes_of_tile(map);
    for (std::size_t at = 0; at < bytes; at += kChunkBytes) {
        access_by_thread(from + at, kChunkBytes, AccessKind::read, place.code);
        check_seen_by_proxy(from + at, kChunkBytes, place);
    }
    tile_stores.start({map, row, column, from, {from, from + bytes}, place.code});
}

void store_commit() {
    if (current != nullptr) tile_stores.commit();
}

void store_wait(int groups) {
    if (current == nullptr) return;
    const InRuntime guard;
    const void* const wait = __builtin_return_address(0);
    tile_stores.wait(groups, [wait](const TileStore& store) { land(store, wait); });
}

void judge_tile_stores() {
    tile_stores.for_each([](unsigned id, const TileStore& store) {
        if (!launch_failed()) note(UnwaitedStore{&block.threads[id], store.code});
    });
}

void forget_tile_stores() {
    tile_stores.clear();
}

void exchange_tile_stores(std::shared_ptr<void>& aside) {
    exchange(tile_stores, aside);
}

}  // namespace sixdays::emulator
