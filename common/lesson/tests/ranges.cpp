// A run's ranges for a profiler. This program replaces NVIDIA's header by one that records the
// calls.
#include <nvtx3/nvToolsExt.h>

#include "common/lesson/lesson.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::lesson;

namespace {

int run_with(std::vector<const char*> arguments, const Day& day) {
    arguments.insert(arguments.begin(), "day00");
    return lesson::run(static_cast<int>(arguments.size()), const_cast<char**>(arguments.data()),
                       day);
}

TEST_CASE("each section is a range named by its heading, with a range for each version inside",
          "[lesson][ranges][small]") {
    const auto first = [](Report& report) {
        report.heading("1. First");
        Version v;
        v.op = "add";
        v.version = "slow";
        gpu::Buffer<int> got(1), zero(1);
        zero.fill_bytes(0);
        v.check = {[&](int) { got.fill_bytes(0); }, {{got.data(), zero.data(), sizeof(int)}}};
        report.port(v);
        v.version = "on the CPU";
        int out = 0, want = 7;
        v.check = {[&](int) { out = 7; }, {{&out, &want, sizeof out}}};
        report.loop(v);
    };
    const auto second = [](Report& report) {
        report.heading("2. Second");
        report.check(true, "a fact");
    };
    testing::nvtx_calls.clear();
    CHECK(run_with({"--no-timing"},
                   {.title = "Day 00", .shows = "", .sections = {first, second}, .try_this = ""}) ==
          0);
    CHECK(testing::nvtx_calls ==
          "push 1. First\npush add, slow\npop\npush add, on the CPU\npop\npop\n"
          "push 2. Second\npop\n");
}

TEST_CASE("a section that throws ends its ranges", "[lesson][ranges][small]") {
    const auto throws = [](Report& report) {
        report.heading("1. First");
        throw std::runtime_error("no");
    };
    testing::nvtx_calls.clear();
    CHECK(run_with({"--no-timing"},
                   {.title = "Day 00", .shows = "", .sections = {throws}, .try_this = ""}) == 1);
    CHECK(testing::nvtx_calls == "push 1. First\npop\n");
}

}  // namespace
