#include "common/emulator/libraries/exchange.hpp"

#include <cstring>

#include "common/emulator/machine/aside.hpp"
#include "common/emulator/machine/block.hpp"
#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

namespace {

/// Double-buffered per warp: a lane reaches the exchange after the next only when all lanes have
/// reached the next one, and then all have finished reading this one.
struct Shown {
    unsigned char bytes[kMaxThreads / kWarp][2][kWarp][kMostShown];
    unsigned char turn[kMaxThreads];
};

std::unique_ptr<Shown>& shown_by_block() {
    static auto& shown = *new std::unique_ptr<Shown>;  // used until the program ends
    if (!shown) shown = std::make_unique<Shown>();
    return shown;
}

}  // namespace

void exchange_shown(std::shared_ptr<void>& aside) {
    exchange(shown_by_block(), aside);
}

const unsigned char* exchange(const void* mine, std::size_t bytes, Site site) {
    {
        const InRuntime guard;
        const unsigned in_warp = block.size - current->warp() * kWarp;
        if (in_warp < kWarp || block.live_lanes[current->warp()] != ~0u) {
            fail({Kind::warp_call, cudaErrorLaunchFailure, site,
                  format("%s: all 32 lanes of a warp must execute this instruction together, but "
                         "this warp has %d.",
                         name(*current).c_str(),
                         __builtin_popcount(block.live_lanes[current->warp()]))});
        }
    }
    Shown& shown = *shown_by_block();
    auto& table = shown.bytes[current->warp()][shown.turn[current->id] ^= 1];
    std::memcpy(table[current->lane()], mine, bytes);
    warp_call(WarpCall::sync, ~0u, 0, 0, 32, site);
    return table[0];
}

}  // namespace sixdays::emulator
