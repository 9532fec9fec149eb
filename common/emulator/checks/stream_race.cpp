#include "common/emulator/checks/stream_race.hpp"

#include "common/emulator/machine/facts.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/memory/readers.hpp"

namespace sixdays::emulator {

void check_stream_order(const char* call, cudaStream_t stream, const Rows& rows, bool writes,
                        const Place& where) {
    begin_work(stream, call, where);
    if (clocks.first_concurrent > clocks.serial) forget_all_readers();
    const PastAccess me{++clocks.serial, 0, 0};
    if (!has_streams()) return;
    const auto came_before = [&me](const PastAccess& past) {
        return past.serial < clocks.first_concurrent || past.serial == me.serial ||
               work_came_before(past.serial);
    };
    bool found = false;
    const auto accuse = [&](const PastAccess& past, AccessKind did, std::uintptr_t address,
                            std::size_t bytes, const Site& made = Site::current()) {
        found = true;
        note(StreamRace{call, writes, address, bytes, past, did, where}, made);
    };
    const auto check = [&](History& h, std::uintptr_t address, std::size_t bytes) {
        for (const PastAccess* past : {&h.write, &h.atomic, &h.read, &h.other_read}) {
            const bool read = past == &h.read || past == &h.other_read;
            if (found || (read && !writes) || came_before(*past)) continue;
            accuse(*past, read ? AccessKind::read : AccessKind::write, address, bytes);
        }
        if (!writes) {
            if (h.read.serial == me.serial) return;
            if (!came_before(h.other_read)) keep_reader_of_work(heap, address, h.other_read);
            h.other_read = h.read;
            h.read = me;
            return;
        }
        for (const PastAccess& past : more_readers(heap, address)) {
            if (!found && !came_before(past)) accuse(past, AccessKind::read, address, bytes);
        }
        h = {me, {}, {}, {}};
        forget_readers(heap, address);
        if (bytes == 1) heap.words[(address - heap.base) / 4] = h;  // for when it is merged
    };
    for (std::size_t row = 0; row < rows.count && !found; ++row) {
        const auto begin = reinterpret_cast<std::uintptr_t>(rows.begin + row * rows.pitch);
        for_each_piece(heap, begin, rows.row_bytes, check);
    }
}

}  // namespace sixdays::emulator
