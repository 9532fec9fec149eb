// Measuring, except for the times themselves, which mean nothing on the emulator: the number and
// order of runs, and the output.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/bench/measure.hpp"
#include "common/bench/roofline.hpp"
#include "common/lesson/arena.hpp"
#include "common/lesson/csv.hpp"
#include "common/lesson/report.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;

namespace {

TEST_CASE("median, p10 and p90 do not depend on the order of runs", "[bench][small]") {
    std::vector<double> runs;
    for (int i = 10; i >= 0; --i) runs.push_back(i);
    const bench::Seconds s = bench::summarise(runs);
    CHECK(s.median == 5);
    CHECK(s.p10 == 1);
    CHECK(s.p90 == 9);
    const bench::Seconds one = bench::summarise({7});
    CHECK(one.median == 7);
    CHECK(one.p10 == 7);
    CHECK(one.p90 == 7);
}

TEST_CASE("a plan respects its budget and batches short runs", "[bench][small]") {
    const bench::Budget budget{5, 51, 0.3};
    CHECK(bench::plan(1e-3, budget).runs_at_once == 1);
    CHECK(bench::plan(1e-3, budget).measurements == 51);  // 300 would fit
    CHECK(bench::plan(10e-3, budget).measurements == 30);
    CHECK(bench::plan(1, budget).measurements == 5);  // over the budget, but enough for a median
    CHECK(bench::plan(500e-6, budget).runs_at_once == 1);
    CHECK(bench::plan(450e-6, budget).runs_at_once == 3);  // more than a millisecond
    CHECK(bench::plan(3e-6, budget).runs_at_once == 334);
    CHECK(bench::plan(0, budget).runs_at_once == 1000);
    CHECK(bench::plan(0, {0, 0, 0}).measurements == 1);
}

TEST_CASE("timed runs are numbered, and alternate with a peer's", "[bench][small]") {
    std::vector<int> numbers;
    (void)bench::host_seconds({4, 4, 10}, [&](int i) { numbers.push_back(i); });
    CHECK(numbers == std::vector<int>{0, 1, 2, 3, 4});  // one to warm up

    std::string turns;
    std::vector<int> ours, theirs;
    const bench::Pair pair = bench::gpu_seconds(
        {3, 3, 1e9},
        [&](int i) {
            ours.push_back(i);
            if (turns.empty() || turns.back() != 'A') turns += 'A';
        },
        [&](int i) {
            theirs.push_back(i);
            if (turns.back() != 'B') turns += 'B';
        });
    CHECK(turns == "ABABABAB");  // warm-up, and three turns
    for (const auto& series : {ours, theirs}) {
        for (std::size_t i = 0; i < series.size(); ++i) CHECK(series[i] == static_cast<int>(i));
    }
    CHECK(pair.run.p10 <= pair.run.p90);

    int runs = 0;
    const bench::Pair alone = bench::gpu_seconds({2, 2, 1e9}, [&](int) { ++runs; }, {});
    CHECK(runs >= 5);  // three to warm up
    CHECK(alone.peer.median == 0);
}

TEST_CASE("buffer sets together exceed twice the cache", "[bench][small]") {
    const std::int64_t l2 = 50 << 20;
    CHECK(bench::sets_past_cache(2 * l2 + 1, l2) == 1);
    CHECK(bench::sets_past_cache(2 * l2, l2) == 2);
    CHECK(bench::sets_past_cache(l2, l2) == 3);
    CHECK(bench::sets_past_cache(12 << 20, l2) == 9);  // 9 * 12 = 108
    CHECK(bench::sets_past_cache(1 << 20, l2) == 101);
    CHECK(bench::sets_past_cache(100, 0) == 1);  // a device that reports no cache
    CHECK(rejection([] { (void)bench::sets_past_cache(0, 1); }) ==
          "sets_past_cache: a set of 0 bytes was asked for");
    CHECK(bench::sets_past_cache(std::int64_t{1} << 40) == 1);  // this device's
}

bench::Limits limits() {
    bench::Limits l;
    l.whose = "this GPU";
    l.copy = 4e12;
    l.read = 4.5e12;
    l.write = 5e12;
    l.fma = 60e12;
    return l;
}

lesson::Version add() {
    lesson::Version v;
    v.op = "add";
    v.version = "vectorized";
    v.shape = "(64, 1024, 12)";
    v.work = {8e9, 4e9, 1e9};  // 8 GB at 4 TB/s and 4 GB at 4.5: 2.889 ms
    return v;
}

TEST_CASE("a CSV row matches the columns of the header", "[bench][csv][small]") {
    CHECK(lesson::csv_columns() ==
          "op,version,path,dtype,shape,cache,bytes_read,bytes_written,flops,median_s,p10_s,p90_s,"
          "limit,share,peer,peer_s");
    CHECK(lesson::csv_row(add(), {4e-3, 3e-3, 5e-3}, 0, limits()) ==
          "add,vectorized,,float32,64x1024x12,cold,8000000000,4000000000,1000000000,"
          "4.0000e-03,3.0000e-03,5.0000e-03,copy,0.7222,,");
    lesson::Version v = add();
    v.path = "vectorized";
    v.peer = "torch.add";
    v.cache = "warm";
    CHECK(lesson::csv_row(v, {4e-3, 3e-3, 5e-3}, 8e-3, limits()) ==
          "add,vectorized,vectorized,float32,64x1024x12,warm,8000000000,4000000000,1000000000,"
          "4.0000e-03,3.0000e-03,5.0000e-03,copy,0.7222,torch.add,8.0000e-03");
}

TEST_CASE("shapes and names with commas stay one field", "[bench][csv][small]") {
    const auto shape = [](const char* text) {
        lesson::Version v = add();
        v.shape = text;
        const std::string row = lesson::csv_row(v, {1, 1, 1}, 0, limits());
        const std::size_t from = row.find("float32,") + 8;
        return row.substr(from, row.find(",cold") - from);
    };
    CHECK(shape("(7)") == "7");
    CHECK(shape("(2, 3)") == "2x3");
    CHECK(shape("()") == "scalar");
    CHECK(shape("") == "");
    CHECK(shape("2x3") == "2x3");
    CHECK(shape("M = 3, N = 4") == "\"M = 3, N = 4\"");
    lesson::Version v = add();
    v.version = "rows, \"long\"";
    CHECK(lesson::csv_row(v, {1, 1, 1}, 0, limits()).find("add,\"rows, \"\"long\"\"\",") == 0);
}

TEST_CASE("invalid times and line breaks are rejected", "[bench][csv][small]") {
    lesson::Version v = add();
    CHECK(rejection([&] {
              (void)lesson::csv_row(v, {0, 0, 0}, 0, limits());
          }) == "add, vectorized: a time of 0 seconds was measured");
    CHECK(rejection([&] { (void)lesson::csv_row(v, {1, 1, 1}, -1, limits()); }) != "");
    v.version = "two\nlines";
    CHECK(rejection([&] {
              (void)lesson::csv_row(v, {1, 1, 1}, 0, limits());
          }) == "\"two\nlines\" has a line break, which a CSV field cannot have");
}

TEST_CASE("the driver's version is parsed from the kernel module's text", "[bench][csv][small]") {
    CHECK(lesson::driver_version_in(
              "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  "
              "(x)\nGCC version:  gcc version 12.2.0 (Debian)\n") == "580.65.06");
    CHECK(lesson::driver_version_in(
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n") ==
          "535.104.05");
    CHECK(lesson::driver_version_in("") == "");
    CHECK(lesson::driver_version_in("no number. at all 64") == "");
}

TEST_CASE("a clock that changed by more than 5 % is reported", "[bench][csv][small]") {
    CHECK(lesson::clock_warning(1.98e9, 1.90e9) == "");
    CHECK(lesson::clock_warning(1.98e9, 1.98e9) == "");
    CHECK(contains(lesson::clock_warning(2e9, 1.8e9), "the clock went down by 10 %"));
    CHECK(contains(lesson::clock_warning(1e9, 1.2e9), "the clock went up by 20 %"));
}

// Three sets of host memory, and a run that fills one with 7; run number `spoilt` writes an 8 to
// the last byte.
struct Sevens {
    std::vector<std::vector<char>> out{3, std::vector<char>(64)};
    std::vector<char> want = std::vector<char>(64, 7);
    int runs = 0, spoilt = -1;

    lesson::Trial trial() {
        lesson::Trial t;
        t.run = [this](int set) {
            auto& to = out[static_cast<std::size_t>(set)];
            std::fill(to.begin(), to.end(), char{7});
            if (runs++ == spoilt) to.back() = 8;
        };
        for (auto& to : out) t.outcomes.push_back({to.data(), want.data(), 64});
        return t;
    }
};

TEST_CASE("a CPU version is checked before and after timing", "[bench][report][small]") {
    const auto status = [](const lesson::Version& v) {
        lesson::Report report("title", "what", {});
        report.loop(v);
        return report.finish("");
    };
    Sevens small, large;
    lesson::Version v = add();
    v.check = small.trial();
    v.timed = [&] { return large.trial(); };
    CHECK(status(v) == 0);
    CHECK(small.runs == 3);
    CHECK(large.runs > 3 + 3);
    for (const int spoilt : {0, 1, 2}) {
        small.runs = 0;
        small.spoilt = spoilt;
        CAPTURE(spoilt);
        CHECK(status(v) == 1);  // in the check
    }
    small.spoilt = -1;
    large.runs = 0;
    large.spoilt = 2;
    CHECK(status(v) == 1);  // on the timed sets, before they are timed
    // A run that stops writing after one pass over the sets: its output was poisoned since.
    Sevens lazy;
    v.timed = [&] {
        lesson::Trial t = lazy.trial();
        const auto run = t.run;
        t.run = [&, run](int set) {
            if (lazy.runs < 3) run(set);
        };
        return t;
    };
    CHECK(status(v) == 1);
    v.check.run = [](int) {};
    v.timed = {};
    CHECK(status(v) == 1);  // never written at all
}

TEST_CASE("a kernel's outputs are poisoned and compared on the device", "[bench][report][small]") {
    gpu::Buffer<std::uint8_t> out(100), want(100), source(100);
    want.fill_bytes(5);
    source.fill_bytes(5);
    const auto status = [&](const std::function<void(int)>& run, std::int64_t bytes) {
        lesson::Report report("title", "what", {});
        lesson::Version v = add();
        v.check = {run, {{out.data(), want.data(), bytes}}};
        report.port(v);
        return report.finish("");
    };
    out.fill_bytes(5);
    CHECK(status([](int) {}, 100) == 1);  // right before, and never written
    CHECK(status([&](int) { out.fill_bytes(5); }, 100) == 0);
    CHECK(status([&](int) { out.fill_bytes(6); }, 100) == 1);
    const std::uint8_t last = 6;
    const auto all_but_one = [&](int) {
        out.fill_bytes(5);
        out.upload(&last, 1, 99);
    };
    CHECK(status(all_but_one, 100) == 1);
    CHECK(status(all_but_one, 99) == 0);
}

TEST_CASE("an arena holds the same data in every set, with arrays aligned to 256 bytes",
          "[bench][arena][small]") {
    lesson::Arena arena({1000, 300}, 700);
    CHECK(arena.sets() == bench::sets_past_cache(1024 + 512 + 768));
    const std::vector<std::uint8_t> part = {1, 2, 3, 4, 5, 6, 7}, other = {9, 8};
    arena.fill(0, part.data(), 7);
    arena.fill(1, other.data(), 2);
    arena.expect(part.data(), 7);
    const auto outcomes = arena.outcomes();
    REQUIRE(outcomes.size() == static_cast<std::size_t>(arena.sets()));
    std::vector<std::uint8_t> host(1000);
    const auto read = [&](const void* from, std::int64_t bytes) {
        gpu::detail::copy_to_host(host.data(), from, static_cast<std::size_t>(bytes));
    };
    for (const int set : {0, arena.sets() / 2, arena.sets() - 1}) {
        CAPTURE(set);
        const auto* first = arena.input<std::uint8_t>(set, 0);
        const auto* second = arena.input<std::uint8_t>(set, 1);
        CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
        CHECK(reinterpret_cast<std::uintptr_t>(second) % 256 == 0);
        CHECK(reinterpret_cast<std::uintptr_t>(arena.output<char>(set)) % 256 == 0);
        read(first, 1000);
        for (std::size_t i = 0; i < 1000; ++i) REQUIRE(host[i] == part[i % 7]);
        read(second, 300);
        for (std::size_t i = 0; i < 300; ++i) REQUIRE(host[i] == other[i % 2]);
        const lesson::Outcome& o = outcomes[static_cast<std::size_t>(set)];
        CHECK(o.out == arena.output<void*>(set));
        CHECK(o.bytes == 700);
    }
    read(arena.want<char>(), 700);
    for (std::size_t i = 0; i < 700; ++i) REQUIRE(host[i] == part[i % 7]);
    arena.fill_with_noise(1);
    read(arena.input<char>(arena.sets() - 1, 1), 300);
    CHECK(std::set<std::uint8_t>(host.begin(), host.begin() + 300).size() > 100);
}

}  // namespace
