/// @file
/// Positions in the source. Code addresses are resolved to files and lines only when a report is
/// read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/emulator/machine/block.hpp"

namespace sixdays::emulator {

/// A position in the source: file and line, the return address of a call made there, or both. With
/// both, the address locates the caller, since the line of a helper function says little.
struct Place {
    const char* file = nullptr;
    unsigned line = 0;
    const void* code = nullptr;

    Place() = default;
    Place(const void* return_address) : code(return_address) {}
    Place(const Site& site, const void* return_address = nullptr)
        : file(site.file_name()), line(site.line()), code(return_address) {}
    Place(const char* f, unsigned l, const void* return_address = nullptr)
        : file(f), line(l), code(return_address) {}
};

/// The last barrier that this thread reached.
inline Place barrier_of(const Thread& thread) {
    return {thread.barrier_site, thread.barrier_code};
}

/// The file, relative to the project if it is inside it, and the line. Slow: it runs addr2line.
struct Line {
    enum class Unknown : std::uint8_t { no_position, no_addr2line, no_debug_information };
    std::string file;
    int line = 0;
    Unknown why_not = Unknown::no_position;  // if line is 0
    std::vector<int> called_from{};          // lines that this line's function was inlined into
    std::string helper{};                    // "file.hpp:12", which was called in this line
};
Line find_line(const Place& place);

}  // namespace sixdays::emulator
