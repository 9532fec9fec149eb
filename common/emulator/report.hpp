/// @file
/// What the emulator found: as data for tests, and as a sentence for the learner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sixdays::emulator {

/// What is wrong: the kinds of findings.
enum class Kind {
    invalid_launch,      ///< too many threads, too much shared memory, an empty grid
    invalid_call,        ///< an invalid runtime call, such as a double cudaFree
    out_of_bounds,       ///< the address is in no allocation and no shared array
    freed_memory,        ///< the address was in an allocation until cudaFree
    host_memory,         ///< a host pointer in a kernel
    device_memory,       ///< a device pointer where a copy expects a host pointer
    uninitialised_read,  ///< the memory was never written
    pending_copy,        ///< an asynchronous copy to this address is still in flight
    misaligned,      ///< for example a 16-byte load from an address that is not a multiple of 16
    race,            ///< two threads access a word in no defined order, and at least one writes
    barrier,         ///< __syncthreads() that not all threads of the block reach
    warp_call,       ///< a shuffle or __syncwarp whose mask names a lane that never reaches it
    stuck,           ///< threads wait for each other, or spin, forever
    stack_overflow,  ///< too much stack
    assertion,       ///< assert() in a kernel
    undefined_behaviour,  ///< signed integer overflow, an oversized shift, division by zero
};

/// What a check found, as data: machine/facts.hpp.
struct Fact;

/// A finding: what is wrong, where, and the text that explains it.
struct Report {
    Kind kind;                              ///< what is wrong
    std::string kernel;                     ///< as written at the launch, `reduce<256>`
    std::string file;                       ///< relative to the project, if it is inside it
    int line = 0;                           ///< 0 if unknown
    std::array<std::uint32_t, 3> block{};   ///< x, y, z
    std::array<std::uint32_t, 3> thread{};  ///< x, y, z
    std::uintptr_t address = 0;             ///< 0 if none
    std::string text;                       ///< the whole report, with all of the above
    /// Null if a runtime call, a library or a tile kernel rejected what it was given.
    std::shared_ptr<const Fact> fact{};
};

/// The first report since the last cudaGetLastError() that returned an error, or clear_report().
std::optional<Report> last_report();
/// Forgets the report that last_report() returns.
void clear_report();

/// Gets a report, or a note (then `report` is null). False: it could not, so the text is printed.
using Listener = bool (*)(const Report* report, const std::string& text);
/// For programs that do not read reports: from now on each is printed to stderr as soon as the
/// launch or call that caused it has ended, once per kind and line. Remarks and the access report
/// (start_trace()) are printed at exit. After any report the exit status is not 0. With a listener,
/// reports and notes are passed to it instead.
void tell_findings(Listener listener = nullptr);
/// Prints the report if it has not been read yet.
void tell_report();
/// The number of reports printed so far.
std::size_t findings_told();
/// Observations that are not errors, each with its source position, once. This call clears them.
std::vector<std::string> remarks();

/// For the emulator's own tests: the lines of the emulator that have reported a finding or a remark
/// since the last call, "machine/warp.cpp:72".
std::set<std::string> own_lines_that_reported();

/// Sets a function that returns the bytes from a pointer to the end of its host buffer, or 0.
void know_host_buffers(std::size_t (*bytes_from)(const void* pointer));

/// "race", "out_of_bounds", ...
const char* name(Kind kind);

/// An execution order of blocks, and of the threads in a block. CUDA guarantees none, so a correct
/// kernel gives the same results in each.
enum class Order {
    forward,   ///< by index
    reversed,  ///< the last first
    shuffled   ///< pseudo-random, by the seed
};
/// Sets the execution order of blocks and threads for the launches to come.
/// @param seed  for Order::shuffled: the same seed gives the same order
void set_order(Order order, std::uint64_t seed = 0);

/// From now on launches run only `count` blocks starting with block `first`, counted along x, then
/// y, then z. This lets a test run the far end of a grid over billions of elements. Without
/// arguments: all blocks again.
void only_blocks(std::uint64_t first = 0, std::uint64_t count = UINT64_MAX);

/// From now on every launch is rejected, or none: tests whether a launcher checks for errors.
void reject_launches(bool yes);

/// What the last launch asked for.
struct LastLaunch {
    std::uint64_t blocks = 0,             ///< of the grid
        threads = 0;                      ///< of all blocks together
    std::vector<std::byte> arguments;     ///< their bytes, in unspecified order
    std::array<std::uint32_t, 3> grid{},  ///< extents of the grid: x, y, z
        block{};                          ///< of a block
    std::uint64_t shared_bytes = 0;       ///< dynamic shared memory per block
};
/// The last launch by this host thread, whether or not its blocks have run.
const LastLaunch& last_launch();

/// CPU time after which a block is reported as stuck: 60 seconds by default.
void set_time_limit(int seconds);

}  // namespace sixdays::emulator
