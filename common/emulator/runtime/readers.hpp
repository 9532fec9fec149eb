/// @file
/// The readers of a word beyond the two that its history holds (race.hpp). A writer may be ordered
/// after those two and not after a third: it waited for two of three streams, or two of three warps
/// have signaled through memory that they are done.
#pragma once

#include <cstdint>
#include <vector>

#include "common/emulator/runtime/clocks.hpp"

namespace sixdays::emulator {

struct Region;

/// Can a write be concurrent with this reader alone? Not where only barriers of the block order the
/// threads of this launch: then it is concurrent with others too.
inline bool may_be_the_only_one(const PastAccess& reader) {
    return reader.serial != 0 &&
           (reader.serial < clocks.first_serial || clocks.orders_beyond_barriers);
}

/// Keeps the reader of the piece of memory that begins at this address. Of those that are kept,
/// whoever came before the current access is forgotten, for that is kept too.
/// @param since  as for came_before()
void keep_reader(Region& region, std::uintptr_t piece, const PastAccess& reader,
                 std::uint32_t since);
/// The same at a copy, when no thread runs.
void keep_reader_of_work(Region& region, std::uintptr_t piece, const PastAccess& reader);
/// Those that were kept.
std::vector<PastAccess> more_readers(const Region& region, std::uintptr_t piece);
/// This thread's reads there made no difference.
void forget_reader(const Region& region, std::uintptr_t piece, const PastAccess& reader);
/// A write happens there.
void forget_readers(Region& region, std::uintptr_t piece);
/// The bytes of a word get their own histories.
void split_readers(Region& region, std::uintptr_t word);
/// Work begins that all earlier work came before.
void forget_all_readers();

}  // namespace sixdays::emulator
