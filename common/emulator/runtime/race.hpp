/// @file
/// Who touched a word last.
#pragma once

#include <cstdint>

namespace sixdays::emulator {

/// One access: which block run, which thread at which of its meetings with others, and the code.
struct Touch {
    std::uint32_t run = 0;           // number of the block run, counted over all launches; 0: nobody
    std::uint32_t thread : 10 = 0;   // within the block
    std::uint32_t clock : 22 = 0;    // how often that thread had met others
    std::uint32_t code = 0;          // return address of the hook, from the program's start
};

/// The last accesses of one word. Of the readers since then, two suffice: see race.cpp.
struct History {
    Touch write, atomic, read, other_read;
};

}  // namespace sixdays::emulator
