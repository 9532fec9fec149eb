// The main of every test program, around Catch2's own (the linker's --wrap=main). It asks for a
// device before Catch2 starts, so that "no GPU here" ends as Skipped (status 4) and is never taken
// for a pass; what fails ends with status 1, never with a count of failures, which could be a 4.
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

bool nothing_matched = false;
#if CATCH_VERSION_MAJOR < 3  // it takes one --warn, where 3 takes several
struct Listener : Catch::TestEventListenerBase {
    using TestEventListenerBase::TestEventListenerBase;
    void noMatchingTestCases(const std::string&) override { nothing_matched = true; }
};
CATCH_REGISTER_LISTENER(Listener)
std::vector<std::string> warnings = {"--warn", "NoAssertions"};
#else
std::vector<std::string> warnings = {"--warn", "NoAssertions", "--warn", "UnmatchedTestSpec"};
#endif

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

    // A test case that checks nothing is a failure, and so is a name that no test has.
    std::vector<char*> arguments(argv, argv + argc);
    for (std::string& word : warnings) arguments.push_back(word.data());
    const int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    return __real_main(count, arguments.data()) == 0 && !nothing_matched ? 0 : 1;
}
