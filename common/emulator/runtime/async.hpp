/// @file
/// Asynchronous copies, as the rest of the runtime sees them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace sixdays::emulator {

/// A block starts: what was in flight no longer is.
void forget_copies();
void forget_mbarriers();
bool has_mbarriers();  // has this block set one up?
void forget_wgmma();

/// A block stops to wait for others, or continues: swaps what it has in flight for what was put
/// aside, at first nothing.
void exchange_copies(std::shared_ptr<void>& aside);
void exchange_mbarriers(std::shared_ptr<void>& aside);
void exchange_wgmma(std::shared_ptr<void>& aside);
void exchange_locals(std::shared_ptr<void>& aside);
template <class State>
void exchange(State& now, std::shared_ptr<void>& aside) {
    if (now.empty() && !aside) return;
    if (!aside) aside = std::make_shared<State>();
    std::swap(now, *static_cast<State*>(aside.get()));
}

/// The copy that is on its way to this address of shared memory.
struct CopyTo {
    unsigned thread = 0;         // its id in the block
    const void* code = nullptr;  // where it was started; null if there is none
    bool overwrites = false;     // something that the block had written there before
    bool is_tile = false;        // one that ends with an mbarrier
};
CopyTo copy_to(std::uintptr_t address);
CopyTo tile_to(std::uintptr_t address);

/// The access that is being made is the copy engine's, for a tile.
extern bool fills_tile;

/// No thread can continue: reports threads that wait for an mbarrier, or for their warpgroup.
bool report_waiting_for_mbarriers();
bool report_waiting_for_wgmma();

}  // namespace sixdays::emulator
