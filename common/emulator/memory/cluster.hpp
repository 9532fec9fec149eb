/// @file
/// Clusters: blocks that run together and access each other's shared memory.
///
/// They still run one after another, each up to the next barrier of its cluster (cooperative.cpp).
/// While a block waits there, its shared memory is in its *window*, which map_shared_rank() points
/// to. The window holds the history of each word, for the block's own accesses too, so that there
/// is one history whichever block accesses it.
#pragma once

#include <cstdint>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

constexpr unsigned kMostOfCluster = 16;

extern Region cluster_memory;

/// Number of blocks of block.cluster.
unsigned size_of_cluster();
/// A cluster of that size starts; with size 1, the launch has ended.
void begin_cluster();
/// The running block stops at a barrier of its cluster; it resumes; it has ended.
void show_to_cluster(const SharedImage& image);
void take_from_cluster(SharedImage& image);
void leave_cluster();

/// For histories: from the block's own shared memory to its window, and back. Other addresses stay.
std::uintptr_t in_window(std::uintptr_t address);
std::uintptr_t out_of_own_window(std::uintptr_t address);
/// The block that owns a window address, and the address in its own shared memory.
struct OfBlock {
    unsigned rank;
    const Region* region;
    std::uintptr_t address;
};
OfBlock of_block(std::uintptr_t window_address);

/// The current thread accesses a window: reports it if that block may not be running.
void check_reach(std::uintptr_t address, const void* code);

/// A block starts or resumes; and the blockIdx of the block that had this serial number.
void note_turn_of_cluster(const uint3& index);
uint3 index_of_serial(std::uint32_t serial);

}  // namespace sixdays::emulator
