// What the host may access and when, and the contents of uninitialized local memory.
#include "common/emulator/tests/host.hpp"

#include <cuda_runtime_api.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/facts.hpp"
#include "common/emulator/tests/findings.hpp"
#include "common/emulator/tests/mistakes.hpp"
#include "common/emulator/tests/process.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

// The line with this MARK in this file, or in host.cu.
int marked_line(const std::string& name, const char* extension = ".cpp") {
    std::string path = __FILE__;
    std::ifstream file(path.replace(path.rfind(".cpp"), 4, extension));
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
        const std::size_t mark = text.find("// MARK ");
        if (mark != std::string::npos && text.substr(mark + 8) == name) return line;
    }
    return 0;
}

bool says(const Report& report, const std::string& words) {
    return report.text.find(words) != std::string::npos;
}

// The path is longer if a compiler cache supplied an object built in another folder.
bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Runs the code and expects this kind of finding at the marked line.
Report found(Kind kind, const std::string& mark, const std::function<void()>& code,
             const char* extension = ".cpp") {
    clear_report();
    cudaGetLastError();
    code();
    const auto report = last_report();
    INFO(mark);
    REQUIRE(report);
    INFO(report->text);
    CHECK(std::string(name(report->kind)) == name(kind));
    CHECK(ends_with(report->file, std::string("common/emulator/tests/host") + extension));
    CHECK(report->line == marked_line(mark, extension));
    CHECK(cudaGetLastError() != cudaSuccess);
    clear_report();
    return *report;
}

void nothing_found(const std::function<void()>& code) {
    clear_report();
    cudaGetLastError();
    code();
    const auto report = last_report();
    INFO((report ? report->text : ""));
    CHECK(!report);
    CHECK(cudaGetLastError() == cudaSuccess);
}

// n floats of pinned memory with this value.
struct Pinned {
    Pinned(int n, float value) {
        REQUIRE(cudaMallocHost(&data, static_cast<std::size_t>(n) * 4) == cudaSuccess);
        std::fill_n(data, n, value);
    }
    ~Pinned() { cudaFreeHost(data); }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    float* data = nullptr;
};

volatile float sink;

}  // namespace

TEST_CASE("an uninitialized local variable contains a conspicuous value") {
    const Device<float> in(std::vector<float>(5, 1.0f)), out(1);
    sum(in.data(), 5, true, out.data());
    CHECK(out.host()[0] == 5.0f);
    sum(in.data(), 5, false, out.data());
    CHECK(out.host()[0] < -1e38f);

    const Device<int> number(1);
    sum_of_local_array(8, number.data());
    CHECK(number.host()[0] == 0);
    sum_of_local_array(7, number.data());
    CHECK(number.host()[0] < -1000000);
}

TEST_CASE("host code that accesses device memory is reported with its line, and continues") {
    const Device<float> x(std::vector<float>(100, 3.0f));
    float* p = x.data();
    const Report read = found(Kind::device_memory, "read", [&] {
        sink = p[7];  // MARK read
    });
    CHECK_FALSE(fact_of<HostAccess>(read).writes);
    CHECK(read.address == reinterpret_cast<std::uintptr_t>(p + 7));
    CHECK(sink == 3.0f);

    const Report written = found(Kind::device_memory, "write", [&] {
        twice(p, 100, p);  // closes device memory again
        p[8] = 1.0f;       // MARK write
    });
    CHECK(fact_of<HostAccess>(written).writes);
    CHECK(written.address == reinterpret_cast<std::uintptr_t>(p + 8));

    std::vector<float> host(100);
    found(Kind::device_memory, "in_a_library", [&] {
        twice(p, 100, p);
        std::memcpy(host.data(), p, 400);  // MARK in_a_library
    });
    found(
        Kind::device_memory, "host_code_of_a_cu_file",
        [&] {
            twice(p, 100, p);
            sink = first_of(p);
        },
        ".cu");
    nothing_found([&] {
        twice(p, 100, p);
        cudaMemcpy(host.data(), p, 400, cudaMemcpyDeviceToHost);
        sink = host[3];
    });
    CHECK(host[7] == 48.0f);
    CHECK(host[8] == 8.0f);  // the host's write has taken effect
}

TEST_CASE("a large allocation is protected up to its last element, again after every call") {
    const Device<float> x(std::vector<float>(2000000, 3.0f)), y(std::vector<float>(100000, 3.0f));
    found(Kind::device_memory, "last", [&] {
        sink = x.data()[1999999];  // MARK last
    });
    found(Kind::device_memory, "other", [&] {
        cudaMemset(x.data(), 0, 4);
        sink = y.data()[1];  // MARK other
    });
}

TEST_CASE("freed memory and memory past an allocation are protected from the host too") {
    float* p = nullptr;
    REQUIRE(cudaMalloc(&p, 64) == cudaSuccess);
    const Report past = found(Kind::device_memory, "past", [&] {
        sink = p[16];  // MARK past
    });
    CHECK(says(past, "byte 64 of an allocation of 64 bytes: one past its end"));
    cudaFree(p);
    cudaMemset(p, 0, 0);
    const Device<float> other(std::vector<float>(1, 0.0f));  // closes device memory again
    const Report freed = found(Kind::device_memory, "freed", [&] {
        sink = p[0];  // MARK freed
    });
    CHECK(says(freed, "freed by cudaFree"));
}

TEST_CASE("a copy to pinned memory arrives when the host waits, and must not be read before") {
    const Device<float> x(std::vector<float>(1000, 3.0f));
    const Pinned here(1000, 1.0f), there(1000, 1.0f);
    const auto fetch = [&](cudaStream_t stream) {
        const auto from = x.data();
        cudaMemcpyAsync(here.data, from, 4000, cudaMemcpyDeviceToHost, stream);  // MARK fetch
    };
    const Report early = found(Kind::pending_copy, "early", [&] {
        fetch(nullptr);
        sink = here.data[500];  // MARK early
    });
    const auto fact = fact_of<PinnedTooEarly>(early);
    CHECK(fact.byte == 2000);
    CHECK((fact.is_target && !fact.writes));
    CHECK(find_line(fact.copy).line == marked_line("fetch"));
    CHECK(sink == 3.0f);  // it has arrived now
    found(Kind::pending_copy, "overwrites", [&] {
        fetch(nullptr);
        here.data[0] = 7.0f;  // MARK overwrites
    });
    CHECK(here.data[0] == 7.0f);

    nothing_found([&] {
        fetch(nullptr);
        there.data[0] = 2.0f;  // other memory
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        sink = here.data[500];
    });
    nothing_found([&] {  // a synchronous copy has arrived
        cudaMemcpy(here.data, x.data(), 4000, cudaMemcpyDeviceToHost);
        CHECK(here.data[999] == 3.0f);
    });
    nothing_found([&] {  // pageable memory: the call itself waits
        std::vector<float> host(1000);
        cudaMemcpyAsync(host.data(), x.data(), 4000, cudaMemcpyDeviceToHost, nullptr);
        CHECK(host[999] == 3.0f);
    });
    nothing_found([&] {  // a copy delivers the source as it was at its start
        fetch(nullptr);
        twice(x.data(), 1000, x.data());
        cudaStreamSynchronize(nullptr);
        CHECK(here.data[999] == 3.0f);
    });
    nothing_found([&] {  // the device keeps its copies in order
        const Device<float> y(1000);
        fetch(nullptr);
        cudaMemcpyAsync(y.data(), here.data, 4000, cudaMemcpyHostToDevice, nullptr);
        CHECK(y.host() == std::vector<float>(1000, 6.0f));
    });
}

TEST_CASE("host code may access managed memory that no kernel uses, and all of it after waiting") {
    float *shared = nullptr, *other = nullptr;
    cudaMallocManaged(&shared, 8192 * sizeof(float));
    cudaMallocManaged(&other, 64);
    std::fill_n(shared, 8192, 1.0f);
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEvent_t event = nullptr;
    cudaEventCreate(&event);
    clear_report();
    const auto launch = [&] { tests::add_one(shared, shared + 1, stream); };
    const std::vector<void (*)(cudaStream_t, cudaEvent_t)> waits = {
        [](cudaStream_t, cudaEvent_t) { cudaDeviceSynchronize(); },
        [](cudaStream_t s, cudaEvent_t) { cudaStreamSynchronize(s); },
        [](cudaStream_t s, cudaEvent_t) { cudaStreamQuery(s); },
        [](cudaStream_t s, cudaEvent_t e) {
            cudaEventRecord(e, s);
            cudaEventSynchronize(e);
        },
        [](cudaStream_t s, cudaEvent_t e) {
            cudaEventRecord(e, s);
            cudaStreamWaitEvent(nullptr, e);
            cudaStreamSynchronize(nullptr);
        }};
    for (std::size_t i = 0; i < waits.size(); ++i) {
        launch();
        shared[2 + i] = 5.0f;  // other words of the page, and other memory
        other[i] = shared[0];  // also read by the kernel
        shared[8191] = other[i];
        waits[i](stream, event);
        CHECK(shared[1] == static_cast<float>(i + 2));
        shared[0] = 1.0f;
        CHECK_FALSE(last_report().has_value());
    }
    launch();
    cudaFree(other);  // waits for everything
    CHECK(shared[1] == 7.0f);
    launch();
    cudaLaunchHostFunc(
        stream, [](void* at) { *static_cast<float*>(at) += 1.0f; }, shared + 1);
    cudaStreamSynchronize(stream);
    CHECK(shared[1] == 9.0f);
    float milliseconds = 0;
    cudaEvent_t reached = nullptr;
    cudaEventCreate(&reached);
    cudaEventRecord(reached, stream);
    launch();
    cudaEventRecord(event, stream);
    for (const auto& [from, to] : {std::pair{event, event}, {reached, event}, {event, reached}})
        CHECK(cudaEventElapsedTime(&milliseconds, from, to) == cudaErrorNotReady);
    CHECK(cudaGetLastError() == cudaErrorNotReady);
    cudaEventDestroy(reached);
    cudaStreamSynchronize(stream);
    CHECK(cudaEventElapsedTime(&milliseconds, event, event) == cudaSuccess);
    CHECK_FALSE(last_report().has_value());
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    for (const auto wrong :
         {cudaStreamSynchronize(stream), cudaStreamDestroy(stream),
          cudaMemsetAsync(shared, 0, 4, stream), cudaStreamWaitEvent(stream, event, 0)}) {
        CHECK(wrong == cudaErrorInvalidResourceHandle);
    }
    cudaGetLastError();
    cudaFree(shared);
}

TEST_CASE("a copy to pinned memory comes after an earlier one that is still in flight there") {
    const Device<float> x(std::vector<float>(4, 3.0f)), y(std::vector<float>(4, 5.0f));
    const Pinned here(4, 1.0f), there(4, 7.0f);
    const Stream other(cudaStreamNonBlocking);
    clear_report();
    cudaMemcpyAsync(here.data, x.data(), 16, cudaMemcpyDeviceToHost, other.it);
    cudaMemcpy(here.data, y.data(), 16, cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    CHECK(here.data[3] == 5.0f);
    cudaMemcpyAsync(here.data, x.data(), 16, cudaMemcpyDeviceToHost, other.it);
    cudaMemcpy(here.data, there.data, 16, cudaMemcpyHostToHost);
    cudaDeviceSynchronize();
    CHECK(here.data[3] == 7.0f);
    cudaMemcpyAsync(here.data, x.data(), 16, cudaMemcpyDeviceToHost, other.it);
    cudaMemcpy(y.data(), here.data, 16, cudaMemcpyHostToDevice);
    CHECK(y.host()[3] == 3.0f);
    CHECK_FALSE(last_report());
}

TEST_CASE("after each kind of finding about an access of the host, the emulator watches on") {
    const Device<float> x(std::vector<float>(4, 3.0f));
    const Pinned here(4, 1.0f);
    float* shared = nullptr;
    REQUIRE(cudaMallocManaged(&shared, sizeof(float)) == cudaSuccess);
    *shared = 1.0f;
    const auto handler = [] {
        struct sigaction now = {};
        sigaction(SIGSEGV, nullptr, &now);
        return now.sa_sigaction;
    };
    const auto still_watches = [&](Kind kind, const volatile float* memory) {
        const auto before = handler();
        clear_report();
        sink = *memory;
        REQUIRE(last_report());
        CHECK(last_report()->kind == kind);
        CHECK(handler() == before);
        cudaGetLastError();
        clear_report();
    };
    still_watches(Kind::device_memory, x.data());
    cudaMemcpyAsync(here.data, x.data(), 16, cudaMemcpyDeviceToHost, nullptr);
    still_watches(Kind::pending_copy, here.data);
    twice(shared, 1, shared);
    still_watches(Kind::race, shared);
    cudaFree(shared);
}

TEST_CASE("after a wait, system calls may use managed memory too") {
    float* shared = nullptr;
    REQUIRE(cudaMallocManaged(&shared, sizeof(float)) == cudaSuccess);
    *shared = 1.0f;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    nothing_found([&] {
        twice(shared, 1, shared);
        CHECK(write(ends[1], shared, sizeof(float)) == -1);  // EFAULT: no handler is called
        cudaDeviceSynchronize();
        CHECK(write(ends[1], shared, sizeof(float)) == sizeof(float));
    });
    float sent = 0.0f;
    CHECK(read(ends[0], &sent, sizeof(float)) == sizeof(float));
    CHECK(sent == 2.0f);
    close(ends[0]);
    close(ends[1]);
    cudaFree(shared);
}

TEST_CASE("the results that a failed launch did not write may be read, in memory from before it") {
    const Device<float> in(64), out(64);
    twice(nullptr, 64, in.data());
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    nothing_found([&] { twice(in.data(), 64, out.data()); });
    const Device<float> later(64);
    twice(later.data(), 64, out.data());
    REQUIRE(last_report());
    CHECK(last_report()->kind == Kind::uninitialised_read);
    cudaGetLastError();
    clear_report();
}

TEST_CASE("each synchronisation call waits for the copies of its streams only") {
    const Device<float> x(std::vector<float>(64, 3.0f));
    const Pinned here(64, 1.0f);
    const Stream a, b, c(cudaStreamNonBlocking);
    cudaEvent_t event = nullptr;
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    const auto fetch = [&](cudaStream_t stream) {
        cudaMemcpyAsync(here.data, x.data(), 256, cudaMemcpyDeviceToHost, stream);
    };
    // True if the host can access the target of a copy on `stream` after `wait`.
    const auto arrives = [&](cudaStream_t stream, const std::function<void()>& wait) {
        clear_report();
        std::fill_n(here.data, 64, 1.0f);
        fetch(stream);
        wait();
        sink = here.data[5];
        const bool early = last_report().has_value();
        cudaDeviceSynchronize();
        cudaGetLastError();
        clear_report();
        return !early;
    };
    CHECK(arrives(a.it, [&] { cudaStreamSynchronize(a.it); }));
    CHECK(arrives(a.it, [&] { cudaStreamQuery(a.it); }));
    CHECK(!arrives(a.it, [&] { cudaStreamSynchronize(b.it); }));
    CHECK(!arrives(a.it, [&] { twice(x.data(), 64, x.data(), a.it); }));
    CHECK(arrives(a.it, [&] { cudaDeviceSynchronize(); }));
    // The default stream synchronizes with the others, except non-blocking ones.
    CHECK(arrives(a.it, [&] { cudaStreamSynchronize(nullptr); }));
    CHECK(arrives(nullptr, [&] { cudaStreamSynchronize(a.it); }));
    CHECK(!arrives(c.it, [&] { cudaStreamSynchronize(nullptr); }));
    CHECK(!arrives(nullptr, [&] { cudaStreamSynchronize(c.it); }));
    const std::vector<float> host(64, 0.0f);
    CHECK(arrives(c.it, [] {
        void* other = nullptr;
        cudaMalloc(&other, 4);
        cudaFree(other);  // waits for the device
    }));
    CHECK(arrives(a.it, [&] { cudaMemcpy(x.data(), host.data(), 4, cudaMemcpyHostToDevice); }));
    CHECK(!arrives(c.it, [&] { cudaMemcpy(x.data(), host.data(), 4, cudaMemcpyHostToDevice); }));
    // Events: the host or another stream waits for what was recorded.
    CHECK(arrives(a.it, [&] {
        cudaEventRecord(event, a.it);
        cudaEventSynchronize(event);
    }));
    CHECK(!arrives(a.it, [&] { cudaEventSynchronize(event); }));  // recorded before the copy
    CHECK(arrives(c.it, [&] {
        cudaEventRecord(event, c.it);
        cudaStreamWaitEvent(b.it, event);
        cudaStreamSynchronize(b.it);
    }));
    CHECK(!arrives(c.it, [&] {
        cudaEventRecord(event, b.it);
        cudaStreamWaitEvent(b.it, event);
        cudaStreamSynchronize(b.it);
    }));
    cudaEventDestroy(event);
}

TEST_CASE("of two copies in flight on a page, each is protected until it has been waited for") {
    const Device<float> x(std::vector<float>(64, 3.0f)), y(std::vector<float>(64, 0.0f));
    const Pinned here(64, 1.0f);
    const Stream a, b;
    const auto start = [&] {  // a copy to the first half on a, from the second half on b
        cudaMemcpyAsync(here.data, x.data(), 128, cudaMemcpyDeviceToHost, a.it);
        cudaMemcpyAsync(y.data(), here.data + 32, 128, cudaMemcpyHostToDevice, b.it);
    };
    nothing_found([&] {
        start();
        sink = here.data[40];
        cudaDeviceSynchronize();
    });
    found(Kind::pending_copy, "at_once", [&] {
        start();
        sink = here.data[0];  // MARK at_once
    });
    found(Kind::pending_copy, "first_half", [&] {
        start();
        cudaStreamSynchronize(b.it);
        sink = here.data[0];  // MARK first_half
    });
    found(Kind::pending_copy, "second_half", [&] {
        start();
        cudaStreamSynchronize(a.it);
        sink = here.data[40];
        here.data[40] = 2.0f;  // MARK second_half
    });
    cudaDeviceSynchronize();
}

TEST_CASE("managed memory is protected between two pages of pinned memory in flight") {
    const Device<float> x(std::vector<float>(64, 3.0f));
    const Pinned below(64, 1.0f);
    float* managed = nullptr;
    REQUIRE(cudaMallocManaged(&managed, sizeof(float)) == cudaSuccess);
    const Pinned above(64, 1.0f);
    REQUIRE((below.data < managed && managed < above.data));
    found(Kind::race, "managed_between", [&] {
        twice(managed, 1, managed);
        for (float* const at : {below.data, above.data})
            cudaMemcpyAsync(at, x.data(), 256, cudaMemcpyDeviceToHost, nullptr);
        *managed = 2.0f;  // MARK managed_between
    });
    cudaFree(managed);
}

TEST_CASE("between rows of pinned memory in flight the host may access every byte") {
    std::vector<float> numbers(64);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    const Device<float> x(numbers);
    const Pinned here(64, 1.0f);
    const auto fetch = [&] {  // columns 0 to 3 of 8 x 8
        cudaMemcpy2DAsync(here.data, 32, x.data(), 32, 16, 8, cudaMemcpyDeviceToHost);
    };
    nothing_found([&] {
        fetch();
        here.data[12] = 5.0f;  // row 1, column 4
        cudaDeviceSynchronize();
        CHECK(here.data[12] == 5.0f);
        CHECK(here.data[11] == 11.0f);
        CHECK(here.data[63] == 1.0f);
    });
    found(Kind::pending_copy, "row", [&] {
        fetch();
        sink = here.data[11];  // MARK row
    });
    // One row per page: opening the first page does not open the second.
    const Pinned pages(3 * 1024, 1.0f);
    float* page = pages.data;
    while (reinterpret_cast<std::uintptr_t>(page) % 4096 != 0) ++page;
    found(Kind::pending_copy, "next_page", [&] {
        cudaMemcpy2DAsync(page, 4096, x.data(), 16, 16, 2, cudaMemcpyDeviceToHost);
        reinterpret_cast<volatile char*>(page)[4095] = 5;
        sink = page[1024];  // MARK next_page
    });
}

TEST_CASE("the source of an asynchronous copy from pinned memory may be read but not written") {
    const Device<float> x(std::vector<float>(1000, 0.0f));
    const Pinned here(1000, 1.0f);
    const auto send = [&] {
        cudaMemcpyAsync(x.data(), here.data, 4000, cudaMemcpyHostToDevice, nullptr);
    };
    const auto changed = fact_of<PinnedTooEarly>(found(Kind::pending_copy, "source", [&] {
        send();
        here.data[999] = 2.0f;  // MARK source
    }));
    CHECK(changed.byte == 3996);
    CHECK((changed.writes && !changed.is_target));
    CHECK(x.host()[999] == 1.0f);
    found(Kind::pending_copy, "read_then_written", [&] {
        send();
        sink = here.data[999];
        here.data[999] = 1.0f;  // MARK read_then_written
    });
    nothing_found([&] {
        cudaMemcpy(x.data(), here.data, 4000, cudaMemcpyHostToDevice);
        here.data[999] = 1.0f;
    });
    nothing_found([&] {
        send();
        sink = here.data[999];
        cudaStreamSynchronize(nullptr);
        here.data[999] = 4.0f;
    });
    nothing_found([&] {  // pageable memory is staged before the call returns
        std::vector<float> host(1000, 5.0f);
        cudaMemcpyAsync(x.data(), host.data(), 4000, cudaMemcpyHostToDevice, nullptr);
        host[0] = 6.0f;
        CHECK(x.host()[0] == 5.0f);
    });
}

TEST_CASE("pinned memory can be freed once, and pointer attributes recognize it") {
    float* p = nullptr;
    REQUIRE(cudaHostAlloc(reinterpret_cast<void**>(&p), 100, cudaHostAllocDefault) == cudaSuccess);
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, p + 24) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeHost);
    REQUIRE(cudaPointerGetAttributes(&attributes, p + 25) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    const Device<float> x(std::vector<float>(25, 3.0f));
    nothing_found([&] {  // in flight: cudaFreeHost waits
        cudaMemcpyAsync(p, x.data(), 100, cudaMemcpyDeviceToHost, nullptr);
        CHECK(cudaFreeHost(p) == cudaSuccess);
        CHECK(cudaFreeHost(nullptr) == cudaSuccess);
    });
    CHECK(cudaFreeHost(p) == cudaErrorInvalidValue);
    CHECK(last_report()->kind == Kind::invalid_call);
    CHECK(cudaFreeHost(&attributes) == cudaErrorInvalidValue);
    cudaGetLastError();
    clear_report();
}

TEST_CASE("a copy of entirely unwritten memory to the host is rejected") {
    const Device<float> x(64), y(64);
    std::vector<float> host(64);
    const Report report = found(Kind::uninitialised_read, "unwritten", [&] {
        const auto error =
            cudaMemcpy(host.data(), x.data(), 256, cudaMemcpyDeviceToHost);  // MARK unwritten
        CHECK(error == cudaErrorLaunchFailure);
    });
    CHECK(says(report, "copies 256 bytes to the host, none of which were ever written"));
    // A copy within the device keeps unwritten bytes unwritten.
    REQUIRE(cudaMemcpy(y.data(), x.data(), 256, cudaMemcpyDeviceToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(host.data(), y.data(), 256, cudaMemcpyDeviceToHost) != cudaSuccess);
    CHECK(cudaMemcpy2D(host.data(), 16, y.data(), 32, 16, 8, cudaMemcpyDeviceToHost) !=
          cudaSuccess);
    nothing_found([&] {
        cudaMemset(y.data() + 59, 0, 1);
        CHECK(cudaMemcpy2D(host.data(), 16, y.data(), 32, 16, 8, cudaMemcpyDeviceToHost) ==
              cudaSuccess);
        CHECK(cudaMemcpy(host.data(), y.data(), 256, cudaMemcpyDeviceToHost) == cudaSuccess);
    });
    cudaGetLastError();
    clear_report();
}

TEST_CASE("an unsigned index that wrapped below 0 is reported as such") {
    const Device<float> x(std::vector<float>(64, 3.0f));
    for (const unsigned before : {1u, 33u}) {
        const auto wrapped = fact_of<OutOfBounds>(found(
            Kind::out_of_bounds, "wrapped", [&] { store_before(before, x.data()); }, ".cu"));
        REQUIRE(wrapped.index);
        CHECK(wrapped.index.value().index == 0u - before);
        CHECK(wrapped.index.value().allocation_bytes == 256);
    }
    clear_report();
    store_before(1, x.data() + 10);  // relative to a pointer into it: a stride of -1
    CHECK(fact_of<OutOfBounds>(last_report()).index.value().index == (1ull << 32) + 9);
    cudaGetLastError();
    // Of several allocations, the closest one above: x is before y, z after it.
    const Device<float> y(std::vector<float>(32, 3.0f)), z(std::vector<float>(16, 3.0f));
    clear_report();
    store_before(1, y.data());
    CHECK(fact_of<OutOfBounds>(last_report()).index.value().index == (1ull << 32) - 1);
    CHECK(fact_of<OutOfBounds>(last_report()).index.value().allocation_bytes == 128);
    cudaGetLastError();
    clear_report();
    store_before(0x80000000u, x.data());  // too far below 0 for a wrapped index
    CHECK_FALSE(fact_of<OutOfBounds>(last_report()).index);
    cudaGetLastError();
    clear_report();
}

TEST_CASE("the source of a kernel's asynchronous copy must not change before its wait") {
    const Device<float> x(std::vector<float>(4, 3.0f)), out(4);
    nothing_found([&] { change_source_in_flight(x.data(), 3.0f, out.data()); });
    const auto changed = fact_of<ChangedSource>(found(
        Kind::pending_copy, "waited", [&] { change_source_in_flight(x.data(), 4.0f, out.data()); },
        ".cu"));
    CHECK(find_line(changed.start).line == marked_line("started", ".cu"));
}

TEST_CASE(
    "a read of a pending copy names the thread that started it, and whether it was too early") {
    const auto told = [](const char* name) {
        for (const Mistake& mistake : mistakes()) {
            if (std::string(mistake.name) != name) continue;
            const auto n = static_cast<std::size_t>(mistake.n);
            const Device<float> in(std::vector<float>(n, 1.0f)), out(n);
            clear_report();
            launch(mistake, in.data(), out.data());
            cudaGetLastError();
        }
        return fact_of<PendingAccess>(last_report()).copy.value();
    };
    CHECK(told("missing_wait").thread == 0);
    CHECK_FALSE(told("missing_wait").overwrites);
    CHECK(told("neighbours_missing_wait").thread == 31);
    CHECK_FALSE(told("neighbours_missing_wait").overwrites);
    CHECK(told("refilled_too_early").thread == 15);
    CHECK(told("refilled_too_early").overwrites);
    clear_report();
}

TEST_CASE("device memory that was never freed causes a note at exit, not an error") {
    const Ended leaking = in_another_process([] {
        void *p = nullptr, *freed = nullptr, *pinned = nullptr;
        cudaMalloc(&p, 1000);  // MARK leak
        cudaMalloc(&freed, 8);
        cudaMalloc(&p, 24);
        cudaMallocHost(&pinned, 8);  // not device memory
        cudaFree(freed);
    });
    const std::string& leak = leaking.said;
    INFO(leak);
    CHECK(leaking.status == 0);
    const auto says_leak = [&](const std::string& words) {
        return leak.find(words) != std::string::npos;
    };
    CHECK(says_leak(
        "note: 2 allocations (1024 bytes) of device memory were never freed by cudaFree; one "));
    CHECK(says_leak("common/emulator/tests/host.cpp:" + std::to_string(marked_line("leak"))));
    const Ended clean = in_another_process([] {
        void* p = nullptr;
        cudaMalloc(&p, 1000);
        cudaFree(p);
    });
    CHECK(clean.said.empty());
    const Ended reset = in_another_process([] {
        void *p = nullptr, *pinned = nullptr;
        cudaMalloc(&p, 1000);
        cudaMallocHost(&pinned, 8);
        cudaDeviceReset();
        if (cudaFreeHost(pinned) != cudaSuccess) std::fprintf(stderr, "pinned is freed");
    });
    CHECK(reset.said.empty());
}

TEST_CASE("after a launch the program has its own signal handlers and stack, and no timer") {
    const Device<float> x(std::vector<float>(1, 1.0f));
    struct sigaction own = {}, before[2], after[2];
    own.sa_handler = [](int) {};
    stack_t stack_before, stack_after;
    itimerval timer;
    sigaltstack(nullptr, &stack_before);
    sigaction(SIGBUS, &own, &before[0]);
    sigaction(SIGVTALRM, &own, &before[1]);
    twice(x.data(), 1, x.data());
    sigaction(SIGBUS, &before[0], &after[0]);
    sigaction(SIGVTALRM, &before[1], &after[1]);
    for (const auto& one : after) CHECK(one.sa_handler == own.sa_handler);
    sigaltstack(nullptr, &stack_after);
    CHECK(stack_after.ss_sp == stack_before.ss_sp);
    CHECK((getitimer(ITIMER_VIRTUAL, &timer) == 0 && timer.it_interval.tv_sec == 0));
}

#if !defined(__SANITIZE_ADDRESS__)  // which replaces the signal
TEST_CASE("a fault that the emulator did not cause is told, or left to the program's handler") {
    const auto handler = GENERATE(
        SIG_DFL, +[](int) { _exit(7); });
    const auto [status, said] = in_another_process([handler] {
        alarm(10);
        std::signal(SIGSEGV, handler);
        tell_findings([](const Report*, const std::string& text) {
            return std::fprintf(stderr, "%s", text.c_str()) > 0;
        });
        void* p = nullptr;
        cudaMalloc(&p, 4);
        cudaMalloc(&p, 4);
        cudaMemset(p, 0, 4);
        twice(static_cast<float*>(p), 1, static_cast<float*>(p));
        volatile int* volatile nothing = nullptr;
        sink = static_cast<float>(*nothing);  // MARK null
    });
    INFO(said);
    const std::string line = "tests/host.cpp:" + std::to_string(marked_line("null"));
    CHECK(status == (handler == SIG_DFL ? -SIGSEGV : 7));
    CHECK((handler == SIG_DFL ? said.find(line) != said.npos : said.empty()));
}
#endif

TEST_CASE("accesses of the host are reported even if the program has installed a handler since") {
    const Device<float> x(std::vector<float>(4, 3.0f));
    const Pinned here(4, 1.0f), there(4, 1.0f);
    const Stream a, b;
    float* p = nullptr;
    cudaMemcpyAsync(here.data, x.data(), 4, cudaMemcpyDeviceToHost, a.it);
    cudaMemcpyAsync(there.data, x.data(), 4, cudaMemcpyDeviceToHost, b.it);
    for (const int call : {0, 1, 2}) {
        INFO(call);
        clear_report();
        std::signal(SIGSEGV, [](int) { _exit(7); });
        if (call == 0) cudaStreamSynchronize(a.it);
        if (call == 1) cudaMalloc(&p, 4);
        if (call == 2) cudaMemset(p, 0, 4);
        sink = call == 0 ? *there.data : *p;
        CHECK(last_report());
        cudaGetLastError();
    }
    std::signal(SIGSEGV, SIG_DFL);
    cudaFree(p);
    clear_report();
}
