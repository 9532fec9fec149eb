/// @file
/// What the emulator found, as data that a test can check and as a sentence for the learner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sixdays::emulator {

enum class Kind {
    invalid_launch,       // too many threads, too much shared memory, an empty grid
    invalid_call,         // an invalid call of the runtime, such as a double cudaFree
    out_of_bounds,        // the address belongs to no allocation and no shared array
    freed_memory,         // the address belonged to an allocation until cudaFree
    host_memory,          // a host pointer in a kernel
    device_memory,        // a device pointer where a copy expects a host pointer
    uninitialised_read,   // the memory was never written
    pending_copy,         // an asynchronous copy to this address is still in flight
    misaligned,           // such as a 16-byte load from an address that is not a multiple of 16
    race,                 // two threads access one word in no defined order, and one writes
    barrier,              // __syncthreads() that not all threads of the block reach
    warp_call,            // a shuffle or __syncwarp whose mask names a lane that never reaches it
    stuck,                // threads wait for each other, or spin, forever
    stack_overflow,       // too much local memory
    assertion,            // assert() in a kernel
    undefined_behaviour,  // overflow of a signed integer, a shift too far, division by zero
};

struct Report {
    Kind kind;
    std::string kernel;                     // as written at the launch, `reduce<256>`
    std::string file;                       // relative to the project, if it lies there
    int line = 0;                           // 0 if unknown
    std::array<std::uint32_t, 3> block{};   // x, y, z
    std::array<std::uint32_t, 3> thread{};  // x, y, z
    std::uintptr_t address = 0;             // 0 if none
    std::string text;                       // the whole report, with all of the above
};

/// The first report since the last cudaGetLastError() that returned an error, or clear_report().
std::optional<Report> last_report();
void clear_report();

/// For a program that does not read reports: from here on each is printed to stderr, as soon as
/// the launch or call that made it has ended, once for each kind and line. Remarks and the access
/// report (start_trace) follow at the program's end, and its status is not 0 if there was a report.
void tell_findings();
/// Prints the report that has not been read yet.
void tell_report();
std::size_t findings_told();
/// What is not an error but worth knowing, each with its place, once. Cleared by this call.
std::vector<std::string> remarks();

/// For the emulator's own tests: which of its lines have made a finding or a remark since the last
/// call, "runtime/warp.cpp:72".
std::set<std::string> own_lines_that_reported();

/// Sets a function that knows the host's buffers: bytes from a pointer to its buffer's end, or 0.
void know_host_buffers(std::size_t (*bytes_from)(const void* pointer));

/// "race", "out_of_bounds", ...
const char* name(Kind kind);

/// In which order blocks, and the threads of a block, get their turns. CUDA promises none, so a
/// right kernel gives the same results in each.
enum class Order { forward, reversed, shuffled };
void set_order(Order order, std::uint64_t seed = 0);

/// From here on, launches run only these blocks: `count` of them from number `first` on, counted
/// along x, then y, then z. So that a test can run the far end of a grid over billions of elements.
/// Without arguments: all blocks again.
void only_blocks(std::uint64_t first = 0, std::uint64_t count = UINT64_MAX);

/// From here on every launch is rejected, or none: to test whether a launcher checks.
void reject_launches(bool yes);

/// The last launch: the threads of its grid, whether they ran or not, and the bytes of its
/// arguments, in no order that CUDA promises.
struct LastLaunch {
    std::uint64_t blocks = 0, threads = 0;
    std::vector<std::byte> arguments;
};
const LastLaunch& last_launch();

/// CPU time after which a block counts as stuck: 60 seconds by default.
void set_time_limit(int seconds);

}  // namespace sixdays::emulator
