/// @file
/// Clusters: blocks that run together and access each other's shared memory.
///
/// They still run one after another, each up to the next barrier of its cluster (cooperative.cpp).
/// While a block waits there, its shared memory is in its *window*, where map_shared_rank() points.
/// A word's history is always the window's, also for the block's own accesses: so each word has one
/// history, whichever block accesses it.
#pragma once

#include <cstdint>

#include "common/emulator/runtime/block.hpp"
#include "common/emulator/runtime/memory.hpp"

namespace sixdays::emulator {

constexpr unsigned kMostOfCluster = 16;

/// The windows; and whether the block that runs is one of several of a cluster.
extern Region cluster_memory;
extern bool in_cluster;

/// Blocks, by block.cluster.
unsigned size_of_cluster();
/// A cluster of that size starts, or (1) the launch has ended.
void begin_cluster();
/// The block that runs stops at a barrier of its cluster; it goes on; it has ended.
void show_to_cluster(const SharedImage& image);
void take_from_cluster(SharedImage& image);
void leave_cluster();

/// For histories: an address of the block's own shared memory in its window, and back. Others stay.
std::uintptr_t in_window(std::uintptr_t address);
std::uintptr_t out_of_own_window(std::uintptr_t address);
/// Which block's, and where in its own shared memory.
struct OfBlock {
    unsigned rank;
    const Region* region;
    std::uintptr_t address;
};
OfBlock of_block(std::uintptr_t window_address);

/// The current thread touches a window: is that block surely at work?
void check_reach(std::uintptr_t address, const void* code);

/// A block begins or goes on; and blockIdx of the block that had this serial number.
void note_turn_of_cluster(const uint3& index);
uint3 index_of_serial(std::uint32_t serial);

}  // namespace sixdays::emulator
