/// @file
/// The readers of a word beyond the two in its history (history.hpp). A writer may be ordered after
/// those two and not after a third one: it waited for two of three streams, or two of three warps
/// have signaled through memory that they are done.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/emulator/machine/clocks.hpp"

namespace sixdays::emulator {

struct Region;

/// True if a write may be concurrent with this reader alone. Where only barriers of the block order
/// the threads of this launch, such a write is concurrent with other readers too.
inline bool may_be_the_only_one(const PastAccess& reader) {
    return reader.serial != 0 &&
           (reader.serial < clocks.first_serial || clocks.orders_beyond_barriers);
}

/// Keeps the reader of the piece at this address. Drops kept readers that came before the current
/// access, which is kept in their place.
/// @param since  as for came_before()
void keep_reader(Region& region, std::uintptr_t piece, const PastAccess& reader,
                 std::uint32_t since);
/// The same for a copy, when no thread runs.
void keep_reader_of_work(Region& region, std::uintptr_t piece, const PastAccess& reader);
/// The readers kept for this piece.
std::vector<PastAccess> more_readers(const Region& region, std::uintptr_t piece);
/// This thread's reads there turned out to be harmless.
void forget_reader(const Region& region, std::uintptr_t piece, const PastAccess& reader);
/// A write supersedes the readers.
void forget_readers(Region& region, std::uintptr_t piece);
/// The bytes of a word get separate histories.
void split_readers(Region& region, std::uintptr_t word);
/// A block that polls is put aside, or goes on: swaps the readers of its shared memory.
void exchange_readers(std::shared_ptr<void>& aside);
/// Work starts that is ordered after all earlier work.
void forget_all_readers();

}  // namespace sixdays::emulator
