/// @file
/// A bug when it is found. It holds code addresses, which are resolved to files and lines only when
/// the report is read.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/report.hpp"

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

/// The thread to report, if its block is not the running one.
struct Who {
    uint3 thread, block;
};

/// @param text   what happened; "{0}", "{1}" stand for the file and line of `others`
struct Finding {
    Kind kind;
    cudaError_t error;
    Place place;
    std::string text;
    std::uintptr_t address = 0;
    std::vector<Place> others{};
    const Thread* thread = nullptr;  // null: the current one
    bool in_kernel = true;           // false: in a runtime call
    Site made = Site::current();     // the line of the emulator that reported it
    std::optional<Who> who{};        // instead of `thread`
};

/// Stores the finding, if it is the first, and ends the launch. In a kernel this does not return.
[[noreturn]] void fail(Finding finding);
/// Stores the finding and returns; the launch ends when the thread next yields.
void note(Finding finding);
/// True if this launch has failed.
bool launch_failed();
/// Worth knowing but not an error: reported once per source position, through remarks().
void remark(const Place& where, const std::string& text, Site made = Site::current());
bool is_remarked(const Place& where);

/// Prints to stderr immediately.
void print_note(const std::string& text);
/// True if findings are printed as soon as they are made (tell_findings()).
extern bool telling;

/// A launch of this kernel starts: clears the state of the previous one.
void begin_launch(const Launch& what);

/// The first finding since the last one that was told, until report/ phrases it.
struct Stored {
    Finding finding;
    std::string kernel;
    uint3 block;
    uint3 thread;
    bool in_thread;
};
const Stored* stored_finding();  // null if there is none; from now on it counts as read
void forget_finding();
/// True if there is a finding that has not been read.
bool is_unread();
/// cudaGetLastError() has returned the error, so the next finding may replace the stored one.
void report_was_told();
std::vector<std::pair<Place, std::string>> take_remarks();

/// What cudaGetLastError() returns next, for each host thread; and a kernel's error, until a
/// synchronizing call returns it.
extern constinit thread_local cudaError_t last_error;
extern constinit cudaError_t unseen_kernel_error;
void set_error(cudaError_t error, bool from_kernel);

/// For own_lines_that_reported().
void remember_line(const Site& made);

/// Formats like printf.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);
/// "thread (3,0,0) of block (7,0,0)"
std::string name(const Thread& thread);
std::string name(uint3 thread, uint3 block_index);
std::string name(uint3 v);

/// The file, relative to the project if it is inside it, and the line. Slow: it runs addr2line.
struct Line {
    std::string file;
    int line = 0;
    std::string why_not{};  // if line is 0
    std::string callers{};  // ":47", the line that this line's function was inlined into, if any
};
Line find_line(const Place& place);
/// "file.cu:12", or the reason why it is unknown.
std::string file_and_line(const Line& line);

}  // namespace sixdays::emulator
