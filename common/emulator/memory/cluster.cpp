#include "common/emulator/memory/cluster.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "common/emulator/machine/address_space.hpp"
#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/order.hpp"
#include "common/emulator/machine/publish.hpp"
#include "emulated/ptx.h"

namespace sixdays::emulator {

Region cluster_memory;

namespace {

constexpr std::size_t kPage = 4096;
static_assert(kMostOfCluster * kMaxThreads <= kMaxFibers);

/// What the other blocks know of one block of the cluster.
struct Member {
    bool has_ended = false;
    std::vector<Extent> shown;  // its shared memory
    // Barriers that another block had passed when it accessed this one's memory; which, and where.
    int reached_after = -1;
    Place reached_in;
    Who by{};
};
std::array<Member, kMostOfCluster> members;
std::vector<uint3> turns;  // of this launch, by serial number

// Leaves room for any offset in the first page: the base differs between OS threads.
std::size_t room_of(const Region& part) {
    return (part.size + 2 * kPage) / kPage * kPage;
}
std::size_t window_bytes() {
    std::size_t sum = 0;
    for (const Region* part : kSharedRegions) sum += room_of(*part);
    return sum;
}

std::uintptr_t window_of(unsigned rank) {
    return cluster_memory.base + rank * window_bytes();
}

unsigned rank_of(const uint3& index) {
    const dim3 c = block.cluster;
    return index.x % c.x + c.x * (index.y % c.y + c.y * (index.z % c.z));
}

std::uintptr_t in_window_of(unsigned rank, std::uintptr_t address) {
    std::uintptr_t at = window_of(rank);
    for (const Region* part : kSharedRegions) {
        if (part->contains(address)) return at + part->base % kPage + (address - part->base);
        at += room_of(*part);
    }
    return address;
}

void make_windows() {
    if (cluster_memory.size != 0) return;
    cluster_memory.space = Space::shared;
    cluster_memory.size = kMostOfCluster * window_bytes();
    cluster_memory.base =
        reinterpret_cast<std::uintptr_t>(reserve(cluster_memory.size, "clusters"));
    give_tables(cluster_memory, cluster_memory.size, "the state of clusters");
}

using Why = OutOfReach::Why;

}  // namespace

unsigned size_of_cluster() {
    const dim3 c = block.cluster;
    return c.x * c.y * c.z;
}

void begin_cluster() {
    for (unsigned rank = 0; rank < kMostOfCluster; ++rank) {
        for (const Extent& part : members[rank].shown) {
            std::memset(cluster_memory.state_of(in_window_of(rank, part.begin)), 0, part.bytes);
        }
        members[rank] = {};
    }
    in_cluster = size_of_cluster() > 1;
    forget_knowledge_of_cluster(cluster_memory.base, cluster_memory.size);
    clocks.first_of_cluster = clocks.first_of_segment = in_cluster ? clocks.serial + 1 : 0;
    if (in_cluster) make_windows();
    if (!in_cluster) turns.clear();
}

void show_to_cluster(const SharedImage& image) {
    const unsigned rank = rank_of(block.index);
    std::size_t at = 0;
    for (const Extent& part : image.arrays) {
        const std::uintptr_t to = in_window_of(rank, part.begin);
        std::memcpy(reinterpret_cast<void*>(to), image.bytes.data() + at, part.bytes);
        std::uint8_t* state = cluster_memory.state_of(to);
        for (std::size_t i = 0; i < part.bytes; ++i)  // histories belong to the window
            state[i] = static_cast<std::uint8_t>(image.states[at + i] |
                                                 (state[i] & (kSplit | kMoreReaders)));
        at += part.bytes;
    }
    members[rank].shown = image.arrays;
}

void take_from_cluster(SharedImage& image) {
    const unsigned rank = rank_of(block.index);
    image = {members[rank].shown, std::move(image.tiles), {}, {}};
    for (const Extent& part : image.arrays) {
        const std::uintptr_t from = in_window_of(rank, part.begin);
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
        const std::uint8_t* states = cluster_memory.state_of(from);
        image.bytes.insert(image.bytes.end(), bytes, bytes + part.bytes);
        image.states.insert(image.states.end(), states, states + part.bytes);
    }
}

void leave_cluster() {
    Member& me = members[rank_of(block.index)];
    me.has_ended = true;
    if (me.reached_after < block.cluster_barriers) return;
    note(OutOfReach{Why::may_have_ended, me.reached_in, 0, 0, 0, me.by});
}

std::uintptr_t in_window(std::uintptr_t address) {
    return in_window_of(rank_of(block.index), address);
}

std::uintptr_t out_of_own_window(std::uintptr_t address) {
    if (!in_cluster || !cluster_memory.contains(address)) return address;
    const OfBlock of = of_block(address);
    return of.rank == rank_of(block.index) ? of.address : address;
}

OfBlock of_block(std::uintptr_t address) {
    const auto rank = static_cast<unsigned>((address - cluster_memory.base) / window_bytes());
    std::uintptr_t at = window_of(rank);
    for (const Region* part : kSharedRegions) {
        if (address - at < room_of(*part))
            return {rank, part, part->base + (address - at - part->base % kPage)};
        at += room_of(*part);
    }
    return {rank, &shared_arrays, 0};
}

void check_reach(std::uintptr_t address, const void* code) {
    const OfBlock of = of_block(address);
    const unsigned rank = of.rank, own = rank_of(block.index);
    Member& other = members[rank];
    if (rank == own) fail(OutOfReach{Why::own_block, code, rank});
    if (block.cluster_barriers == 0) fail(OutOfReach{Why::not_started, code, rank});
    if (other.has_ended) fail(OutOfReach{Why::has_ended, code, rank});
    other.reached_after = std::max(block.cluster_barriers, current->arrived_at_cluster + 1);
    other.reached_in = code;
    other.by = {current->index, block.index};
    // An array exists from its block's start, even before the block reaches the declaration.
    const Extent array = nearest_shared_array(of.address);
    if (of.region != &shared_arrays || of.address - array.begin >= array.bytes) return;
    std::uint8_t* const states = cluster_memory.state_of(in_window_of(rank, array.begin));
    if ((*states & kLive) != 0) return;
    std::memset(states, kLive, array.bytes);
    other.shown.insert(other.shown.end() - 1, array);  // keep the dynamic part last
}

void note_turn_of_cluster(const uint3& index) {
    turns.resize(clocks.serial + 1 - clocks.first_serial);
    turns.push_back(index);
}

uint3 index_of_serial(std::uint32_t serial) {
    const std::size_t turn = serial - clocks.first_serial;
    return turn < turns.size() ? turns[turn] : index_of_block(turn);
}

// --- what kernels call ---------------------------------------------------------------------------

void cluster_of(unsigned x, unsigned y, unsigned z) {
    const dim3 has = block.cluster;
    if (current == nullptr || (has.x == x && has.y == y && has.z == z)) return;
    const InRuntime guard;
    block.wanted_cluster = dim3(x, y, z);
    wait_for_turn();  // the launch restarts with the cluster size
}

void* cluster_address(const void* pointer, unsigned rank, Site site) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (current == nullptr) return nullptr;
    const InRuntime guard;
    const bool mapped = in_cluster && cluster_memory.contains(address);
    const std::uintptr_t own = mapped ? of_block(address).address : address;
    if (rank >= size_of_cluster())
        fail(OutOfReach{Why::no_such_block, site, rank, size_of_cluster()});
    if (!is_shared_address(reinterpret_cast<const void*>(own)))
        fail(OutOfReach{Why::not_shared, site, rank, size_of_cluster(), own});
    if (rank == rank_of(block.index)) return reinterpret_cast<void*>(own);
    return reinterpret_cast<void*>(in_window_of(rank, own));
}

unsigned cluster_rank_of(const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return in_cluster && cluster_memory.contains(address) ? of_block(address).rank
                                                          : rank_of(block.index);
}

dim3 cluster_extents() {
    return block.cluster;
}

void cluster_arrive(Site site) {
    if (current == nullptr) return;
    const InRuntime guard;
    if (current->arrived_at_cluster >= 0)
        fail(WrongArrival{WrongArrival::What::arrives_twice, site});
    current->arrived_at_cluster = block.cluster_barriers;
}

}  // namespace sixdays::emulator
