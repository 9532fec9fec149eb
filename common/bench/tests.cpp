// Measuring, as far as it can be tested where no time means anything: how often, in which turns,
// and what is made of the numbers.
#include <climits>
#include <string>
#include <vector>

#include "common/bench/measure.hpp"
#include "common/bench/roofline.hpp"
#include "common/lesson/csv.hpp"
#include "common/lesson/report.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;

namespace {

TEST_CASE("median, p10 and p90 of runs in any order", "[bench][small]") {
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

TEST_CASE("a plan keeps to its budget and fills its events", "[bench][small]") {
    const bench::Budget budget{5, 51, 0.3};
    CHECK(bench::plan(1e-3, budget).runs_at_once == 1);
    CHECK(bench::plan(1e-3, budget).measurements == 51);  // 300 would fit
    CHECK(bench::plan(10e-3, budget).measurements == 30);
    CHECK(bench::plan(1, budget).measurements == 5);  // five seconds, but a median
    CHECK(bench::plan(500e-6, budget).runs_at_once == 1);
    CHECK(bench::plan(450e-6, budget).runs_at_once == 3);  // a millisecond and more
    CHECK(bench::plan(3e-6, budget).runs_at_once == 334);
    CHECK(bench::plan(0, budget).runs_at_once == 1000);
    CHECK(bench::plan(0, {0, 0, 0}).measurements == 1);
}

TEST_CASE("timed runs are numbered, and a peer takes turns with them", "[bench][small]") {
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

TEST_CASE("sets of buffers are together more than twice the cache", "[bench][small]") {
    const std::int64_t l2 = 50 << 20;
    CHECK(bench::sets_past_cache(2 * l2 + 1, l2) == 1);
    CHECK(bench::sets_past_cache(2 * l2, l2) == 2);
    CHECK(bench::sets_past_cache(l2, l2) == 3);
    CHECK(bench::sets_past_cache(12 << 20, l2) == 9);  // 9 * 12 = 108
    CHECK(bench::sets_past_cache(1 << 20, l2) == 101);
    CHECK(bench::sets_past_cache(100, 0) == 1);  // a device that tells of no cache
    CHECK(refusal([] { (void)bench::sets_past_cache(0, 1); }) ==
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
    v.version = "16 bytes a load";
    v.shape = "(64, 1024, 12)";
    v.work = {8e9, 4e9, 1e9};  // 8 GB at 4 TB/s and 4 GB at 4.5: 2.889 ms
    return v;
}

TEST_CASE("a row of the CSV fits its columns", "[bench][csv][small]") {
    CHECK(lesson::csv_columns() ==
          "op,version,path,dtype,shape,cache,bytes_read,bytes_written,flops,median_s,p10_s,p90_s,"
          "limit,share,peer,peer_s");
    CHECK(lesson::csv_row(add(), {4e-3, 3e-3, 5e-3}, 0, limits()) ==
          "add,16 bytes a load,,float32,64x1024x12,cold,8000000000,4000000000,1000000000,"
          "4.0000e-03,3.0000e-03,5.0000e-03,copy,0.7222,,");
    lesson::Version v = add();
    v.path = "quads";
    v.peer = "torch.add";
    v.cache = "warm";
    CHECK(lesson::csv_row(v, {4e-3, 3e-3, 5e-3}, 8e-3, limits()) ==
          "add,16 bytes a load,quads,float32,64x1024x12,warm,8000000000,4000000000,1000000000,"
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

TEST_CASE("what would spoil the CSV is refused", "[bench][csv][small]") {
    lesson::Version v = add();
    CHECK(refusal([&] {
              (void)lesson::csv_row(v, {0, 0, 0}, 0, limits());
          }) == "add, 16 bytes a load: a time of 0 seconds was measured");
    CHECK(refusal([&] { (void)lesson::csv_row(v, {1, 1, 1}, -1, limits()); }) != "");
    v.version = "two\nlines";
    CHECK(refusal([&] {
              (void)lesson::csv_row(v, {1, 1, 1}, 0, limits());
          }) == "\"two\nlines\" has a line end, and a field of a CSV must not");
}

TEST_CASE("the driver's version is found in what the kernel module says", "[bench][csv][small]") {
    CHECK(lesson::driver_version_in(
              "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  "
              "(x)\nGCC version:  gcc version 12.2.0 (Debian)\n") == "580.65.06");
    CHECK(lesson::driver_version_in(
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n") ==
          "535.104.05");
    CHECK(lesson::driver_version_in("") == "");
    CHECK(lesson::driver_version_in("no number. at all 64") == "");
}

TEST_CASE("a clock that moved by more than 5 % is told", "[bench][csv][small]") {
    CHECK(lesson::clock_warning(1.98e9, 1.90e9) == "");
    CHECK(lesson::clock_warning(1.98e9, 1.98e9) == "");
    CHECK(contains(lesson::clock_warning(2e9, 1.8e9), "the clock went down by 10 %"));
    CHECK(contains(lesson::clock_warning(1e9, 1.2e9), "the clock went up by 20 %"));
}

TEST_CASE("a wrong output of the timed runs fails the whole run", "[bench][report][small]") {
    lesson::Options options;
    for (const bool right : {true, false}) {
        lesson::Report report("title", "what", options);
        std::string calls;
        lesson::Version v = add();
        v.ok = true;
        v.run = [&](int) { calls += calls.back() == 'r' ? "" : "r"; };
        v.refill = [&] { calls += "f"; };
        v.verify = [&] {
            calls += "v";
            return right;
        };
        report.loop(v);
        CHECK(calls == "frv");
        CHECK(report.finish("") == (right ? 0 : 1));
        v.ok = false;
        report.port(v);
        CHECK(report.finish("") == 1);
    }
}

}  // namespace
