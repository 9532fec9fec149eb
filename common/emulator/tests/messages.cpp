// A check names the likely cause, and never an impossible one.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/machine/address_space.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/report/finding.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/facts.hpp"
#include "common/emulator/tests/findings.hpp"
#include "common/emulator/tests/mistakes.hpp"
#include "common/emulator/tests/process.hpp"
#include "common/emulator/tests/values.hpp"
#include "common/emulator/trace.hpp"
#include "common/testing/catch.hpp"
#include "emulated/language.h"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

extern "C" void __assert_fail(const char*, const char*, unsigned, const char*);  // of assert()

namespace {

// Launches one of the planted bugs.
void launch(const std::string& name) {
    for (const Mistake& mistake : mistakes()) {
        if (mistake.name != name) continue;
        const auto n = static_cast<std::size_t>(mistake.n);
        const Device<float> in(std::vector<float>(n, 1.0f)), out(n);
        if (mistake.out_written) cudaMemset(out.data(), 0, n * sizeof(float));
        launch(mistake, in.data(), out.data());
    }
}

// What the work does wrong.
template <class F, class Work>
F found_by(const Work& work) {
    clear_report();
    work();
    cudaGetLastError();
    return fact_of<F>(last_report());
}

template <class F>
F found(const std::string& mistake) {
    INFO(mistake);
    return found_by<F>([&] { launch(mistake); });
}

}  // namespace

TEST_CASE("an unmapped address is not reported as a host address") {
    CHECK(found<OutOfBounds>("far_away").where == OutOfBounds::Where::nowhere);
}

TEST_CASE("a race has its probable cause: a barrier, a fence or an index, where one can help") {
    using enum Race::Cause;
    const std::pair<const char*, Race::Cause> cases[] = {
        {"warps_agree", own_word_of_thread},
        {"lanes_disagree", one_instruction},
        {"lanes_of_two_lines", warp_or_block_barrier},
        {"two_blocks_one_word", own_word_of_block},
        {"plain_variable", own_word_of_block},
        {"plain_counter", barrier_between_rounds},
        {"no_second_barrier", barrier_of_loop},
        {"barrier_for_others", skipped_barrier},
        {"last_block_without_fence", fence_before_atomic},
        {"variable_without_fence", fence_before_atomic},
        {"barrier_without_fence", fence_before_atomic},
        {"semaphore_without_fence", fence_before_atomic},
        {"fence_without_barrier", fence_before_atomic},
        {"atomic_no_fence", fence_after_atomic},
        {"reads_counter_early", plain_read_of_atomic},
        {"resets_too_early", order_of_blocks},
    };
    for (const auto& [mistake, cause] : cases) {
        INFO(mistake);
        CHECK(found<Race>(mistake).cause == cause);
    }
    CHECK(found<Race>("warps_agree").other.thread() == 31);
    CHECK(found<Race>("lanes_disagree").other.thread() == 2);
    CHECK_FALSE(found<Race>("two_blocks_one_word").in_one_block());
    const Thread* const waits = found<Race>("barrier_for_others").waits;
    CHECK((waits != nullptr && waits->id == 0));
}

TEST_CASE("the threads by which the block index moves an index are found in every order") {
    const Device<float> x(std::vector<float>(128, 1.0f));
    for (const auto order : {Order::forward, Order::reversed}) {
        set_order(order);
        for (const Provoked& one : provoked_by_kernels()) {
            const std::string kernel = one.name;
            if (kernel.rfind("step_is_", 0) != 0) continue;
            INFO(kernel);
            const StepOfBlock step = found_by<Race>([&] { one.work(x.data()); }).step;
            const bool small = kernel == "step_is_too_small";
            const StepOfBlock want =
                small ? StepOfBlock{'y', 0, 10, 12} : StepOfBlock{'x', 'y', 4, 8};
            CHECK((step.axis == want.axis && step.instead == want.instead));
            CHECK((step.threads == want.threads && step.extent == want.extent));
        }
    }
    set_order(Order::forward);
}

TEST_CASE("a read of unwritten memory is not blamed on a barrier that all threads passed") {
    using enum UninitialisedRead::Cause;
    CHECK(found<UninitialisedRead>("no_first_barrier").cause == missing_barrier);
    CHECK(found<UninitialisedRead>("unwritten_shared").cause == one_element_each);
    CHECK(found<UninitialisedRead>("unwritten_shared").elements == 32);
    CHECK(found<UninitialisedRead>("unwritten_global").cause == never_written);
}

TEST_CASE("of two barriers in branches, the one that was reached first is named") {
    for (const auto& [mistake, astray] :
         {std::pair("barrier_in_branch", 32u), std::pair("barriers_in_both_branches", 1u)}) {
        const auto fact = found<DifferentBarriers>(mistake);
        CHECK(fact.first->id == 0);
        CHECK(fact.astray->id == astray);
    }
}

TEST_CASE("a thread that is one loop iteration ahead is reported as such, but only in a loop") {
    const Device<float> out(64);
    for (const int barriers : {0, 1, 2}) {
        const auto race = found_by<Race>([&] { run_a_round_ahead(barriers, out.data()); });
        CHECK(race.cause ==
              (barriers > 0 ? Race::Cause::barrier_of_loop : Race::Cause::block_barrier));
        CHECK(find_line(race.barrier).file == (barriers > 0 ? last_report()->file : ""));
    }
}

TEST_CASE("a shuffle tells a lane that skipped it from one that the block does not have") {
    const Device<float> out(64);
    for (const int lanes : {32, 20}) {
        const auto call = found_by<WrongWarpCall>([&] { shuffle_past_if(lanes, out.data()); });
        CHECK(call.what == (lanes == 32 ? WrongWarpCall::What::lane_never_came
                                        : WrongWarpCall::What::lane_not_there));
        CHECK(call.lane >= 20);
    }
}

TEST_CASE("threads that returned before a barrier cause a note, not an error") {
    remarks();
    clear_report();
    launch("no_guard");
    CHECK(remarks().empty());
    cudaGetLastError();
    const Device<float> out(64);
    clear_report();
    return_before_barrier(out.data());
    CHECK_FALSE(last_report());
    const auto notes = remarks();
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].find("values.cu:") != std::string::npos);
    CHECK(notes[0].find("threads 60-63 of block (0,0,0) returned") != std::string::npos);
    CHECK(remarks().empty());
}

TEST_CASE("a warp call's report mentions a barrier only if a missing lane waits there") {
    const auto in_branch = found<WrongWarpCall>("shuffle_in_branch");
    CHECK(in_branch.what == WrongWarpCall::What::never_complete);
    REQUIRE(in_branch.other != nullptr);
    CHECK(in_branch.other->id == 16);
    CHECK(found<WrongWarpCall>("calls_in_a_ring").other == nullptr);
}

TEST_CASE("an access one past the end by the very first thread is not blamed on its guard") {
    const Device<float> in(std::vector<float>(15, 1.0f)), out(3);
    const auto fact = found_by<OutOfBounds>([&] { exchange_indices(in.data(), out.data()); });
    CHECK(fact.address == reinterpret_cast<std::uintptr_t>(in.data() + 15));
    CHECK(last_report()->text.find("or are two of them swapped?") != std::string::npos);
}

TEST_CASE("a rejected launch is reported with its line, before its consequences") {
    clear_report();
    const Device<float> unwritten(64), out(64);
    launch_empty(1, 2048);  // its error is not checked
    saxpy(1.0f, unwritten.data(), unwritten.data(), 64, out.data());
    const auto report = last_report();
    REQUIRE(report);
    CHECK(report->kind == Kind::invalid_launch);
    CHECK(report->file == "common/emulator/tests/values.cu");
    CHECK(report->line > 0);
    CHECK(report->text.find("block (2048,1,1) has 2048 threads") != std::string::npos);
    cudaGetLastError();
}

TEST_CASE("a report that was never read is printed at exit, and the status is 1") {
    const Ended unasked = in_another_process([] { launch("no_guard"); });
    CHECK(unasked.status == 1);
    CHECK(unasked.said.find("emulator: no_guard, common/emulator/tests/mistakes/bounds.cu:") == 0);
    const Ended asked = in_another_process([] {
        launch("no_guard");
        last_report();
    });
    CHECK(asked.status == 0);
    CHECK(asked.said.empty());
    const Ended right = in_another_process([] { launch_empty(1, 32); });
    CHECK(right.status == 0);
    const Ended own_status = in_another_process([] {
        launch("no_guard");
        std::exit(7);
    });
    CHECK(own_status.status == 7);
    CHECK(own_status.said.find("past its end") != std::string::npos);
}

TEST_CASE("a program that cannot continue says why and is aborted") {
    const std::pair<void (*)(), const char*> cases[] = {
        {[] { reserve(std::size_t{1} << 62, "a test"); }, "MB of address space for a test."},
        {[] { fail(by_host(Kind::race, cudaErrorUnknown, Place("a.cu", 7), "Wrong.", 0)); },
         "emulator: a.cu:7: Wrong."},
        {[] { __assert_fail("x > 0", "a.cu", 7, "f"); }, "a.cu:7: f: Assertion `x > 0' failed."},
        {[] { trap(Site::current()); }, ""}};
    for (const auto& [work, words] : cases) {
        const Ended ended = in_another_process(work);
        INFO(ended.said);
        CHECK(ended.status == -SIGABRT);
        CHECK(ended.said.find(words) != std::string::npos);
    }
}

TEST_CASE("a program that tells its findings prints each once, then notes, then the trace") {
    const auto count = [](const Ended& ended, const std::string& words) {
        int found = 0;
        for (std::size_t at = 0; (at = ended.said.find(words, at)) != std::string::npos; ++at)
            ++found;
        return found;
    };
    const Ended twice = in_another_process([] {
        tell_findings(nullptr);
        for (const char* name : {"no_guard", "no_guard", "missing_wait"}) launch(name);
        std::fprintf(stderr, "%zu told\n", findings_told());
    });
    INFO(twice.said);
    CHECK(twice.status == 1);
    CHECK(count(twice, "emulator: ") == 2);
    CHECK(count(twice, "past its end") == 1);
    CHECK(count(twice, "2 told") == 1);
    CHECK(count(twice, "without waiting") == 0);  // a failed launch leaves too little to judge

    const Ended unfinished = in_another_process([] {
        tell_findings(nullptr);
        launch_empty(1, 32);
    });
    INFO(unfinished.said);
    CHECK(unfinished.status == 0);
    CHECK(count(unfinished, "emulator, note: the program ends without waiting for empty") == 1);
    CHECK(count(unfinished, "common/emulator/tests/values.cu:") == 1);
    const Ended waited = in_another_process([] {
        tell_findings(nullptr);
        launch_empty(1, 32);
        cudaDeviceSynchronize();
    });
    CHECK((waited.status == 0 && waited.said.empty()));
    const Ended silent = in_another_process([] { launch_empty(1, 32); });
    CHECK((silent.status == 0 && silent.said.empty()));

    const Ended early = in_another_process([] {
        void* p = nullptr;
        cudaMalloc(&p, 1000);
        std::exit(3);
    });
    CHECK((early.status == 3 && early.said.empty()));  // it could not free its memory
    for (const char* const form : {"table", "explain"}) {
        setenv("SIXDAYS_TRACE", form, 1);
        const Ended traced = in_another_process([] {
            tell_findings(nullptr);
            start_trace();
            const Device<float> in(std::vector<float>(64, 1.0f)), out(64);
            saxpy(2, in.data(), in.data(), 64, out.data());
            cudaDeviceSynchronize();
        });
        INFO(traced.said);
        CHECK(traced.status == 0);
        CHECK(count(traced, "  requests   per request") == 1);
        CHECK(count(traced, "sectors of 32 bytes, and how many lanes") == 1);
        const bool explains = std::string(form) == "explain";
        CHECK(count(traced, "1. The load in") == (explains ? 1 : 0));
        CHECK(count(traced, "Every request moves as little") == (explains ? 0 : 1));
    }
    unsetenv("SIXDAYS_TRACE");

    for (const bool by_stream : {true, false}) {  // what the program printed comes first
        static bool streams;
        streams = by_stream;
        const Ended printed = in_another_process([] {
            dup2(STDERR_FILENO, STDOUT_FILENO);
            std::ios::sync_with_stdio(false);
            tell_findings(nullptr);
            streams ? void(std::cout << "printed") : void(std::fputs("printed", stdout));
            launch("no_guard");
        });
        INFO(printed.said);
        CHECK(count(printed, "emulator: ") == 1);
        CHECK(printed.said.find("printed") < printed.said.find("emulator: "));
    }

    static bool takes = true;
    for (const bool one : {true, false}) {  // what the listener does not take is printed
        takes = one;
        const Ended heard = in_another_process([] {
            tell_findings([](const Report* report, const std::string& text) {
                std::fprintf(stderr, "%s %zu\n", report != nullptr ? "heard" : "note", text.size());
                return takes;
            });
            launch("no_guard");
        });
        INFO(heard.said);
        CHECK(heard.status == 1);
        CHECK(count(heard, "heard ") == 1);
        CHECK(count(heard, "emulator: ") == (one ? 0 : 1));
    }
}

// As gcc's ubsan.c lays out the arguments of its handlers.
extern "C" void __ubsan_handle_add_overflow(void* data, std::uintptr_t a, std::uintptr_t b);
extern "C" void __ubsan_handle_sub_overflow(void* data, std::uintptr_t a, std::uintptr_t b);
extern "C" void __ubsan_handle_mul_overflow(void* data, std::uintptr_t a, std::uintptr_t b);

TEST_CASE("an overflow shows its operands in every integer type") {
    struct Type {
        std::uint16_t kind, info;  // 0: integer; log2 of the width, then 1 if it is signed
        char name[8];
    };
    struct Data {
        const char* file;
        std::uint32_t line, column;
        const Type* type;
    };
    const std::uintptr_t minus_two = static_cast<std::uintptr_t>(-2);
    const struct {
        Type type;
        std::uintptr_t a, b;
        std::string operands;  // around the operator
    } cases[] = {
        {{0, 3 << 1 | 1, "'char'"}, 127, 0xfe, "127 -2"},
        {{0, 4 << 1 | 1, "'short'"}, 0x8000, 3, "-32768 3"},
        {{0, 5 << 1 | 1, "'int'"}, 0x7fffffff, 0xfffffffe, "2147483647 -2"},
        {{0, 5 << 1, "'uint'"}, 0xffffffff, 1, "4294967295 1"},
        {{0, 6 << 1 | 1, "'long'"}, minus_two, 1, "-2 1"},
        {{0, 6 << 1, "'ulong'"}, minus_two, 1, "18446744073709551614 1"},
        {{0, 7 << 1 | 1, "'wide'"}, 5, 6, "a value a value"},
        {{1, 5 << 1 | 1, "'float'"}, 5, 6, "a value a value"},
    };
    remarks();
    std::uint32_t line = 100;  // a remark is made once per line
    for (const auto& c : cases) {
        for (const char sign : {'+', '-', '*'}) {
            Data data{__FILE__, ++line, 1, &c.type};
            const auto handle = sign == '+'   ? __ubsan_handle_add_overflow
                                : sign == '-' ? __ubsan_handle_sub_overflow
                                              : __ubsan_handle_mul_overflow;
            handle(&data, c.a, c.b);
            const auto notes = remarks();
            REQUIRE(notes.size() == 1);
            INFO(notes[0]);
            const std::size_t between = c.operands.find(' ', c.operands[0] == 'a' ? 3 : 0);
            const std::string text = c.operands.substr(0, between) + ' ' + sign +
                                     c.operands.substr(between) + " does not fit into " +
                                     c.type.name;
            CHECK(notes[0].find("messages.cpp:" + std::to_string(line)) != std::string::npos);
            CHECK(notes[0].find(": " + text + ".") != std::string::npos);
        }
    }
}
