// A message names the likely cause, and never an impossible one.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
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

std::string told(const std::string& mistake) {
    clear_report();
    cudaGetLastError();
    launch(mistake);
    const auto report = last_report();
    cudaGetLastError();
    return report ? report->text : "nothing";
}

void check(const char* mistake, const std::vector<const char*>& said,
           const std::vector<const char*>& not_said = {}) {
    const std::string text = told(mistake);
    INFO(mistake << ": " << text);
    for (const char* words : said) CHECK(text.find(words) != std::string::npos);
    for (const char* words : not_said) CHECK(text.find(words) == std::string::npos);
}

struct Ended {
    int status;
    std::string said;
};
// Runs the work in another process; returns its stderr and its exit status.
Ended in_another_process(void (*work)()) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        clear_report();
        work();
        std::exit(0);
    }
    close(ends[1]);
    Ended ended{};
    char some[256];
    for (ssize_t n; (n = read(ends[0], some, sizeof(some))) > 0;) {
        ended.said.append(some, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
}

}  // namespace

TEST_CASE("an unmapped address is not reported as a host address") {
    check("far_away",
          {"belongs neither to the GPU nor to the CPU", "Did an offset overflow 32 bits"},
          {"host"});
}

TEST_CASE("a race names the other writer, and suggests a barrier only where one can help") {
    check("warps_agree",
          {"which thread (31,0,0) of the same block writes in", "from the same line"},
          {"__syncthreads()", "__syncwarp()"});
    check("lanes_disagree", {"which thread (2,0,0) of the same block", "the same instruction"},
          {"__syncthreads()", "__syncwarp()", "barrier"});
    check("two_blocks_one_word",
          {"of block (0,0,0) writes in", "is blockIdx missing from the index"},
          {"__syncthreads()", "__threadfence()"});
    check("plain_variable",
          {"of the __device__ variable `variable_last` of 1 element of", "of block (0,0,0)"});
    check("plain_counter", {"if they count or accumulate, use an atomic"}, {"__syncwarp()"});
    check("no_second_barrier", {"it is one iteration ahead"},
          {"same line", "between the two accesses"});
    check("lanes_of_two_lines", {"no __syncwarp() or __syncthreads() between the two accesses"});
}

TEST_CASE("a missing fence next to an atomic is named") {
    for (const char* mistake : {"last_block_without_fence", "variable_without_fence",
                                "barrier_without_fence", "semaphore_without_fence"}) {
        check(mistake, {"there is no __threadfence() between the write and that atomic"},
              {"compute the same index", "used atomically"});
    }
    check("fence_without_barrier", {"a barrier must follow it"});
    check("atomic_no_fence",
          {"there is no __threadfence() (or __syncthreads()) between that atomic and this access"},
          {"compute the same index", "between the write"});
    check("reads_counter_early", {"A plain read concurrent with atomics"}, {"__threadfence()"});
    check("resets_too_early", {"compute the same index"}, {"__threadfence()"});
}

TEST_CASE("a read of unwritten memory is not blamed on a barrier that all threads passed") {
    check("no_first_barrier", {"Is a __syncthreads() missing"});
    check("unwritten_shared", {"not even before the last __syncthreads()", "Is a guard missing"},
          {"Is a __syncthreads() missing"});
    check("unwritten_global", {"which was never written"}, {"__syncthreads()"});
}

TEST_CASE("a barrier in a branch is named, along with the threads that never reached it") {
    check("barrier_for_others",
          {"waits at the __syncthreads() in common/emulator/tests/mistakes/races.cu:",
           "Is that barrier inside an `if`"},
          {"between the two accesses"});
    check("barrier_in_branch",
          {"threads 32-63 never reached that one, and threads 0-31 never reached this one"});
    check("barriers_in_both_branches", {"32 threads, (1,0,0) the first, never reached that one"});
    check("no_first_barrier", {"Is a __syncthreads() missing"}, {"inside an `if`"});
}

TEST_CASE("a thread that is one loop iteration ahead is reported as such") {
    const Device<float> out(64);
    for (const int barriers : {1, 2}) {
        clear_report();
        run_a_round_ahead(barriers, out.data());
        const auto report = last_report();
        REQUIRE(report);
        CHECK(report->kind == Kind::race);
        CHECK(report->text.find("has reached the __syncthreads() in common/emulator/tests/values.cu"
                                ":") != std::string::npos);
        CHECK(report->text.find(
                  "it is one iteration ahead. Is a __syncthreads() missing at the end of") !=
              std::string::npos);
        CHECK(report->text.find("inside an `if`") == std::string::npos);
        cudaGetLastError();
    }
}

TEST_CASE("two accesses without any barrier are reported as such, not as one iteration ahead") {
    const Device<float> out(64);
    clear_report();
    run_a_round_ahead(0, out.data());
    REQUIRE(last_report());
    CHECK(last_report()->text.find("There is no __syncthreads() between the two accesses") !=
          std::string::npos);
    cudaGetLastError();
}

TEST_CASE("a shuffle tells a lane that skipped it from one that the block does not have") {
    const Device<float> out(64);
    clear_report();
    shuffle_past_if(32, out.data());
    REQUIRE(last_report());
    CHECK(last_report()->text.find(
              "which never reached this call: it returned, or skipped an `if` around the call") !=
          std::string::npos);
    cudaGetLastError();
    clear_report();
    shuffle_past_if(20, out.data());
    REQUIRE(last_report());
    CHECK(last_report()->text.find("which this block does not have") != std::string::npos);
    cudaGetLastError();
}

TEST_CASE("the name of an array and where it was allocated are reported") {
    check("write_past_end", {"It is the kernel's `out`"});
    check("one_before", {"It is the kernel's `in`"});
    check("past_shared_pointer", {"of the shared array `tile` of 32 elements"});
    check("beyond_row", {"index 8 in `tile[y][x + 1]` is out of bounds for the array"});
    check("plain_variable", {"of the __device__ variable `variable_last`"});
}

TEST_CASE("a bug inside a helper is reported at the kernel's line that calls it") {
    check("shuffle_in_helper", {"common/emulator/tests/mistakes/barriers.cu:", ", in common/"});
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
    check("shuffle_in_branch",
          {"names lanes that never reach it: ", "waits at the __syncthreads()"});
    check("calls_in_a_ring", {"names lanes that never reach it."}, {"__syncthreads()"});
}

TEST_CASE("an index below the start is reported as such") {
    check("one_before", {"at element -1, 4 bytes before the start", "`if (i > 0)`",
                         "does a flipped view start at the wrong end"});
    check(
        "flip_from_the_start",
        {"at element -8, 32 bytes before the start", "does a flipped view start at the wrong end"},
        {"guard"});
}

TEST_CASE("an access one past the end by the very first thread is not blamed on its guard") {
    check("no_guard", {"one past its end. Is a guard such as `if (i < n)` missing"},
          {"first thread"});
    check("one_block_too_many", {"one past its end. Is a guard"}, {"first thread"});
    check("first_past_end", {"one past its end, by the very first thread", "Does the view"},
          {"guard"});
    const Device<float> in(std::vector<float>(15, 1.0f)), out(3);
    clear_report();
    exchange_indices(in.data(), out.data());
    REQUIRE(last_report());
    CHECK(last_report()->text.find("or are two of them swapped?") != std::string::npos);
    cudaGetLastError();
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
