/// @file
/// Who read a word, beyond the two readers that its history holds (race.hpp). A writer may be in
/// order with those two and not with a third: two of three streams were waited for, or two of three
/// warps have said through memory that they are done.
#pragma once

#include <cstdint>
#include <vector>

#include "common/emulator/runtime/clocks.hpp"

namespace sixdays::emulator {

struct Region;

/// May a write be out of order with this reader alone? Not where barriers of the block are all that
/// orders threads of this launch: then it is out of order with others too.
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
/// Somebody writes there.
void forget_readers(Region& region, std::uintptr_t piece);
/// A word's bytes get histories of their own.
void split_readers(Region& region, std::uintptr_t word);
/// Work begins that all earlier work came before.
void forget_all_readers();

}  // namespace sixdays::emulator
