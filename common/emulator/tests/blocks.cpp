// Blocks that wait for each other run in turns, and what they do is judged as if each had run on.
#include "common/emulator/tests/blocks.hpp"

#include <fstream>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/trace.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

std::vector<unsigned> run(const std::vector<BlocksCase>& all, const std::string& name) {
    const Device<Board> memory(std::vector<Board>(1));
    clear_report();
    for (const BlocksCase& one : all) {
        if (one.name == name) one.launch(memory.data());
    }
    cudaDeviceSynchronize();
    const Board after = memory.host()[0];
    return {std::begin(after.out), std::end(after.out)};
}

// The results of a kernel that must not be reported.
std::vector<unsigned> of_right(const std::string& name) {
    const std::vector<unsigned> got = run(right_blocks(), name);
    INFO(name << ": " << (last_report() ? last_report()->text : ""));
    CHECK_FALSE(last_report());
    return got;
}

template <class Formula>
std::vector<unsigned> made(Formula formula, unsigned count = 128) {
    std::vector<unsigned> all(128);
    for (unsigned i = 0; i < count; ++i) all[i] = formula(i);
    return all;
}

std::string text_of_line(int line) {
    std::string path = __FILE__, text;
    std::ifstream in(path.replace(path.rfind(".cpp"), 4, ".cu"));
    for (int i = 0; i < line; ++i) std::getline(in, text);
    return text;
}

struct Found {
    Report report;
    cudaError_t error;
};
Found of_wrong(const std::string& name) {
    run(wrong_blocks(), name);
    const cudaError_t error = cudaGetLastError();
    const auto report = last_report();
    clear_report();
    INFO(name);
    REQUIRE(report);
    INFO(report->text);
    const std::string caller = ", called from line ";
    const std::size_t called = report->text.find(caller);
    const int line = called == std::string::npos
                         ? report->line
                         : std::stoi(report->text.substr(called + caller.size()));
    const std::string lines = text_of_line(report->line) + text_of_line(line);
    CHECK(lines.find("MARK " + name) != std::string::npos);
    return {*report, error};
}

}  // namespace

TEST_CASE("blocks that wait for each other run in turns", "[blocks]") {
    const auto order = GENERATE(Order::forward, Order::reversed, Order::shuffled);
    set_order(order, 3);
    for (const char* name : {"plain", "cooperative", "in_cluster"}) {
        CHECK(of_right(name) == made([](unsigned) { return 5000; }));
    }
    CHECK(of_right("by_flag") == made([](unsigned i) { return i < 64 ? 0 : 210 * (128 - i); }));
    for (const char* name : {"barrier_by_hand", "barrier_by_hand_in_grid"}) {
        CHECK(of_right(name) == made([](unsigned i) { return 55 + 10 * ((i / 16 + 1) % 4); }, 64));
    }
    CHECK(of_right("long_wait") == made([](unsigned) { return 1; }, 3));
    CHECK(of_right("chain") == made([](unsigned i) { return 128 - i; }));
    CHECK(of_right("grid_and_polls") ==
          made([](unsigned i) { return 60 + 4 * ((1 - i / 64) + 63 - i % 64); }));
    set_order(Order::forward);
}

TEST_CASE("a block that is put aside goes on as it was", "[blocks]") {
    const auto order = GENERATE(Order::forward, Order::reversed, Order::shuffled);
    set_order(order, 3);
    CHECK(of_right("shared") == made([](unsigned i) {
              const unsigned t = 63 - i % 64;
              return 1100 * (i / 64) + t + t / 32 * 32 + (t + 1) % 32;
          }));
    CHECK(of_right("lanes") == made([](unsigned i) { return i % 64 == 0 ? 5 + i / 64 : 0; }));
    CHECK(of_right("matrices") ==
          made([](unsigned i) { return i % 64 < 32 ? 4000 * (i / 64) + 192 + 4 * (i % 64) : 0; }));
    CHECK(of_right("acquired")[0] == 5);
    CHECK(of_right("acquired_before_barrier")[0] == 5);
    CHECK(of_right("lanes_acquire")[0] == 5);
    CHECK(of_right("released")[0] == 5);
    CHECK(of_right("compare_and_swap")[0] == 1);
    CHECK(of_right("readers") == made([](unsigned) { return 3; }, 8));
    CHECK(of_right("in_flight") == made([](unsigned) { return 1; }));
    CHECK(of_right("store_in_flight") == made([](unsigned) { return 0x3f800000; }));  // 1.0f
    CHECK(of_right("tile_and_array") == made([](unsigned i) { return 63 - i % 64; }));
    CHECK(of_right("in_ptx") == made([](unsigned i) { return 6 - i; }, 2));
    start_trace();
    CHECK(of_right("traced") == made([](unsigned) { return 1; }, 64));
    std::uint64_t requests = 0;
    for (const LineTrace& line : stop_trace()) {
        if (text_of_line(line.line).find("= m->data[t] + 1;") != std::string::npos) {
            if (line.operation == Operation::load) requests += line.requests;
            CHECK(line.accesses == 64);
        }
    }
    CHECK(requests == 2);
    set_order(Order::forward);
}

TEST_CASE("a value that no block will store is a deadlock, and the report says why", "[blocks]") {
    struct Case {
        const char* name;
        std::vector<const char*> says;
    };
    const auto [name, says] = GENERATE(values<Case>(
        {{"never_stored",
          {"thread (3,0,0) of block (1,0,0) reads 16 bytes at element 0 of",
           "Of the other blocks 1 has returned, and this block's other threads"}},
         {"never_stored_in_grid", {"Of the other blocks 1 has returned"}},
         {"reads_meanwhile",
          {"thread (3,0,0) of block (1,0,0) reads 4 bytes at ",
           "Of the other blocks 1 has returned"}},
         {"both_wait", {"Of the other blocks 1 polls as well"}},
         {"waits_for_barrier", {"Of the other blocks 1 waits at a barrier of blocks"}},
         {"sleeps", {"reads 4 bytes at element ", "1 polls as well", "no thread is left that"}},
         {"too_many_blocks",
          {"more blocks than are resident: 200, of which the device holds 128 at a time",
           "Of the other blocks 199 have not started."}},
         {"another_cluster",
          {"Of the other blocks 1 polls as well, 2 have not started. Waiting for those is not "
           "modelled: the emulator runs one cluster after another"}}}));
    const Found found = of_wrong(name);
    INFO(found.report.text);
    CHECK(found.report.kind == Kind::stuck);
    CHECK(found.error == cudaErrorLaunchTimeout);
    for (const char* part : says) CHECK(found.report.text.find(part) != std::string::npos);
}

TEST_CASE("atomic operations of PTX and C++ order what their memory order says", "[blocks]") {
    set_order(GENERATE(Order::forward, Order::reversed), 3);
    for (const OrderCase& one : order_cases()) {
        for (const bool fences : {true, false}) {
            const Device<Board> memory(std::vector<Board>(1));
            clear_report();
            one.launch(memory.data(), fences);
            cudaDeviceSynchronize();
            cudaGetLastError();
            const bool right =
                one.strength == Strength::ordered || (fences && one.strength == Strength::relaxed);
            INFO(one.name << (fences ? " and fences: " : ": ")
                          << (last_report() ? last_report()->text : "no report"));
            CHECK(last_report().has_value() == !right);
            if (!right && last_report()) CHECK(last_report()->kind == Kind::race);
            if (right) CHECK(memory.host()[0].out[0] == (fences ? 64 : 2));
        }
    }
    set_order(Order::forward);
    clear_report();
}

TEST_CASE("cuda::atomic_ref returns old values, and integers wrap", "[blocks]") {
    const Device<Board> memory(std::vector<Board>(1));
    clear_report();
    launch_returned_values(memory.data());
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK_FALSE(last_report());
    const std::vector<int> expected{5,  -2147483644, -2147483644, -2147483638, -2147483638, 12, 12,
                                    15, 7,           7,           7,           6,           0,  20,
                                    1,  1,           150,         175,         -25,         0};
    const Board after = memory.host()[0];
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO("value " << i);
        CHECK(static_cast<int>(after.out[i]) == expected[i]);
    }
}

TEST_CASE("races are found, whichever block was put aside", "[blocks]") {
    const auto order = GENERATE(Order::forward, Order::reversed, Order::shuffled);
    set_order(order, 3);
    CHECK(of_wrong("no_fence_of_writer").report.kind == Kind::race);
    CHECK(of_wrong("no_fence_of_reader").report.kind == Kind::race);
    CHECK(of_wrong("plain_store").report.kind == Kind::race);
    CHECK(of_wrong("read_beside_atomic").report.kind == Kind::race);
    CHECK(of_wrong("other_lane").report.kind == Kind::race);
    const Report in_block = of_wrong("no_barrier").report;
    INFO(in_block.text);
    CHECK(in_block.kind == Kind::race);
    CHECK(in_block.text.find("which thread (0,0,0) of the same block writes") != std::string::npos);
    CHECK(of_wrong("misaligned").report.kind == Kind::misaligned);
    set_order(Order::forward);
}

// Not a race: 16 bytes are never half old and half new. The host sees the first value twice.
TEST_CASE("a reader that accepts any epoch gets an old value", "[blocks]") {
    const std::vector<unsigned> got = run(wrong_blocks(), "stale");
    CHECK_FALSE(last_report());
    CHECK(got[1] == 10);
    CHECK(got[2] == 10);  // not 20
}

TEST_CASE("waiting for the host or for another stream is named as not modelled", "[blocks]") {
    const Device<unsigned> out(std::vector<unsigned>(1)), in_device(std::vector<unsigned>(1));
    static unsigned registered;
    unsigned *pinned = nullptr, *mapped = nullptr;
    REQUIRE(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 4, cudaHostAllocMapped) ==
            cudaSuccess);
    REQUIRE(cudaHostGetDevicePointer(reinterpret_cast<void**>(&mapped), pinned, 0) == cudaSuccess);
    REQUIRE(cudaHostRegister(&registered, 4, 0) == cudaSuccess);
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    *pinned = 0;
    const auto check = [&](unsigned* flag, const char* says) {
        clear_report();
        wait_for_host(flag, out.data(), stream);
        cudaDeviceSynchronize();
        cudaGetLastError();
        REQUIRE(last_report());
        INFO(last_report()->text);
        CHECK(last_report()->text.find(says) != std::string::npos);
        CHECK(text_of_line(last_report()->line).find("MARK waits_for_host") != std::string::npos);
    };
    check(mapped, "a kernel that waits for the host is not modelled");
    check(&registered, "a kernel that waits for the host is not modelled");
    check(in_device.data(), "Waiting for work of another stream, a kernel or a copy, is not");
    cudaStreamDestroy(stream);
    clear_report();
    *pinned = 6;  // before the launch
    wait_for_host(mapped, out.data());
    CHECK(out.host()[0] == 6);
    CHECK_FALSE(last_report());
    cudaHostUnregister(&registered);
    cudaFreeHost(pinned);
}
