/// @file
/// A bug at the moment it is found: addresses of code, which become files and lines only when the
/// report is read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/runtime/block.hpp"

namespace sixdays::emulator {

/// A place in the source: known, or the return address of a call that was made there. With both,
/// the code tells who called the function that the place is in: a helper's line says little.
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

/// Whom a finding accuses, where that thread's block is not the one that runs.
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
    const Thread* thread = nullptr;  // the current one if null
    bool in_kernel = true;           // false: in a call of the runtime
    Site made = Site::current();     // the line of the emulator that made it
    std::optional<Who> who{};        // instead of `thread`
};

/// Stores the finding, if it is the first, and ends the launch: in a kernel this does not return.
[[noreturn]] void fail(Finding finding);
/// Stores the finding and returns; the launch ends when the thread next stops.
void note(Finding finding);
/// Has this launch failed?
bool launch_failed();
/// Not an error, but worth knowing: reported once per place, through remarks().
void remark(const Place& where, const std::string& text, Site made = Site::current());
bool is_remarked(const Place& where);

/// At once, on stderr.
void print_note(const std::string& text);
/// Are findings printed when they are made (tell_findings())?
bool is_telling();
/// Is there a finding whose text has not been read?
bool is_unread();
/// For own_lines_that_reported().
void remember_line(const Site& made);

/// What printf would make of it.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);
/// "thread (3,0,0) of block (7,0,0)"
std::string name(const Thread& thread);
std::string name(uint3 thread, uint3 block_index);
std::string name(uint3 v);

/// The file, relative to the project where it lies in it, and the line. Slow: asks addr2line.
struct Line {
    std::string file;
    int line = 0;
    std::string why_not{};  // if line is 0
    std::string callers{};  // ":47", where this line's function was called from, if inlined
};
Line find_line(const Place& place);
/// "file.cu:12", or why that is not known.
std::string file_and_line(const Line& line);

}  // namespace sixdays::emulator
