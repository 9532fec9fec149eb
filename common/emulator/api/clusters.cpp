/// @file
/// A launch in clusters: checks whether a GPU would accept their size, then runs one cluster after
/// another (cooperative.cpp).
#include <utility>
#include <vector>

#include "common/emulator/api/api.hpp"
#include "common/emulator/machine/order.hpp"
#include "common/emulator/memory/cluster.hpp"
#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

namespace {

// Why a GPU would reject this cluster size; empty if it would not.
std::string why_no_cluster(const Launch& what, dim3 c) {
    if (what.cooperative)
        return "the emulator does not support launches that are both cooperative and in clusters.";
    const unsigned size = c.x * c.y * c.z, most = most_of_cluster(what.address);
    if (size == 0) {
        return format(
            "a cluster of %s has no blocks: x, y and z of clusterDim must each be at least 1.",
            name(c).c_str());
    }
    if (block.grid.x % c.x != 0 || block.grid.y % c.y != 0 || block.grid.z % c.z != 0) {
        return format(
            "grid %s is not a multiple of the cluster size %s. Round the grid up, and let blocks "
            "that have nothing to do still reach the barriers.",
            name(block.grid).c_str(), name(c).c_str());
    }
    if (size > most) {
        return format("a cluster of %s has %u blocks. It may have up to %u%s.", name(c).c_str(),
                      size, most,
                      most < kMostOfCluster ? ", and up to 16 after cudaFuncSetAttribute(kernel, "
                                              "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)"
                                            : "");
    }
    return "";
}

}  // namespace

void run_clusters(const Launch& what, dim3 c) {
    if (const std::string why = why_no_cluster(what, c); !why.empty())
        return reject(what, why, cudaErrorInvalidClusterSize);
    block.cluster = c;
    const unsigned size = size_of_cluster();
    const dim3 of = {block.grid.x / c.x, block.grid.y / c.y, block.grid.z / c.z};
    const std::uint64_t count = std::uint64_t{of.x} * of.y * of.z;
    for (std::uint64_t turn = 0; turn < count && !launch_failed(); ++turn) {
        const std::uint64_t at = block_of_turn(turn, count);
        const uint3 first = {static_cast<unsigned>(at % of.x) * c.x,
                             static_cast<unsigned>(at / of.x % of.y) * c.y,
                             static_cast<unsigned>(at / of.x / of.y) * c.z};
        std::vector<uint3> blocks;
        for (unsigned i = 0; i < size; ++i) {
            const auto rank = static_cast<unsigned>(block_of_turn(i, size));
            blocks.push_back(
                {first.x + rank % c.x, first.y + rank / c.x % c.y, first.z + rank / c.x / c.y});
        }
        begin_cluster();
        run_together(what, blocks,
                     {.returned = turn * size, .unstarted = (count - turn - 1) * size});
        if (const auto w = std::exchange(block.wanted_cluster, std::nullopt)) {
            reject(
                what,
                format("the launch asks for clusters of %s, but the kernel has __cluster_dims__%s.",
                       name(c).c_str(), name(*w).c_str()),
                cudaErrorInvalidClusterSize);
        }
    }
    block.cluster = {};
    begin_cluster();
}

}  // namespace sixdays::emulator
