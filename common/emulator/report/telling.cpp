/// @file
/// What the emulator prints: findings as soon as they are made, if the program does not read
/// reports; at the end of the program, every report that was not read.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>
#include <vector>

#include "common/emulator/checks/trace.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/memory.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/report/finding.hpp"
#include "common/emulator/trace.hpp"

namespace sixdays::emulator {

namespace {

Listener listener = nullptr;
std::set<std::string> told_before;  // kind and position of each printed finding

// So that what the program has printed comes first.
void flush_stdout() {
    std::cout.flush();
    std::fflush(stdout);
}

void print_trace() {
    const auto lines = stop_trace();
    if (lines.empty()) return;
    const char* form = std::getenv("SIXDAYS_TRACE");
    flush_stdout();
    const bool explained = form != nullptr && std::strcmp(form, "explain") == 0;
    std::fprintf(stderr, "\n%s\n%s\n%s\n", trace_table(lines).c_str(),
                 trace_picture(lines.front()).c_str(),
                 explained ? trace_explanation(lines).c_str() : trace_verdict(lines).c_str());
}

void tell(const Report* report, const std::string& text) {
    if (listener != nullptr && listener(report, text)) return;
    flush_stdout();
    std::fprintf(stderr, "emulator%s: %s\n", report != nullptr ? "" : ", note", text.c_str());
}

// "2 allocations (512 bytes) of device memory were never freed by cudaFree; ...", or "".
std::string describe_leaks() {
    const auto [count, bytes, place] = leaks();
    if (count == 0) return "";
    const Line first = find_line(place);
    return format("%zu allocation%s (%zu bytes) of device memory %s never freed by cudaFree%s%s.",
                  count, count == 1 ? "" : "s", bytes, count == 1 ? "was" : "were",
                  first.line == 0 ? ""
                  : count == 1    ? "; it was allocated in "
                                  : "; one was allocated in ",
                  first.line == 0 ? "" : (first.file + ":" + std::to_string(first.line)).c_str());
}

// A program in which the emulator found a bug must not exit with status 0.
void at_end(int status, void*) {
    const bool failed = is_unread() || !told_before.empty();
    tell_report();
    if (telling) {
        for (const std::string& one : remarks()) tell_note(one);
    }
    if (failed && status == 0) {
        std::cout.flush();
        std::fflush(nullptr);
        _exit(1);
    }
    if (failed) return;  // a failed launch leaves too little to judge
    if (const Work* work = unfinished_work(); telling && work != nullptr) {
        tell_note("the program ends without waiting for " + work->what + ", started in " +
                  file_and_line(find_line(work->where)) +
                  ". What a kernel prints may be lost, and its errors go unnoticed: call "
                  "cudaDeviceSynchronize() first.");
    }
    const std::string leaks = status == 0 ? describe_leaks() : "";  // otherwise it ended early
    if (!leaks.empty()) tell_note(leaks);
    if (telling && tracing) print_trace();
}

// After the destructors of static objects, which may call CUDA: handlers run in reverse order of
// registration. (The emulator's own state is built even earlier, see CMakeLists.txt.)
[[gnu::constructor(102)]] void wait_for_end() {
    on_exit(at_end, nullptr);
}

}  // namespace

void tell_note(const std::string& text) {
    tell(nullptr, text);
}

void tell_findings(Listener heard_by) {
    telling = true;
    listener = heard_by;
}

void tell_report() {
    if (!is_unread()) return;
    const auto report = last_report();
    const std::string place =
        format("%s %s:%d", name(report->kind), report->file.c_str(), report->line);
    if (told_before.insert(place).second) tell(&*report, report->text);
}

std::size_t findings_told() {
    return told_before.size();
}

}  // namespace sixdays::emulator
