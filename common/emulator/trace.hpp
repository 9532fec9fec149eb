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

/// The memory that a request accesses.
enum class Memory {
    global,  ///< device memory
    shared   ///< shared memory of a block
};
/// What a request does.
enum class Operation {
    load,   ///< reads
    store,  ///< writes
    atomic  ///< reads and writes in one step
};

/// All requests of one kind made by one line of one kernel, summed. A request is one instruction of
/// a warp; lanes belong to one if they execute the same instruction for the same, n-th, time.
/// Counts the loads and stores of the source after -Og: a value that is used twice is loaded once.
struct LineTrace {
    std::string kernel;                     ///< as written at the launch
    std::string file;                       ///< relative to the project
    int line = 0;                           ///< of the source
    Memory memory = Memory::global;         ///< which memory it accesses
    Operation operation = Operation::load;  ///< what it does there

    std::uint64_t requests = 0;        ///< per warp
    std::uint64_t accesses = 0;        ///< per lane
    std::uint64_t bytes_used = 0;      ///< distinct bytes of each request, summed
    std::uint64_t sectors = 0;         ///< global: 32-byte sectors moved
    std::uint64_t fewest_sectors = 0;  ///< global: the fewest that could hold the bytes
    std::uint64_t passes = 0;          ///< shared: wavefronts; each bank delivers 4 bytes per one
    std::uint64_t fewest_passes = 0;   ///< shared: the fewest possible for these bytes

    /// Bytes that memory moved: 32 per sector, 128 per wavefront.
    std::uint64_t bytes_moved() const {
        return memory == Memory::global ? 32 * sectors : 128 * passes;
    }
    /// Bytes moved beyond the fewest possible.
    std::uint64_t bytes_wasted() const {
        return memory == Memory::global ? 32 * (sectors - fewest_sectors)
                                        : 128 * (passes - fewest_passes);
    }

    /// The most wasteful request: bit i is set if lane i takes part.
    std::uint32_t lanes = 0;
    std::array<std::uint64_t, 32> addresses{};  ///< of that request, per lane
    std::uint32_t bytes_per_lane = 0;           ///< of that request
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
