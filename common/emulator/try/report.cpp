/// @file
/// Linked into programs run by cudatry: prints the emulator's reports to stderr and makes the exit
/// status nonzero if there was one. With SIXDAYS_TRACE set, prints the access report too.
#include <unistd.h>

#include <cstdlib>

#include "common/emulator/report.hpp"
#include "common/emulator/trace.hpp"

namespace {

using namespace sixdays::emulator;

int status_of(int status) {
    return status == 0 && findings_told() > 0 ? 1 : status;
}

}  // namespace

extern "C" {

// The linker replaces functions by those with the prefix __wrap_ (--wrap=main and so on).
int __real_main(int argc, char** argv, char** environment);
int __wrap_main(int argc, char** argv, char** environment) {
    tell_findings();
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
