// Published algorithms: correct versions are not reported in any execution order, and planted bugs
// are reported with kind, file and line.
#include <algorithm>
#include <fstream>
#include <string>

#include "common/emulator/published/published.hpp"
#include "common/emulator/report.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::published;

namespace {

struct Case {
    const char* algorithm;
    int mistake;
    Kind kind;  // in forward order
};

const Case kCases[] = {
    {"last_block_sum", 1, Kind::race},
    {"last_block_sum", 2, Kind::race},
    {"look_back_scan", 1, Kind::race},
    {"look_back_scan", 2, Kind::race},
    {"cas_histogram", 1, Kind::uninitialised_read},
    {"cas_histogram", 2, Kind::race},
    {"warp_filter", 1, Kind::warp_call},
    {"warp_filter", 2, Kind::race},
    {"async_matmul", 1, Kind::pending_copy},
    {"async_matmul", 2, Kind::pending_copy},
    {"online_softmax", 1, Kind::warp_call},
    {"online_softmax", 2, Kind::out_of_bounds},
    {"split_k", 1, Kind::race},
    {"split_k", 2, Kind::race},
    {"bf16_matvec", 1, Kind::misaligned},
    {"bf16_matvec", 2, Kind::out_of_bounds},
    {"bitonic_sort", 1, Kind::race},
    {"bitonic_sort", 2, Kind::uninitialised_read},
    {"compaction", 1, Kind::race},
    {"compaction", 2, Kind::uninitialised_read},
    {"flash_attention", 1, Kind::race},
    {"flash_attention", 2, Kind::out_of_bounds},
    {"layer_norm", 1, Kind::race},
    {"layer_norm", 2, Kind::uninitialised_read},
    {"tiled_transpose", 1, Kind::uninitialised_read},
    {"tiled_transpose", 2, Kind::uninitialised_read},
};

// The line of `file` with this MARK.
int marked_line(const std::string& file, const std::string& name) {
    const std::string here = __FILE__;
    std::ifstream text(here.substr(0, here.rfind('/') + 1) + file);
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
        const std::size_t mark = line.find("// MARK");
        if (mark == std::string::npos) continue;
        if ((line.substr(mark) + " ").find(" " + name + " ") != std::string::npos) return number;
    }
    return 0;
}

const Algorithm& find(const std::string& name) {
    const auto found = std::find_if(algorithms().begin(), algorithms().end(),
                                    [&name](const Algorithm& a) { return a.name == name; });
    REQUIRE(found != algorithms().end());
    return *found;
}

Outcome run(const Algorithm& algorithm, int mistake) {
    clear_report();
    cudaGetLastError();
    return algorithm.run(mistake);
}

// forward, reversed, then shuffled
void use_order(std::uint64_t seed) {
    set_order(seed == 0 ? Order::forward : seed == 1 ? Order::reversed : Order::shuffled, seed);
}

}  // namespace

TEST_CASE("in any order, correct published algorithms match the host and cause no report") {
    for (const Algorithm& algorithm : algorithms()) {
        for (const std::uint64_t seed : {0u, 1u, 2u, 3u}) {
            INFO(algorithm.name << ", order " << seed);
            use_order(seed);
            const Outcome outcome = run(algorithm, 0);
            const auto report = last_report();
            INFO((report ? report->text : "no report"));
            CHECK(outcome.error == cudaSuccess);
            CHECK(outcome.right);
            CHECK(!report);
        }
    }
    set_order(Order::forward);
}

TEST_CASE("bugs planted in published algorithms are reported by kind, file and line") {
    for (const Case& c : kCases) {
        const Algorithm algorithm = find(c.algorithm);
        const std::string mistake = algorithm.mistakes[static_cast<std::size_t>(c.mistake - 1)];
        INFO(c.algorithm << ": " << mistake);
        CHECK(run(algorithm, c.mistake).error != cudaSuccess);
        const auto report = last_report();
        REQUIRE(report);
        INFO(report->text);
        const std::string file = std::string(c.algorithm) + ".cu";
        CHECK(std::string(name(report->kind)) == name(c.kind));
        CHECK(report->file == "common/emulator/published/" + file);
        CHECK(report->line == marked_line(file, mistake));
        CHECK(report->kernel.rfind(c.algorithm, 0) == 0);
    }
    CHECK(std::size(kCases) == 2 * algorithms().size());
}

TEST_CASE("no execution order hides a bug in a published algorithm") {
    for (const std::uint64_t seed : {1u, 2u}) {
        use_order(seed);
        for (const Case& c : kCases) {
            INFO(c.algorithm << ", mistake " << c.mistake << ", order " << seed);
            CHECK(run(find(c.algorithm), c.mistake).error != cudaSuccess);
            CHECK(last_report());
        }
    }
    set_order(Order::forward);
    clear_report();
    cudaGetLastError();
}
