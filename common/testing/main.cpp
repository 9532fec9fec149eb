// The main of every test program, around Catch2's own (the linker's --wrap=main). It looks for a
// device before Catch2 starts, so that a missing GPU ends as skipped (status 4), never as a pass.
// Failures end with status 1, not with Catch2's count of failures, which could be 4.
//
// With SIXDAYS_PROOF=<word> the last line is "<word>: 4 cases, 20 assertions, passed": a status of
// 0 proves nothing if the code under test may call exit(0) or define its own `main`.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#endif
#include "common/testing/catch.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "common/gpu/device.hpp"

namespace {

constexpr int kSkipped = 4;  // CTest: SKIP_RETURN_CODE 4

bool only_asks_for_text(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        if (arg.rfind("--list", 0) == 0 || arg == "-l" || arg == "-h" || arg == "-?" ||
            arg == "--help") {
            return true;
        }
    }
    return false;
}

bool nothing_matched = false, session_ended = false;
std::string misreported;  // a launch
unsigned long long cases = 0, assertions = 0;

#if CATCH_VERSION_MAJOR < 3  // version 2 takes one --warn, 3 takes several
using AnyListener = Catch::TestEventListenerBase;
std::vector<std::string> warnings = {"--warn", "NoAssertions"};
#else
using AnyListener = Catch::EventListenerBase;
std::vector<std::string> warnings = {"--warn", "NoAssertions", "--warn", "UnmatchedTestSpec"};
#endif

struct Listener : AnyListener {
    using AnyListener::AnyListener;
#if CATCH_VERSION_MAJOR < 3
    void noMatchingTestCases(const std::string&) override {
        nothing_matched = true;
    }
#endif
    void testRunEnded(const Catch::TestRunStats& run) override {
        session_ended = true;
        cases = run.totals.testCases.total();
        assertions = run.totals.assertions.total();
        misreported = sixdays::gpu::misreported_launch();
    }
};
CATCH_REGISTER_LISTENER(Listener)

// A status of 0 counts only if Catch2's session ended: another `main` runs no case.
int finished(int returned) {
    const char* proof = std::getenv("SIXDAYS_PROOF");
    // A learner's launch may differ from what the given check_launch() reports.
    const bool reported = misreported.empty() || proof != nullptr;
    const bool passed = returned == 0 && session_ended && !nothing_matched && reported;
    if (!reported) std::printf("\n%s\n", misreported.c_str());
    if (!session_ended && returned == 0) {
        std::printf("\n`main` returned 0 without running a case: it is not Catch2's.\n");
    }
    if (proof != nullptr) {
        std::printf("\n%s: %llu cases, %llu assertions, %s\n", proof, cases, assertions,
                    passed          ? "passed"
                    : session_ended ? "failed"
                                    : "another main");
    }
    std::fflush(stdout);
    return passed ? 0 : 1;
}

}  // namespace

extern "C" int __real_main(int argc, char** argv);

extern "C" int __wrap_main(int argc, char** argv) {
    if (only_asks_for_text(argc, argv)) return __real_main(argc, argv) < 0 ? 1 : 0;

    const std::string why = sixdays::gpu::why_unavailable();
    if (!why.empty()) {
        std::printf("SKIPPED: %s\n", why.c_str());
        const char* require = std::getenv("SIXDAYS_REQUIRE_GPU");
        return require != nullptr && std::strcmp(require, "1") == 0 ? 1 : kSkipped;
    }

    // A test case without checks is a failure, and so is a filter that matches no test.
    std::vector<char*> arguments(argv, argv + argc);
    for (std::string& word : warnings) arguments.push_back(word.data());
    const int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    return finished(__real_main(count, arguments.data()));
}
