/// @file
/// Memory accesses of warps. For each line of a kernel: the 32-byte sectors that its loads and
/// stores move, and the minimum that could hold the bytes; for shared memory, wavefronts.
///
/// Counts the loads and stores of the source after -Og: a value that is used twice is loaded once.
/// Lanes belong to one request if they execute the same instruction for the same, n-th, time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sixdays::emulator {

enum class Memory { global, shared };
enum class Operation { load, store, atomic };

/// All requests of one kind made by one line of one kernel.
struct LineTrace {
    std::string kernel;
    std::string file;  // relative to the project
    int line = 0;
    Memory memory = Memory::global;
    Operation operation = Operation::load;

    std::uint64_t requests = 0;    // per warp
    std::uint64_t accesses = 0;    // per lane
    std::uint64_t bytes_used = 0;  // distinct bytes of each request, summed
    // Global memory moves in 32-byte sectors.
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

    /// The most wasteful request: participating lanes, their addresses and bytes per lane.
    std::uint32_t lanes = 0;
    std::array<std::uint64_t, 32> addresses{};
    std::uint32_t bytes_per_lane = 0;
};

/// Starts recording launches.
void start_trace();
/// Stops recording. Returns everything since start_trace(), the most wasteful line first.
std::vector<LineTrace> stop_trace();

/// Formats the lines as a table.
std::string trace_table(const std::vector<LineTrace>& lines);
/// The lanes of the line's most wasteful request, drawn in characters.
std::string trace_picture(const LineTrace& line);
/// Explains in one sentence what the most wasteful line does wrong, or that none does.
std::string trace_verdict(const std::vector<LineTrace>& lines);
/// Explains in sentences the cost of the two lines that move the most bytes.
std::string trace_explanation(std::vector<LineTrace> lines);

}  // namespace sixdays::emulator
