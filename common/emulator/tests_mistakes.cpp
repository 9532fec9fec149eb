// Every planted mistake is reported: kind, kernel, line, block, thread, and the error a GPU would give.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <cuda_runtime_api.h>

#include <array>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests_device.hpp"
#include "common/emulator/tests_mistakes.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

struct Case {
    const char* name;
    Kind kind;
    cudaError_t error;
    int grid, block, n;
    int at_block, at_thread;  // x; who is accused when threads run in order
    int shared_bytes = 0;
    bool out_written = true;
};

constexpr cudaError_t kIllegal = cudaErrorIllegalAddress;
constexpr cudaError_t kFailure = cudaErrorLaunchFailure;

// n is the length of both arrays.
const Case kCases[] = {
    {"no_guard", Kind::out_of_bounds, kIllegal, 2, 128, 250, 1, 122},
    {"one_before", Kind::out_of_bounds, kIllegal, 1, 32, 32, 0, 0},
    {"write_past_end", Kind::out_of_bounds, kIllegal, 1, 32, 100, 0, 5},
    {"far_away", Kind::host_memory, kIllegal, 1, 32, 32, 0, 1},
    {"null_pointer", Kind::out_of_bounds, kIllegal, 1, 32, 32, 0, 2},
    {"past_shared_array", Kind::out_of_bounds, kIllegal, 1, 32, 32, 0, 31},
    {"past_shared_pointer", Kind::out_of_bounds, kIllegal, 1, 32, 32, 0, 31},
    {"before_shared_array", Kind::out_of_bounds, kIllegal, 1, 32, 32, 0, 0},
    {"past_dynamic", Kind::out_of_bounds, kIllegal, 1, 32, 32, 0, 31, 128},
    {"others_local", Kind::out_of_bounds, kIllegal, 1, 32, 32, 0, 0},
    {"misaligned", Kind::misaligned, cudaErrorMisalignedAddress, 1, 32, 64, 0, 0},
    {"offset_32", Kind::undefined_behaviour, kFailure, 1, 32, 32, 0, 0},
    {"memcpy_past_end", Kind::out_of_bounds, kIllegal, 1, 32, 32, 0, 0},

    {"unwritten_global", Kind::uninitialised_read, kFailure, 1, 32, 32, 0, 0, 0, false},
    {"unwritten_shared", Kind::uninitialised_read, kFailure, 1, 32, 32, 0, 0},
    {"stale_shared", Kind::uninitialised_read, kFailure, 2, 32, 64, 1, 0},

    {"no_first_barrier", Kind::uninitialised_read, kFailure, 1, 128, 256, 0, 0},
    {"no_second_barrier", Kind::race, kFailure, 1, 128, 256, 0, 64},
    {"no_syncwarp", Kind::race, kFailure, 1, 32, 32, 0, 1},
    {"volatile_is_no_syncwarp", Kind::race, kFailure, 1, 32, 32, 0, 1},
    {"a_plus_transpose", Kind::race, kFailure, 8, 8, 64, 1, 0},
    {"two_blocks_one_word", Kind::race, kFailure, 4, 32, 32, 1, 0},
    {"plain_counter", Kind::race, kFailure, 1, 64, 32, 0, 1},
    {"reads_counter_early", Kind::race, kFailure, 1, 64, 32, 0, 40},
    {"resets_counter", Kind::race, kFailure, 1, 64, 64, 0, 1},
    {"last_block_without_fence", Kind::race, kFailure, 4, 32, 32, 3, 0},
    {"neighbour_bytes", Kind::race, kFailure, 1, 32, 64, 0, 1},

    {"barrier_in_branch", Kind::barrier, kFailure, 1, 64, 64, 0, 32},
    {"barriers_in_both_branches", Kind::barrier, kFailure, 1, 64, 64, 0, 1},
    {"barrier_count_differs", Kind::barrier, kFailure, 1, 64, 64, 0, 32},
    {"shuffle_in_branch", Kind::warp_call, kFailure, 1, 32, 32, 0, 0},
    {"shuffle_from_returned", Kind::warp_call, kFailure, 1, 32, 32, 0, 20},
    {"not_in_own_mask", Kind::warp_call, kFailure, 1, 32, 32, 0, 16},
    {"different_calls", Kind::warp_call, kFailure, 1, 32, 32, 0, 16},

    {"missing_wait", Kind::pending_copy, kFailure, 1, 32, 32, 0, 0},
    {"wait_too_little", Kind::pending_copy, kFailure, 1, 32, 32, 0, 0},
    {"copy_without_barrier", Kind::race, kFailure, 1, 64, 64, 0, 32},
    {"fails_assert", Kind::assertion, cudaErrorAssert, 1, 32, 20, 0, 19},
    {"spins", Kind::stuck, cudaErrorLaunchTimeout, 1, 32, 32, 0, 0},
};

// The line of tests_mistakes.cu whose MARK has this name.
int marked_line(const std::string& name) {
    std::string path = __FILE__;
    path.replace(path.rfind(".cpp"), 4, ".cu");
    std::ifstream file(path);
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
        const std::size_t mark = text.find("// MARK");
        if (mark == std::string::npos) continue;
        if ((text.substr(mark) + " ").find(" " + name + " ") != std::string::npos) return line;
    }
    return 0;
}

std::optional<Report> provoke(const Case& c) {
    clear_report();
    cudaGetLastError();
    const auto n = static_cast<std::size_t>(c.n);
    const Device<float> in(std::vector<float>(n, 1.0f)), out(n);
    if (c.out_written) cudaMemset(out.data(), 0, n * 4);
    REQUIRE(run_mistake(c.name, c.grid, c.block, c.shared_bytes, in.data(), c.n, out.data()));
    CHECK(cudaPeekAtLastError() == c.error);
    CHECK(cudaDeviceSynchronize() == c.error);  // a synchronising call says it too
    CHECK(cudaGetLastError() == c.error);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);  // and then it is over
    return last_report();
}

}  // namespace

TEST_CASE("every planted mistake is reported by kernel, line, block and thread") {
    for (const Case& c : kCases) {
        INFO(c.name);
        const auto report = provoke(c);
        REQUIRE(report);
        INFO(report->text);
        CHECK(std::string(name(report->kind)) == name(c.kind));
        CHECK(report->kernel == c.name);
        CHECK(report->file == "common/emulator/tests_mistakes.cu");
        CHECK(report->line == marked_line(c.name));
        CHECK(report->block == std::array<std::uint32_t, 3>{static_cast<unsigned>(c.at_block), 0, 0});
        CHECK(report->thread ==
              std::array<std::uint32_t, 3>{static_cast<unsigned>(c.at_thread), 0, 0});
    }
    CHECK(static_cast<int>(std::size(kCases)) == count_of_mistakes());
}

TEST_CASE("no order of turns hides a mistake") {
    for (const Order order : {Order::reversed, Order::shuffled}) {
        set_order(order, 7);
        for (const Case& c : kCases) {
            if (c.kind == Kind::stuck) continue;  // takes seconds, whatever the order
            INFO(c.name << ", order " << static_cast<int>(order));
            CHECK(provoke(c));
        }
        set_order(Order::forward);
    }
}
