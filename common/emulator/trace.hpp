/// @file
/// What a warp accesses: for each line of a kernel, how many 32-byte sectors its loads and stores
/// move, and the fewest that could hold the bytes; for shared memory, how many wavefronts.
///
/// Counts the loads and stores of the source, after -Og: a value that is used twice is loaded once.
/// Lanes belong to one request if they execute the same instruction for the same, n-th, time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sixdays::emulator {

enum class Memory { global, shared };
enum class Operation { load, store, atomic };

/// All requests of one kind that one line of one kernel made.
struct LineTrace {
    std::string kernel;
    std::string file;  // relative to the project
    int line = 0;
    Memory memory = Memory::global;
    Operation operation = Operation::load;

    std::uint64_t requests = 0;    // each of one warp
    std::uint64_t accesses = 0;    // each of one lane
    std::uint64_t bytes_used = 0;  // different bytes of each request, summed up
    // Global memory moves in sectors of 32 bytes.
    std::uint64_t sectors = 0;
    std::uint64_t fewest_sectors = 0;
    // Shared memory has 32 banks, each of which delivers one 4-byte word per wavefront (a pass).
    std::uint64_t passes = 0;
    std::uint64_t fewest_passes = 0;

    std::uint64_t bytes_moved() const {
        return memory == Memory::global ? 32 * sectors : 128 * passes;
    }
    std::uint64_t bytes_wasted() const {
        return memory == Memory::global ? 32 * (sectors - fewest_sectors)
                                        : 128 * (passes - fewest_passes);
    }

    /// The request that wasted most: which lanes took part, where, and how many bytes each.
    std::uint32_t lanes = 0;
    std::array<std::uint64_t, 32> addresses{};
    std::uint32_t bytes_per_lane = 0;
};

/// From here on, launches are recorded.
void start_trace();
/// No more. What was recorded since start_trace(), the most wasteful line first.
std::vector<LineTrace> stop_trace();

/// A table of the lines.
std::string trace_table(const std::vector<LineTrace>& lines);
/// The lanes of the line's most wasteful request, drawn in characters.
std::string trace_picture(const LineTrace& line);
/// What the most wasteful line does wrong, in a sentence; or that none does.
std::string trace_verdict(const std::vector<LineTrace>& lines);
/// What the two lines that move the most bytes cost, and why, in sentences.
std::string trace_explanation(std::vector<LineTrace> lines);

}  // namespace sixdays::emulator
