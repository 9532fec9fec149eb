// Every planted bug is reported, in any execution order, with the error of a GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/facts.hpp"
#include "common/emulator/tests/mistakes.hpp"
#include "common/emulator/tests/values.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

constexpr cudaError_t kIllegal = cudaErrorIllegalAddress;

struct Marked {
    std::string file;  // relative to the project
    int line = 0;
};
// The position of this MARK in mistakes/.
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

std::optional<Report> provoke(const Mistake& mistake) {
    clear_report();
    cudaGetLastError();
    const auto n = static_cast<std::size_t>(mistake.n);
    const Device<float> in(std::vector<float>(n, 1.0f)), out(n);
    if (mistake.out_written) cudaMemset(out.data(), 0, n * 4);
    launch(mistake, in.data(), out.data());
    const cudaError_t error = cudaPeekAtLastError();
    CHECK(error != cudaSuccess);
    CHECK(cudaDeviceSynchronize() == error);  // a synchronizing call returns it too
    CHECK(cudaGetLastError() == error);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);  // but only once
    return last_report();
}

}  // namespace

// findings.txt contains the reports of the forward order.
TEST_CASE("no execution order hides a bug") {
    for (const Order order : {Order::reversed, Order::shuffled}) {
        set_order(order, 7);
        for (const Mistake& mistake : mistakes()) {
            const std::string name = mistake.name;
            // These are slow in any order.
            if (name.rfind("endless", 0) == 0 || name == "spins" || name == "recursion") continue;
            INFO(name << ", order " << static_cast<int>(order));
            CHECK(provoke(mistake));
        }
        set_order(Order::forward);
    }
}

TEST_CASE("bugs without a memory access are reported: a stack overflow, an endless loop") {
    const auto told = [](const std::string& kernel, Kind kind) {
        INFO(kernel);
        const auto mistake = std::find_if(mistakes().begin(), mistakes().end(),
                                          [&kernel](const Mistake& m) { return m.name == kernel; });
        REQUIRE(mistake != mistakes().end());
        const auto report = provoke(*mistake);
        REQUIRE(report);
        INFO(report->text);
        CHECK(std::string(name(report->kind)) == name(kind));
        CHECK(report->kernel == kernel);
        const Marked mark = marked(kernel);
        CHECK(report->file == mark.file);
        // A loop is ended at one of its lines: the marked one, or the one before.
        CHECK((report->line == mark.line || report->line + 1 == mark.line));
    };
    told("recursion", Kind::stack_overflow);
    set_time_limit(1);
    std::atomic<bool> done = false;
    std::thread launches([&] {
        told("endless_loop", Kind::stuck);
        done = true;
    });
    while (!done) {
    }  // meanwhile the clock's signals come to this thread
    launches.join();
    CHECK(fact_of<TimeIsUp>(last_report()).seconds == 1);
    told("endless_barriers", Kind::stuck);
    set_time_limit(60);
    // The emulator still works afterwards.
    const Device<float> x(std::vector<float>(64, 1.0f)), out(64);
    saxpy(2.0f, x.data(), x.data(), 64, out.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(out.host() == std::vector<float>(64, 3.0f));
}

// Pointers of the wrong kind, passed to a correct kernel.
TEST_CASE("host, freed and foreign pointers are distinguished") {
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
    // The emulator's own tables may be at such a distance.
    const float* nowhere = x.data() - (std::int64_t{1} << 32);
    const Report there = after(nowhere, x.data(), out.data());
    CHECK(there.kind == Kind::out_of_bounds);
    CHECK(fact_of<OutOfBounds>(there).where == OutOfBounds::Where::nowhere);

    float* freed = nullptr;
    REQUIRE(cudaMalloc(&freed, 256) == cudaSuccess);
    REQUIRE(cudaFree(freed) == cudaSuccess);
    const Report report = after(freed, x.data(), out.data());
    CHECK(report.kind == Kind::freed_memory);
    CHECK(fact_of<OutOfBounds>(report).where == OutOfBounds::Where::freed);
    clear_report();
}

TEST_CASE("copies and frees with wrong pointers are rejected with a report") {
    const Device<float> device(std::vector<float>(64, 1.0f));
    std::vector<float> host(64);
    const auto rejected = [](cudaError_t error, Kind kind) {
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
    rejected(cudaMemcpy(device.data(), device.data(), 256, cudaMemcpyHostToDevice),
             Kind::device_memory);
    rejected(cudaMemcpy(host.data(), host.data(), 256, cudaMemcpyHostToDevice), Kind::host_memory);
    rejected(cudaMemcpy(host.data(), device.data(), 256, cudaMemcpyHostToDevice),
             Kind::host_memory);
    rejected(cudaMemcpy(host.data(), device.data(), 257, cudaMemcpyDeviceToHost),
             Kind::out_of_bounds);
    rejected(cudaMemset(device.data(), 0, 260), Kind::out_of_bounds);
    rejected(cudaMemset(host.data(), 0, 256), Kind::host_memory);
    rejected(cudaFree(host.data()), Kind::invalid_call);
    rejected(cudaFree(device.data() + 1), Kind::invalid_call);
    void* twice = nullptr;
    REQUIRE(cudaMalloc(&twice, 64) == cudaSuccess);
    REQUIRE(cudaFree(twice) == cudaSuccess);
    rejected(cudaFree(twice), Kind::invalid_call);
    rejected(cudaMemcpy(twice, host.data(), 64, cudaMemcpyHostToDevice), Kind::freed_memory);
}

TEST_CASE("the first report is kept until its error has been returned") {
    clear_report();
    const Device<float> x(std::vector<float>(64, 1.0f)), out(64);
    saxpy(1.0f, x.data(), x.data(), 65, out.data());
    saxpy(1.0f, x.data(), nullptr, 1, out.data());
    const auto past_end = reinterpret_cast<std::uintptr_t>(x.data() + 64);
    CHECK(last_report()->address == past_end);
    CHECK(cudaGetLastError() == kIllegal);
    CHECK(last_report()->address == past_end);
    saxpy(1.0f, x.data(), nullptr, 1, out.data());
    CHECK(fact_of<OutOfBounds>(last_report()).where == OutOfBounds::Where::null);
    cudaGetLastError();
    clear_report();
}
