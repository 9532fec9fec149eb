/// @file
/// Linked into programs run by cudatry: prints the emulator's reports to stderr and makes the exit
/// status nonzero if there was one. With SIXDAYS_TRACE set, prints the access report too. With
/// CUDATRY_FINDINGS set, appends reports and notes to that file, for `cudatry --json`.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "common/emulator/report.hpp"
#include "common/emulator/trace.hpp"

namespace {

using namespace sixdays::emulator;

int status_of(int status) {
    return status == 0 && findings_told() > 0 ? 1 : status;
}

const char* findings_file = nullptr;  // used until the program ends

// Kind, kernel, file, line and text; a note has only a text. Fields end with the control character
// 31, and a record, which is written at once, with 30.
bool append(const Report* report, const std::string& text) {
    std::string record = "\x1f\x1f\x1f\x1f";
    if (report != nullptr) {
        record = std::string(name(report->kind)) + '\x1f' + report->kernel + '\x1f' + report->file +
                 '\x1f' + std::to_string(report->line) + '\x1f';
    }
    record += text + '\x1e';
    const int file = open(findings_file, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0) return false;
    const ssize_t written = write(file, record.data(), record.size());
    close(file);
    return written == static_cast<ssize_t>(record.size());
}

}  // namespace

extern "C" {

// The linker replaces functions by those with the prefix __wrap_ (--wrap=main and so on).
int __real_main(int argc, char** argv, char** environment);
int __wrap_main(int argc, char** argv, char** environment) {
    if (const char* file = std::getenv("CUDATRY_FINDINGS")) findings_file = strdup(file);
    tell_findings(findings_file != nullptr ? append : nullptr);
    std::at_quick_exit([] {
        if (findings_told() > 0) _exit(1);
    });
    if (std::getenv("SIXDAYS_TRACE") != nullptr) start_trace();
    return __real_main(argc, argv, environment);
}

[[noreturn]] void __real__exit(int status);
[[noreturn]] void __wrap__exit(int status) {
    __real__exit(status_of(status));
}
[[noreturn]] void __wrap__Exit(int status) {
    __real__exit(status_of(status));
}

}  // extern "C"
