/// @file
/// What the floors above do when something happens in the machine. No load or store comes through
/// here: the access path has a table of its own (memory/access.hpp).
#pragma once

#include "common/emulator/machine/facts.hpp"

namespace sixdays::emulator {

struct Events {
    void (*block_starts)();            // no thread of it has run
    void (*thread_pauses)();           // it waits for other blocks, or has returned
    void (*opens_without_returned)();  // a barrier that some threads never reached
    void (*deadlock)();                // no thread can continue
    void (*block_ends)();              // or waits for other blocks

    /// A kernel faults: true if the memory was only closed; it is open afterwards.
    bool (*open_memory)(std::uintptr_t address);
    void (*host_has_waited)();  // for all work

    // fail(), note() and remark()
    void (*found)(const Fact& fact, const Site& made);
    void (*remarked)(const Place& where, const Fact& fact, const Site& made);
    void (*tell_report)();                   // prints the stored finding, if it has not been read
    void (*host_crashes)(const Fact& fact);  // with or without a GPU
};
/// Defined where all floors are known: api/floors.cpp.
extern const Events events;

}  // namespace sixdays::emulator
