/// @file
/// Asynchronous copies, as seen by the rest of the emulator.
#pragma once

#include <cstdint>
#include <memory>

#include "common/emulator/machine/aside.hpp"
#include "common/emulator/machine/facts.hpp"

namespace sixdays::emulator {

/// A block starts with nothing in flight.
void forget_copies();
void forget_mbarriers();
bool has_mbarriers();  // has this block initialized any?
void forget_wgmma();
void forget_tile_stores();

/// A block stops to wait for others, or resumes: swaps its copies in flight with the saved ones,
/// which are initially empty.
void exchange_copies(std::shared_ptr<void>& aside);
void exchange_mbarriers(std::shared_ptr<void>& aside);
void exchange_wgmma(std::shared_ptr<void>& aside);
void exchange_tile_stores(std::shared_ptr<void>& aside);
void exchange_locals(std::shared_ptr<void>& aside);

/// The copy in flight to this address of shared memory.
CopyTo copy_to(std::uintptr_t address);
CopyTo tile_to(std::uintptr_t address);

/// At the end of a block: reports tile stores that were never waited for.
void judge_tile_stores();

/// True while the copy engine, not a thread, writes a tile.
extern bool fills_tile;

/// Deadlock: reports threads that wait for an mbarrier, or for their warpgroup.
bool report_waiting_for_mbarriers();
bool report_waiting_for_wgmma();

}  // namespace sixdays::emulator
