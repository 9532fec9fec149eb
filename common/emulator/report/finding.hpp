/// @file
/// A bug in words, as it is stored until the report is read. The floors below pass facts; runtime
/// calls, libraries and tile kernels, which reject what they are given, make findings of their own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/emulator/machine/facts.hpp"
#include "common/emulator/report.hpp"

namespace sixdays::emulator {

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
    std::shared_ptr<const Fact> fact{};
};

/// By the current thread, whose name precedes the text; or by host code.
Finding by_thread(Kind kind, cudaError_t error, const Place& place, const std::string& text,
                  std::uintptr_t address = 0, const Place& other = {});
Finding by_host(Kind kind, cudaError_t error, const Place& place, const std::string& text,
                std::uintptr_t address, const Place& other = {});

/// Stores the finding, if it is the first, and ends the launch. In a kernel this does not return.
[[noreturn]] void fail(Finding finding);
/// Stores the finding and returns; the launch ends when the thread next yields.
void note(Finding finding);
/// Worth knowing but not an error: reported once per source position, through remarks().
void remark(const Place& where, const std::string& text, Site made = Site::current());
bool is_remarked(const Place& where);

/// True if findings are printed as soon as they are made (tell_findings()).
extern bool telling;
/// Prints to stderr immediately, or passes it to the listener (tell_findings()).
void tell_note(const std::string& text);

/// A launch of this kernel starts: clears the state of the previous one.
void begin_launch(const Launch& what);

/// True if there is a finding that has not been read.
bool is_unread();
/// cudaGetLastError() has returned the error, so the next finding may replace the stored one.
void report_was_told();

/// What cudaGetLastError() returns next, for each host thread; and a kernel's error, until a
/// synchronizing call returns it.
extern constinit thread_local cudaError_t last_error;
extern constinit cudaError_t unseen_kernel_error;
void set_error(cudaError_t error, bool from_kernel);

/// Formats like printf.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);
/// "thread (3,0,0) of block (7,0,0)"
std::string name(const Thread& thread);
std::string name(uint3 thread, uint3 block_index);
std::string name(uint3 v);

/// "file.cu:12", or the reason why it is unknown.
std::string file_and_line(const Line& line);

}  // namespace sixdays::emulator
