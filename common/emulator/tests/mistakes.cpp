// Every planted mistake is reported: kind, kernel, line, block, thread, and the error a GPU would
// give.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/mistakes.hpp"
#include "common/emulator/tests/values.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

struct Case {
    const char* name;
    Kind kind;
    cudaError_t error;
    int at_block, at_thread;  // x; who is accused when threads run in order
};

constexpr cudaError_t kIllegal = cudaErrorIllegalAddress;
constexpr cudaError_t kFailure = cudaErrorLaunchFailure;

const Case kCases[] = {
    {"no_guard", Kind::out_of_bounds, kIllegal, 1, 122},
    {"one_block_too_many", Kind::out_of_bounds, kIllegal, 1, 0},
    {"one_before", Kind::out_of_bounds, kIllegal, 0, 0},
    {"first_past_end", Kind::out_of_bounds, kIllegal, 0, 0},
    {"flip_from_the_start", Kind::out_of_bounds, kIllegal, 0, 8},
    {"write_past_end", Kind::out_of_bounds, kIllegal, 0, 5},
    {"byte_past_end", Kind::out_of_bounds, kIllegal, 0, 5},
    {"quad_as_argument", Kind::out_of_bounds, kIllegal, 0, 8},
    {"far_away", Kind::out_of_bounds, kIllegal, 0, 1},
    {"null_pointer", Kind::out_of_bounds, kIllegal, 0, 2},
    {"past_shared_array", Kind::out_of_bounds, kIllegal, 0, 31},
    {"past_shared_pointer", Kind::out_of_bounds, kIllegal, 0, 31},
    {"before_shared_array", Kind::out_of_bounds, kIllegal, 0, 0},
    {"past_dynamic", Kind::out_of_bounds, kIllegal, 0, 31},
    {"next_shared_array", Kind::out_of_bounds, kIllegal, 0, 0},
    {"next_tile", Kind::out_of_bounds, kIllegal, 0, 31},
    {"no_room_for_tile", Kind::out_of_bounds, kIllegal, 0, 0},
    {"others_local", Kind::out_of_bounds, kIllegal, 0, 0},
    {"misaligned", Kind::misaligned, cudaErrorMisalignedAddress, 0, 0},
    {"offset_32", Kind::undefined_behaviour, kFailure, 0, 0},
    {"memcpy_past_end", Kind::out_of_bounds, kIllegal, 0, 0},
    {"beyond_row", Kind::out_of_bounds, kIllegal, 0, 7},
    {"before_row", Kind::out_of_bounds, kIllegal, 0, 8},

    {"unwritten_global", Kind::uninitialised_read, kFailure, 0, 0},
    {"unwritten_shared", Kind::uninitialised_read, kFailure, 0, 0},
    {"stale_shared", Kind::uninitialised_read, kFailure, 1, 0},

    {"no_first_barrier", Kind::uninitialised_read, kFailure, 0, 0},
    {"no_second_barrier", Kind::race, kFailure, 0, 64},
    {"barrier_for_others", Kind::race, kFailure, 0, 32},
    {"no_syncwarp", Kind::race, kFailure, 0, 1},
    {"volatile_is_no_syncwarp", Kind::race, kFailure, 0, 1},
    {"a_plus_transpose", Kind::race, kFailure, 1, 0},
    {"two_blocks_one_word", Kind::race, kFailure, 1, 0},
    {"plain_counter", Kind::race, kFailure, 0, 1},
    {"another_reads", Kind::race, kFailure, 0, 40},
    {"reads_again_after_barrier", Kind::race, kFailure, 0, 40},
    {"last_reader_writes", Kind::race, kFailure, 0, 63},
    {"reads_counter_early", Kind::race, kFailure, 0, 40},
    {"resets_counter", Kind::race, kFailure, 0, 1},
    {"last_block_without_fence", Kind::race, kFailure, 3, 0},
    {"variable_without_fence", Kind::race, kFailure, 3, 0},
    {"resets_too_early", Kind::race, kFailure, 1, 0},
    {"plain_variable", Kind::race, kFailure, 1, 0},
    {"barrier_without_fence", Kind::race, kFailure, 3, 0},
    {"fence_without_barrier", Kind::race, kFailure, 3, 0},
    {"atomic_no_fence", Kind::race, kFailure, 3, 0},
    {"semaphore_without_fence", Kind::race, kFailure, 1, 0},
    {"store_after_fence", Kind::race, kFailure, 1, 0},
    {"lanes_not_met", Kind::race, kFailure, 1, 1},
    {"cas_of_another_value", Kind::race, kFailure, 0, 1},
    {"reads_then_adds", Kind::race, kFailure, 0, 1},
    {"stores_beside_atomics", Kind::race, kFailure, 0, 63},
    {"reads_counter_of_others", Kind::race, kFailure, 1, 0},
    {"flag_of_each_block", Kind::race, kFailure, 1, 0},
    {"lanes_agree_too_late", Kind::race, kFailure, 0, 1},
    {"lanes_disagree", Kind::race, kFailure, 0, 3},
    {"lanes_disagree_about_quads", Kind::race, kFailure, 0, 3},
    {"warps_agree", Kind::race, kFailure, 0, 32},
    {"lanes_of_two_lines", Kind::race, kFailure, 0, 1},
    {"neighbour_bytes", Kind::race, kFailure, 0, 1},
    {"across_two_words", Kind::race, kFailure, 0, 1},

    {"barrier_in_branch", Kind::barrier, kFailure, 0, 32},
    {"barriers_in_both_branches", Kind::barrier, kFailure, 0, 1},
    {"barriers_in_one_line", Kind::barrier, kFailure, 0, 1},
    {"barrier_count_differs", Kind::barrier, kFailure, 0, 32},
    {"shuffle_in_branch", Kind::warp_call, kFailure, 0, 0},
    {"shuffle_from_returned", Kind::warp_call, kFailure, 0, 20},
    {"calls_in_a_ring", Kind::warp_call, kFailure, 0, 0},
    {"shuffle_in_helper", Kind::warp_call, kFailure, 0, 0},
    {"not_in_own_mask", Kind::warp_call, kFailure, 0, 16},
    {"different_calls", Kind::warp_call, kFailure, 0, 16},

    {"missing_wait", Kind::pending_copy, kFailure, 0, 0},
    {"neighbours_missing_wait", Kind::pending_copy, kFailure, 0, 0},
    {"wait_too_little", Kind::pending_copy, kFailure, 0, 0},
    {"refilled_too_early", Kind::pending_copy, kFailure, 0, 16},
    {"copy_without_barrier", Kind::race, kFailure, 0, 32},
    {"fails_assert", Kind::assertion, cudaErrorAssert, 0, 19},
    {"spins", Kind::stuck, cudaErrorLaunchTimeout, 0, 0},
};

struct Marked {
    std::string file;  // relative to the project
    int line = 0;
};
// Where in mistakes/ the MARK with this name stands.
Marked marked(const std::string& name) {
    const std::string here = __FILE__;
    for (const char* kind : {"bounds", "races", "fences", "barriers", "others"}) {
        const std::string path = here.substr(0, here.rfind(".cpp")) + "/" + kind + ".cu";
        std::ifstream file(path);
        std::string text;
        for (int line = 1; std::getline(file, text); ++line) {
            const std::size_t mark = text.find("// MARK");
            if (mark == std::string::npos) continue;
            if ((text.substr(mark) + " ").find(" " + name + " ") == std::string::npos) continue;
            return {path.substr(path.rfind("common/emulator/")), line};
        }
    }
    return {};
}

std::optional<Report> provoke(const Case& c) {
    clear_report();
    cudaGetLastError();
    const auto mistake = std::find_if(mistakes().begin(), mistakes().end(), [&c](const Mistake& m) {
        return std::string(m.name) == c.name;
    });
    REQUIRE(mistake != mistakes().end());
    const auto n = static_cast<std::size_t>(mistake->n);
    const Device<float> in(std::vector<float>(n, 1.0f)), out(n);
    if (mistake->out_written) cudaMemset(out.data(), 0, n * 4);
    launch(*mistake, in.data(), out.data());
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
        CHECK(report->file == marked(c.name).file);
        CHECK(report->line == marked(c.name).line);
        CHECK(report->block ==
              std::array<std::uint32_t, 3>{static_cast<unsigned>(c.at_block), 0, 0});
        CHECK(report->thread ==
              std::array<std::uint32_t, 3>{static_cast<unsigned>(c.at_thread), 0, 0});
    }
    CHECK(std::size(kCases) + 3 == mistakes().size());  // 3 come below
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

TEST_CASE("what no hook sees is still told: a stack that overflows, a loop without end") {
    const auto told = [](const char* kernel, Kind kind, cudaError_t error) {
        INFO(kernel);
        const auto report = provoke({kernel, kind, error, 0, 0});
        REQUIRE(report);
        INFO(report->text);
        CHECK(std::string(name(report->kind)) == name(kind));
        CHECK(report->kernel == kernel);
        const Marked mark = marked(kernel);
        CHECK(report->file == mark.file);
        // A loop is ended in one of its lines: the mark's, or the one before.
        CHECK((report->line == mark.line || report->line + 1 == mark.line));
    };
    told("recursion", Kind::stack_overflow, kFailure);
    set_time_limit(1);
    told("endless_loop", Kind::stuck, cudaErrorLaunchTimeout);
    told("endless_barriers", Kind::stuck, cudaErrorLaunchTimeout);
    set_time_limit(60);
    // And the emulator is as good as new.
    const Device<float> x(std::vector<float>(64, 1.0f)), out(64);
    saxpy(2.0f, x.data(), x.data(), 64, out.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(out.host() == std::vector<float>(64, 3.0f));
}

// Pointers of the wrong kind, with a kernel that is right.
TEST_CASE("host, freed and foreign pointers are told apart") {
    const auto after = [](const float* x, const float* y, float* out) {
        clear_report();
        cudaGetLastError();
        saxpy(1.0f, x, y, 64, out);
        CHECK(cudaGetLastError() == kIllegal);
        const auto report = last_report();
        REQUIRE(report);
        CHECK(report->kernel == "saxpy_kernel");
        CHECK(report->file == "common/emulator/tests/values.cu");
        CHECK(report->line > 0);
        return *report;
    };
    const Device<float> x(std::vector<float>(64, 1.0f)), out(64);
    const std::vector<float> on_heap(64, 1.0f);
    const float on_stack[64] = {};
    static float global[64];
    CHECK(after(x.data(), on_heap.data(), out.data()).kind == Kind::host_memory);
    CHECK(after(x.data(), on_stack, out.data()).kind == Kind::host_memory);
    CHECK(after(x.data(), global, out.data()).kind == Kind::host_memory);
    CHECK(after(x.data(), x.data(), global).kind == Kind::host_memory);
    CHECK(after(x.data(), nullptr, out.data()).kind == Kind::out_of_bounds);
    // So far below lie the emulator's own tables, if anything.
    const float* nowhere = x.data() - (std::int64_t{1} << 32);
    const Report there = after(nowhere, x.data(), out.data());
    CHECK(there.kind == Kind::out_of_bounds);
    CHECK(there.text.find("where nothing lies") != std::string::npos);

    float* freed = nullptr;
    REQUIRE(cudaMalloc(&freed, 256) == cudaSuccess);
    REQUIRE(cudaFree(freed) == cudaSuccess);
    const Report report = after(freed, x.data(), out.data());
    CHECK(report.kind == Kind::freed_memory);
    CHECK(report.text.find("freed by cudaFree") != std::string::npos);
    clear_report();
}

TEST_CASE("copies and frees of wrong pointers are refused in words") {
    const Device<float> device(std::vector<float>(64, 1.0f));
    std::vector<float> host(64);
    const auto refused = [](cudaError_t error, Kind kind) {
        CHECK(error == cudaErrorInvalidValue);
        CHECK(cudaGetLastError() == cudaErrorInvalidValue);
        const auto report = last_report();
        REQUIRE(report);
        INFO(report->text);
        CHECK(std::string(name(report->kind)) == name(kind));
        CHECK(report->kernel.empty());
        clear_report();
    };
    clear_report();
    refused(cudaMemcpy(device.data(), device.data(), 256, cudaMemcpyHostToDevice),
            Kind::device_memory);
    refused(cudaMemcpy(host.data(), host.data(), 256, cudaMemcpyHostToDevice), Kind::host_memory);
    refused(cudaMemcpy(host.data(), device.data(), 256, cudaMemcpyHostToDevice), Kind::host_memory);
    refused(cudaMemcpy(host.data(), device.data(), 257, cudaMemcpyDeviceToHost),
            Kind::out_of_bounds);
    refused(cudaMemset(device.data(), 0, 260), Kind::out_of_bounds);
    refused(cudaMemset(host.data(), 0, 256), Kind::host_memory);
    refused(cudaFree(host.data()), Kind::invalid_call);
    refused(cudaFree(device.data() + 1), Kind::invalid_call);
    void* twice = nullptr;
    REQUIRE(cudaMalloc(&twice, 64) == cudaSuccess);
    REQUIRE(cudaFree(twice) == cudaSuccess);
    refused(cudaFree(twice), Kind::invalid_call);
    refused(cudaMemcpy(twice, host.data(), 64, cudaMemcpyHostToDevice), Kind::freed_memory);
}

TEST_CASE("the first report stays until its error was told") {
    clear_report();
    const Device<float> x(std::vector<float>(64, 1.0f)), out(64);
    saxpy(1.0f, x.data(), x.data(), 65, out.data());
    saxpy(1.0f, x.data(), nullptr, 1, out.data());
    CHECK(last_report()->text.find("element 64") != std::string::npos);
    CHECK(cudaGetLastError() == kIllegal);
    CHECK(last_report()->text.find("element 64") != std::string::npos);
    saxpy(1.0f, x.data(), nullptr, 1, out.data());
    CHECK(last_report()->text.find("null pointer") != std::string::npos);
    cudaGetLastError();
    clear_report();
}
