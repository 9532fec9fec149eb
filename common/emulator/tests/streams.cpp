// Unordered work of two streams may run at the same time. Also tests __restrict__ arguments.
#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/findings.hpp"
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

// The report of this work; "" if there is none.
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

TEST_CASE("two streams that access the same memory race unless something orders them") {
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
    // Work after the event's record is not waited for.
    CHECK(holds(told([&] { read(a.it), wait(b.it, a.it), write(a.it), read(b.it); }), "race"));
    // Nor is work of a stream other than the recorded one.
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
    fine([&] { write(a.it), wait(b.it, a.it), wait(c.it, b.it), read(c.it); });  // through b
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
    // Both only read, and write to separate memory.
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

TEST_CASE("a writer on one stream is reported for each of several readers it does not wait for") {
    const Device<float> x(std::vector<float>(64, 1.0f));
    const Stream streams[5], writer;
    float* pinned = nullptr;
    cudaEvent_t event = nullptr;
    REQUIRE(cudaMallocHost(&pinned, 5 * 256) == cudaSuccess);
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    const Device<float> sums(std::vector<float>(5 * 64, 0.0f));
    enum class By { kernel, copy, both };
    const auto read = [&](By by, int i) {
        if (by == By::copy || (by == By::both && i % 2 == 0)) {
            cudaMemcpyAsync(pinned + 64 * i, x.data(), 256, cudaMemcpyDeviceToHost, streams[i].it);
        } else {
            add_one(x.data() + 3, sums.data() + 64 * i, streams[i].it);
        }
    };
    const auto write = [&](By by) {
        if (by == By::kernel) {
            twice(sums.data() + 32, 16, x.data(), writer.it);
        } else {
            cudaMemsetAsync(x.data(), 0, 64, writer.it);
        }
    };
    for (const By readers : {By::kernel, By::copy, By::both}) {
        for (const By written : {By::kernel, By::copy}) {
            for (int n = 2; n <= 5; ++n) {
                for (int left_out = -1; left_out < n; ++left_out) {
                    const std::string text = told([&] {
                        for (int i = 0; i < n; ++i) {
                            read(readers, i);
                            if (i == left_out) continue;
                            cudaEventRecord(event, streams[i].it);
                            cudaStreamWaitEvent(writer.it, event);
                        }
                        write(written);
                    });
                    CAPTURE(static_cast<int>(readers), static_cast<int>(written), n, left_out,
                            text);
                    CHECK(text.empty() == (left_out < 0));
                    if (left_out < 0) continue;
                    const bool copy =
                        readers == By::copy || (readers == By::both && left_out % 2 == 0);
                    CHECK(holds(text, copy ? "which cudaMemcpyAsync, on another stream"
                                           : "which add_one_kernel, on another stream"));
                    CHECK(holds(text, "reads"));
                }
            }
        }
    }
    // Two reads on one stream: waiting for the later one covers both.
    CHECK(told([&] {
              for (const int i : {0, 1, 2, 0, 1}) read(By::kernel, i);
              for (const int i : {0, 1, 2}) {
                  cudaEventRecord(event, streams[i].it);
                  cudaStreamWaitEvent(writer.it, event);
              }
              write(By::kernel);
          }).empty());
    cudaEventDestroy(event);
    cudaFreeHost(pinned);
}

TEST_CASE("a writer within a launch is reported for each of several readers it does not wait for") {
    const Device<float> word(std::vector<float>(1, 1.0f));
    const Device<int> done(std::vector<int>(1, 0));
    struct Case {
        ReadersAre what;
        int threads;  // between readers
        bool of_blocks;
        int first;  // thread of the first reader
    };
    const auto c =
        GENERATE(Case{ReadersAre::blocks, 1, true, 3}, Case{ReadersAre::warps, 32, false, 5},
                 Case{ReadersAre::warps_in_shared_memory, 32, false, 5},
                 Case{ReadersAre::lanes, 1, false, 0});
    for (int n = 2; n <= 5; ++n) {
        for (int left_out = -1; left_out < n; ++left_out) {
            cudaMemset(word.data(), 0, 4);
            cudaMemset(done.data(), 0, 4);
            const std::string text =
                told([&] { readers_and_a_writer(c.what, n, left_out, word.data(), done.data()); });
            CAPTURE(static_cast<int>(c.what), n, left_out, text);
            CHECK(text.empty() == (left_out < 0));
            if (left_out < 0) continue;
            const std::string who =
                c.of_blocks ? "thread (3,0,0) of block (" + std::to_string(left_out) + ",0,0) reads"
                            : "thread (" + std::to_string(c.first + c.threads * left_out) +
                                  ",0,0) of the same block reads";
            CHECK(holds(text, who));
        }
    }
}

TEST_CASE("two streams that access the same bytes race; neighbouring bytes of a word do not") {
    const Device<unsigned char> x(std::vector<unsigned char>(64, 1)),
        y(std::vector<unsigned char>(64, 1));
    const Stream a, b;
    for (int byte = 7; byte <= 14; ++byte) {
        CAPTURE(byte);
        const bool within = byte >= 9 && byte < 13;
        const auto kernel = [&] { add_one_byte(y.data(), x.data() + byte, a.it); };
        const auto copy = [&] { cudaMemsetAsync(x.data() + 9, 0, 4, b.it); };
        CHECK(told([&] { kernel(), copy(); }).empty() == !within);
        CHECK(told([&] { copy(), kernel(); }).empty() == !within);
    }
}

TEST_CASE("a stream created after a launch does not wait for it") {
    const Device<float> x(std::vector<float>(64, 1.0f)), y(std::vector<float>(64, 1.0f));
    const auto race_with_later = [&](unsigned flags, bool waits) {
        return told([&] {
            twice(y.data(), 64, x.data());
            if (waits) cudaDeviceSynchronize();
            const Stream later(flags);
            twice(x.data(), 64, y.data(), later.it);
        });
    };
    CHECK(holds(race_with_later(cudaStreamNonBlocking, false), "Nothing orders the two streams"));
    CHECK(race_with_later(cudaStreamNonBlocking, true).empty());
    CHECK(race_with_later(cudaStreamDefault, false).empty());
}

TEST_CASE("a device variable can be set on a stream") {
    const Stream a;
    CHECK(told([&] {
              cudaMemsetAsync(address_of_variable(), 0, 16, a.it);
              cudaStreamSynchronize(a.it);
          }).empty());
}

TEST_CASE("equal __restrict__ arguments are reported if the kernel writes through one of them") {
    const Device<float> x(std::vector<float>(64, 1.0f));
    CHECK(holds(told([&] { sum_restricted(x.data(), 64, x.data()); }),
                "undefined_behaviour: sum_restricted_kernel, common/emulator/tests/host.cu:"));
    CHECK(holds(told([&] { sum_restricted(x.data(), 64, x.data()); }),
                "`in` and `out` are the same array"));
    CHECK(told([&] { sum_restricted(x.data(), 32, x.data() + 32); }).empty());
    CHECK(told([&] { sum_restricted(x.data(), 0, x.data()); }).empty());  // writes nothing
    CHECK(told([&] { twice(x.data(), 64, x.data()); }).empty());          // promises nothing
}

TEST_CASE("a copy to the host tells how much of it was never written") {
    const Device<float> x(100);
    cudaMemset(x.data(), 0, 63 * sizeof(float));
    remarks();
    CHECK(told([&] { x.host(); }).empty());
    const auto notes = remarks();
    REQUIRE(notes.size() == 1);
    CHECK(holds(
        notes[0],
        "37 of 100 were never written by any kernel, copy or cudaMemset; the first is number 63"));
    cudaMemset(x.data(), 0, 100 * sizeof(float));
    x.host();
    CHECK(remarks().empty());
}
