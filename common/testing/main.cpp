// The main of every test program. It asks for a device before Catch2 starts, so that "no GPU here"
// ends as Skipped (status 4) and is never taken for a pass; whatever fails ends with status 1,
// never with a count of failures, which could be a 4.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "common/testing/catch.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

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

}  // namespace

int main(int argc, char** argv) {
    Catch::Session session;
    if (only_asks_for_text(argc, argv)) return session.run(argc, argv) < 0 ? 1 : 0;

    const std::string why = sixdays::gpu::why_unavailable();
    if (!why.empty()) {
        std::printf("SKIPPED: %s\n", why.c_str());
        const char* require = std::getenv("SIXDAYS_REQUIRE_GPU");
        return require != nullptr && std::strcmp(require, "1") == 0 ? 1 : kSkipped;
    }

    // A test case that checks nothing is a failure, and so is a name that no test has.
    using Catch::WarnAbout;
#if CATCH_VERSION_MAJOR < 3
    const int warnings = WarnAbout::NoAssertions | WarnAbout::NoTests;
#else
    const int warnings = WarnAbout::NoAssertions | WarnAbout::UnmatchedTestSpec;
#endif
    session.configData().warnings = static_cast<WarnAbout::What>(warnings);
    return session.run(argc, argv) == 0 ? 0 : 1;
}
