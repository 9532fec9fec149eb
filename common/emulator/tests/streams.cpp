// Two streams may run at the same time, unless something orders them. And what a launch is given.
#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/host.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

struct Stream {
    cudaStream_t it = nullptr;
    explicit Stream(unsigned flags = cudaStreamDefault) { cudaStreamCreateWithFlags(&it, flags); }
    ~Stream() { cudaStreamDestroy(it); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
};

// What is told of this work; "" if nothing.
std::string told(const std::function<void()>& work) {
    cudaDeviceSynchronize();
    cudaGetLastError();
    clear_report();
    work();
    const auto report = last_report();
    const std::string text = report ? std::string(name(report->kind)) + ": " + report->text : "";
    cudaDeviceSynchronize();
    cudaGetLastError();
    clear_report();
    return text;
}

bool holds(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("two streams that touch the same memory race, unless something orders them") {
    const Device<float> x(std::vector<float>(64, 1.0f)), y(std::vector<float>(64, 1.0f));
    const Device<float> u(64), v(64);
    const Stream a, b, c(cudaStreamNonBlocking);
    cudaEvent_t event = nullptr;
    float* pinned = nullptr;
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    REQUIRE(cudaMallocHost(&pinned, 256) == cudaSuccess);
    const auto write = [&](cudaStream_t stream) { twice(y.data(), 64, x.data(), stream); };
    const auto read = [&](cudaStream_t stream) { twice(x.data(), 64, y.data(), stream); };
    const auto wait = [&](cudaStream_t stream, cudaStream_t recorded) {
        cudaEventRecord(event, recorded);
        cudaStreamWaitEvent(stream, event, 0);
    };

    const std::string race = told([&] { write(a.it), read(b.it); });
    CHECK(holds(race, "race: twice_kernel, common/emulator/tests/host.cu:"));
    CHECK(holds(race, "which twice_kernel, on another stream, writes in common/emulator/tests/"));
    CHECK(holds(race, "Nothing orders the two streams"));
    CHECK(holds(told([&] { twice(x.data(), 64, u.data(), a.it), write(b.it); }), "reads in"));
    CHECK(holds(told([&] { write(nullptr), read(c.it); }), "race"));
    CHECK(holds(told([&] { write(c.it), read(nullptr); }), "race"));
    // What follows the record is not waited for.
    CHECK(holds(told([&] { read(a.it), wait(b.it, a.it), write(a.it), read(b.it); }), "race"));
    // Nor is what another stream than the recorded one does.
    CHECK(holds(told([&] { write(a.it), wait(b.it, b.it), read(b.it); }), "race"));
    const auto fetch = [&](cudaStream_t stream) {
        cudaMemcpyAsync(pinned, x.data(), 256, cudaMemcpyDeviceToHost, stream);
    };
    CHECK(holds(told([&] { write(a.it), fetch(b.it); }), "cudaMemcpyAsync reads device memory"));
    CHECK(holds(told([&] { fetch(a.it), write(b.it); }),
                "which cudaMemcpyAsync, on another stream, reads in"));
    CHECK(holds(told([&] { read(a.it), cudaMemsetAsync(x.data(), 0, 256, b.it); }),
                "cudaMemsetAsync writes device memory"));

    const auto fine = [&](const std::function<void()>& work) { CHECK(told(work).empty()); };
    fine([&] { write(a.it), read(a.it), write(a.it); });
    fine([&] { write(a.it), wait(b.it, a.it), read(b.it); });
    fine([&] { write(a.it), wait(b.it, a.it), wait(c.it, b.it), read(c.it); });  // by way of b
    fine([&] { write(a.it), cudaStreamSynchronize(a.it), read(b.it); });
    fine([&] { write(a.it), cudaDeviceSynchronize(), read(c.it); });
    fine([&] {
        cudaEventRecord(event, a.it), write(a.it), cudaEventRecord(event, a.it);
        cudaEventSynchronize(event), read(b.it);
    });
    fine([&] { write(a.it), read(nullptr), write(b.it); });  // the default stream joins them
    fine([&] {
        twice(x.data(), 64, y.data(), a.it),
            cudaMemcpy(pinned, y.data(), 256, cudaMemcpyDeviceToHost);
    });
    // Both only read; and each has memory of its own.
    fine([&] { twice(x.data(), 64, u.data(), a.it), twice(x.data(), 64, v.data(), b.it); });
    fine([&] { fetch(a.it), cudaStreamSynchronize(a.it), write(b.it); });
    fine([&] {
        {
            const Stream gone;
            write(gone.it);
        }
        read(nullptr);
    });
    cudaEventDestroy(event);
    cudaFreeHost(pinned);
}

TEST_CASE(
    "arguments that are __restrict__ and one array are a mistake, if the kernel writes there") {
    const Device<float> x(std::vector<float>(64, 1.0f));
    CHECK(holds(told([&] { twice_restricted(x.data(), 64, x.data()); }),
                "undefined_behaviour: twice_restricted_kernel, common/emulator/tests/host.cu:"));
    CHECK(holds(told([&] { twice_restricted(x.data(), 64, x.data()); }), "`in` and `out` are one"));
    CHECK(told([&] { twice_restricted(x.data(), 32, x.data() + 32); }).empty());
    CHECK(told([&] { twice_restricted(x.data(), 0, x.data()); }).empty());  // writes nothing
    CHECK(told([&] { twice(x.data(), 64, x.data()); }).empty());            // promises nothing
}

TEST_CASE("a copy to the host says how much of it nobody has written") {
    const Device<float> x(100);
    cudaMemset(x.data(), 0, 63 * sizeof(float));
    remarks();
    CHECK(told([&] { x.host(); }).empty());
    const auto notes = remarks();
    REQUIRE(notes.size() == 1);
    CHECK(holds(notes[0], "37 of 100 were never written, number 63 the first"));
    cudaMemset(x.data(), 0, 100 * sizeof(float));
    x.host();
    CHECK(remarks().empty());
}
