#include "common/emulator/machine/order.hpp"

#include <algorithm>
#include <numeric>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/report.hpp"

namespace sixdays::emulator {

namespace {

Order order = Order::forward;
std::uint64_t seed = 0;
std::uint64_t first_block = 0, most_blocks = UINT64_MAX;  // set by only_blocks()
std::uint64_t first_of_launch, blocks_of_launch;

// splitmix64: a small generator that gives the same sequence on every machine.
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

}  // namespace

void set_order(Order new_order, std::uint64_t new_seed) {
    order = new_order;
    seed = new_seed;
}

void order_threads(unsigned size) {
    std::vector<unsigned>& ids = block.order;
    ids.resize(size);
    std::iota(ids.begin(), ids.end(), 0u);
    if (order == Order::reversed) std::reverse(ids.begin(), ids.end());
    if (order == Order::shuffled) {
        for (unsigned i = size; i > 1; --i) std::swap(ids[i - 1], ids[mix(seed + i) % i]);
    }
    for (auto& lanes : block.lane_order) lanes.clear();
    for (const unsigned id : ids) block.lane_order[id / kWarp].push_back(id % kWarp);
}

std::uint64_t block_of_turn(std::uint64_t turn, std::uint64_t count) {
    if (order == Order::forward) return turn;
    if (order == Order::reversed) return count - 1 - turn;
    // A step coprime to the count visits every block exactly once.
    std::uint64_t step = mix(seed) % count | 1;
    while (std::gcd(step, count) != 1) step += 2;
    return (turn * (step % count) + mix(seed + 1) % count) % count;
}

std::uint64_t choose_blocks(std::uint64_t count) {
    first_of_launch = std::min(first_block, count);
    return blocks_of_launch = std::min(most_blocks, count - first_of_launch);
}

uint3 index_of_block(std::uint64_t turn) {
    const std::uint64_t id = first_of_launch + block_of_turn(turn, blocks_of_launch);
    const dim3 grid = block.grid;
    return {static_cast<unsigned>(id % grid.x), static_cast<unsigned>(id / grid.x % grid.y),
            static_cast<unsigned>(id / grid.x / grid.y)};
}

void only_blocks(std::uint64_t first, std::uint64_t count) {
    first_block = first;
    most_blocks = count;
}

}  // namespace sixdays::emulator
