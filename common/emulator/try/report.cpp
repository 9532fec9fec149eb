/// @file
/// Linked to a program that is tried out: what the emulator notices goes to stderr, and such a
/// program never ends with status 0. With SIXDAYS_TRACE set, the access report follows.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "common/emulator/report.hpp"
#include "common/emulator/trace.hpp"

namespace {

using namespace sixdays::emulator;

bool traced() {
    return std::getenv("SIXDAYS_TRACE") != nullptr;
}

void print_trace() {
    const auto lines = stop_trace();
    if (lines.empty()) return;
    const bool explained = std::strcmp(std::getenv("SIXDAYS_TRACE"), "explain") == 0;
    std::fprintf(stderr, "\n%s\n%s\n%s\n", trace_table(lines).c_str(),
                 trace_picture(lines.front()).c_str(),
                 explained ? trace_explanation(lines).c_str() : trace_verdict(lines).c_str());
}

void finish(int status, void*) {
    std::cout.flush();
    std::fflush(stdout);
    tell_report();
    for (const std::string& one : remarks()) {
        std::fprintf(stderr, "emulator, a note: %s\n", one.c_str());
    }
    if (traced() && findings_told() == 0) print_trace();  // a launch that stopped shows too little
    if (status == 0 && findings_told() > 0) _exit(1);
}

}  // namespace

// The linker puts this in place of main (--wrap=main).
extern "C" int __real_main(int argc, char** argv, char** environment);
extern "C" int __wrap_main(int argc, char** argv, char** environment) {
    tell_findings();
    on_exit(finish, nullptr);
    if (traced()) start_trace();
    return __real_main(argc, argv, environment);
}
