// Unordered work of two streams may run at the same time. Also tests __restrict__ arguments.
#include <cuda_runtime_api.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/emulator/memory/readers.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/facts.hpp"
#include "common/emulator/tests/findings.hpp"
#include "common/emulator/tests/host.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

std::optional<Report> told(const std::function<void()>& work) {
    cudaDeviceSynchronize();
    cudaGetLastError();
    clear_report();
    work();
    const auto report = last_report();
    cudaDeviceSynchronize();
    cudaGetLastError();
    clear_report();
    return report;
}

// Of a kernel's access with one by other work: that is a copy if it has no code address.
Race race(const std::function<void()>& work) {
    const auto fact = fact_of<Race>(told(work));
    CHECK(fact.cause == Race::Cause::other_stream);
    return fact;
}

// Of a copy's access with one by a kernel.
StreamRace copy_race(const std::function<void()>& work) {
    return fact_of<StreamRace>(told(work));
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

    CHECK(race([&] { write(a.it), read(b.it); }).did == AccessKind::write);
    CHECK(race([&] { twice(x.data(), 64, u.data(), a.it), write(b.it); }).did == AccessKind::read);
    race([&] { write(nullptr), read(c.it); });
    race([&] { write(c.it), read(nullptr); });
    // Work after the event's record is not waited for.
    race([&] { read(a.it), wait(b.it, a.it), write(a.it), read(b.it); });
    // Nor is work of a stream other than the recorded one.
    race([&] { write(a.it), wait(b.it, b.it), read(b.it); });
    const auto fetch = [&](cudaStream_t stream) {
        cudaMemcpyAsync(pinned, x.data(), 256, cudaMemcpyDeviceToHost, stream);
    };
    CHECK_FALSE(copy_race([&] { write(a.it), fetch(b.it); }).writes);
    CHECK(race([&] { fetch(a.it), write(b.it); }).other.code == 0);
    CHECK(copy_race([&] { read(a.it), cudaMemsetAsync(x.data(), 0, 256, b.it); }).writes);

    const auto fine = [&](const std::function<void()>& work) { CHECK_FALSE(told(work)); };
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
            const int from =
                by == By::copy ? 0 : 15;  // or one byte, which then has a separate history
            cudaMemsetAsync(reinterpret_cast<char*>(x.data()) + from, 0, 16 - from, writer.it);
        }
    };
    for (const By readers : {By::kernel, By::copy, By::both}) {
        for (const By written : {By::kernel, By::copy, By::both}) {
            for (int n = 2; n <= 5; ++n) {
                for (int left_out = -1; left_out < n; ++left_out) {
                    const auto report = told([&] {
                        for (int i = 0; i < n; ++i) {
                            read(readers, i);
                            if (i == left_out) continue;
                            cudaEventRecord(event, streams[i].it);
                            cudaStreamWaitEvent(writer.it, event);
                        }
                        write(written);
                    });
                    CAPTURE(static_cast<int>(readers), static_cast<int>(written), n, left_out);
                    CHECK(report.has_value() == (left_out >= 0));
                    if (left_out < 0) continue;
                    const bool copy =
                        readers == By::copy || (readers == By::both && left_out % 2 == 0);
                    const bool by_kernel = written == By::kernel;
                    const PastAccess reader =
                        by_kernel ? fact_of<Race>(report).other : fact_of<StreamRace>(report).other;
                    CHECK((reader.code == 0) == copy);
                    CHECK((by_kernel ? fact_of<Race>(report).did
                                     : fact_of<StreamRace>(report).did) == AccessKind::read);
                }
            }
        }
    }
    // A stream's later reads take the place of its earlier ones, not of other streams' reads.
    CHECK(told([&] {
        read(By::kernel, 0);
        for (int n = 0; n < 80; ++n) read(By::kernel, 1 + n % 3);
        for (const int i : {1, 2, 3}) {
            cudaEventRecord(event, streams[i].it);
            cudaStreamWaitEvent(writer.it, event);
        }
        write(By::kernel);
    }));
    // Two reads on one stream: waiting for the later one covers both.
    CHECK_FALSE(told([&] {
        for (const int i : {0, 1, 2, 0, 1}) read(By::kernel, i);
        for (const int i : {0, 1, 2}) {
            cudaEventRecord(event, streams[i].it);
            cudaStreamWaitEvent(writer.it, event);
        }
        write(By::kernel);
    }));
    cudaEventDestroy(event);
    cudaFreeHost(pinned);
}

TEST_CASE("a writer within a launch is reported for each of several readers it does not wait for") {
    const Device<float> word(std::vector<float>(1, 1.0f));
    const Device<int> done(std::vector<int>(1, 0));
    struct Case {
        ReadersAre what;
        unsigned threads;  // between readers
        bool of_blocks;
        unsigned first;  // thread of the first reader
    };
    const auto c =
        GENERATE(Case{ReadersAre::blocks, 1, true, 0}, Case{ReadersAre::warps, 32, false, 5},
                 Case{ReadersAre::warps_in_shared_memory, 32, false, 5},
                 Case{ReadersAre::lanes, 1, false, 0});
    for (int n = 2; n <= 5; ++n) {
        for (int left_out = -1; left_out < n; ++left_out) {
            cudaMemset(word.data(), 0, 4);
            cudaMemset(done.data(), 0, 4);
            const auto report =
                told([&] { readers_and_a_writer(c.what, n, left_out, word.data(), done.data()); });
            CAPTURE(static_cast<int>(c.what), n, left_out);
            CHECK(report.has_value() == (left_out >= 0));
            if (left_out < 0) continue;
            const auto race = fact_of<Race>(report);
            const auto reader = static_cast<std::uint32_t>(left_out), step = c.threads;
            CHECK(race.did == AccessKind::read);
            CHECK(race.other.thread() == c.first + (c.of_blocks ? 0 : step * reader));
            CHECK(race.in_one_block() == !c.of_blocks);
            if (c.of_blocks) CHECK(race.other.serial - clocks.first_serial == reader);
        }
    }
}

TEST_CASE("a warp call that leaves out a single lane does not order that lane") {
    const Device<float> word(std::vector<float>(1, 1.0f));
    for (const int left_out : {-1, 0, 15, 30}) {
        const auto report = told(
            [&] { readers_and_a_writer(ReadersAre::lanes, 31, left_out, word.data(), nullptr); });
        CAPTURE(left_out);
        CHECK(report.has_value() == (left_out >= 0));
        if (left_out < 0) continue;
        CHECK(fact_of<Race>(report).other.thread() == static_cast<unsigned>(left_out));
    }
}

TEST_CASE(
    "two readers of a word are in its history and 64 are kept besides; older ones are dropped") {
    const Device<float> word(std::vector<float>(1, 1.0f));
    const Device<int> done(std::vector<int>(1, 0));
    const auto finds = [&](int readers, int left_out) {
        cudaMemset(done.data(), 0, 4);
        return told([&] {
                   readers_and_a_writer(ReadersAre::blocks, readers, left_out, word.data(),
                                        done.data());
               })
            .has_value();
    };
    CHECK(finds(66, 0));
    CHECK_FALSE(finds(67, 0));
    CHECK(finds(67, 1));
}

TEST_CASE("a reader of earlier work may be the only one, one of this launch after a signal only") {
    const Clocks before = clocks;
    clocks.first_serial = 10;
    const struct {
        std::uint32_t serial;  // 0: there was no such read
        bool by_barriers, beyond_barriers;
    } cases[] = {
        {0, false, false}, {1, true, true}, {9, true, true}, {10, false, true}, {11, false, true}};
    for (const auto& c : cases) {
        INFO(c.serial);
        clocks.orders_beyond_barriers = false;
        CHECK(may_be_the_only_one({c.serial, 0, 0}) == c.by_barriers);
        clocks.orders_beyond_barriers = true;
        CHECK(may_be_the_only_one({c.serial, 0, 0}) == c.beyond_barriers);
    }
    clocks = before;
}

TEST_CASE("a stream created later may race with the last 64 works of the default stream") {
    const Device<float> x(std::vector<float>(1, 1.0f)), y(std::vector<float>(65, 1.0f));
    const auto races_with_work = [&](int work) {
        return told([&] {
                   for (int i = 0; i < 65; ++i) tests::add_one(x.data(), y.data() + i, nullptr);
                   const Stream later(cudaStreamNonBlocking);
                   tests::add_one(x.data(), y.data() + work, later.it);
               })
            .has_value();
    };
    CHECK_FALSE(races_with_work(0));
    CHECK(races_with_work(1));
    CHECK(races_with_work(64));
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
        CHECK(told([&] { kernel(), copy(); }).has_value() == within);
        CHECK(told([&] { copy(), kernel(); }).has_value() == within);
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
    CHECK(fact_of<Race>(race_with_later(cudaStreamNonBlocking, false)).cause ==
          Race::Cause::other_stream);
    CHECK_FALSE(race_with_later(cudaStreamNonBlocking, true));
    CHECK_FALSE(race_with_later(cudaStreamDefault, false));
}

TEST_CASE("a device variable can be set on a stream") {
    const Stream a;
    CHECK_FALSE(told([&] {
        cudaMemsetAsync(address_of_variable(), 0, 16, a.it);
        cudaStreamSynchronize(a.it);
    }));
}

TEST_CASE("equal __restrict__ arguments are reported if the kernel writes through one of them") {
    const Device<float> x(std::vector<float>(64, 1.0f));
    const auto report = told([&] { sum_restricted(x.data(), 64, x.data()); });
    REQUIRE(report);
    CHECK(report->kind == Kind::undefined_behaviour);
    CHECK(report->text.find("`in` and `out` are the same array") != std::string::npos);
    CHECK_FALSE(told([&] { sum_restricted(x.data(), 32, x.data() + 32); }));
    CHECK_FALSE(told([&] { sum_restricted(x.data(), 0, x.data()); }));  // writes nothing
    CHECK_FALSE(told([&] { twice(x.data(), 64, x.data()); }));          // promises nothing
}

TEST_CASE("a copy to the host tells how much of it was never written") {
    const Device<float> x(100);
    cudaMemset(x.data(), 0, 63 * sizeof(float));
    remarks();
    CHECK_FALSE(told([&] { x.host(); }));
    const auto notes = remarks();
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].find("37 of 100 were never written by any kernel, copy or cudaMemset; the first "
                        "is number 63") != std::string::npos);
    cudaMemset(x.data(), 0, 100 * sizeof(float));
    x.host();
    CHECK(remarks().empty());
}
