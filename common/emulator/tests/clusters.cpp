// Clusters: correct kernels compute what CUDA's manual specifies, in any execution order, and are
// not reported; bugs are reported at their line.
#include "common/emulator/tests/clusters.hpp"

#include <fstream>
#include <string>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/trace.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

std::vector<int> run(const std::string& name, std::size_t count) {
    const Device<int> out(std::vector<int>(64, -1));
    clear_report();
    for (const ClusterCase& one : clusters()) {
        if (one.name == name) one.launch(out.data());
    }
    cudaDeviceSynchronize();
    std::vector<int> got = out.host();
    got.resize(count);
    return got;
}

// The same, for a kernel that must not be reported.
std::vector<int> of_right(const std::string& name, std::size_t count) {
    std::vector<int> got = run(name, count);
    CHECK_FALSE(last_report());
    return got;
}

std::string text_of_line(int line) {
    std::string path = __FILE__, text;
    std::ifstream in(path.replace(path.rfind(".cpp"), 4, ".cu"));
    for (int i = 0; i < line; ++i) std::getline(in, text);
    return text;
}

// The ints formula(0), formula(1), ...
template <class Formula>
std::vector<int> made(int count, Formula formula) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i) all.push_back(formula(i));
    return all;
}

// The result of read_the_next() in clusters of n blocks.
auto next_of(int n) {
    return [n](int i) { return 10 * (i / 4 / n * n + (i / 4 % n + 1) % n) + i % 4; };
}

}  // namespace

TEST_CASE("blocks of a cluster read, write and count in each other's shared memory") {
    const auto order = GENERATE(Order::forward, Order::reversed, Order::shuffled);
    set_order(order, 5);
    CHECK(of_right("neighbours", 32) == made(32, next_of(2)));
    CHECK(of_right("template_neighbours", 32) == made(32, next_of(4)));
    CHECK(of_right("neighbours_by_call", 32) == made(32, next_of(8)));
    CHECK(of_right("alone", 32) == made(32, next_of(1)));
    // 32 numbers per cluster; seven times each is spread over 16 bins, two per bin.
    CHECK(of_right("histogram", 32) == std::vector<int>(32, 2));
    CHECK(of_right("several_arrays", 12) ==
          std::vector<int>{2, 4, 1, 12, 104, 1001, 12, 104, 1001, 2, 4, 1});
    CHECK(of_right("arrive_early", 4) == std::vector<int>{2, 1, 4, 3});
    CHECK(of_right("by_ptx", 4) == std::vector<int>{102, 101, 104, 103});
    CHECK(of_right("pushed", 8) == std::vector<int>{10, 10, 10, 10, 26, 26, 26, 26});
    CHECK(of_right("many_threads", 16) == made(16, [](int i) { return (i + 1) % 16; }));
    set_order(Order::forward);
}

TEST_CASE("the cluster size can come from the kernel, its prototype or the launch") {
    CHECK(of_right("neighbours_by_address", 32) == made(32, next_of(8)));
    CHECK(of_right("template_by_address", 32) == made(32, next_of(4)));
    CHECK(of_right("declared", 32) == made(32, next_of(2)));
    CHECK(of_right("deduced", 64) == made(64, next_of(16)));
    int by_attribute = 0;
    cudaDeviceProp properties;
    CHECK(cudaDeviceGetAttribute(&by_attribute, cudaDevAttrClusterLaunch, 0) == cudaSuccess);
    CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
    CHECK(properties.clusterLaunch == by_attribute);
}

TEST_CASE("threads may reach a cluster barrier at different lines and use others in between") {
    const auto order = GENERATE(Order::forward, Order::reversed, Order::shuffled);
    set_order(order, 7);
    CHECK(of_right("syncs_between", 8) == std::vector<int>(8, 1));
    const auto one_then_two = made(64, [](int i) { return 1 + i / 32; });
    CHECK(of_right("two_lines", 64) == one_then_two);
    CHECK(of_right("two_lines_of_a_cluster", 64) == one_then_two);
    set_order(Order::forward);
}

TEST_CASE("what is in flight stays in flight while its block waits for the cluster") {
    const auto order = GENERATE(Order::forward, Order::reversed);
    set_order(order);
    CHECK(of_right("mbarrier_across", 4) == std::vector<int>(4, 5));
    CHECK(of_right("tiles_across", 8) == std::vector<int>(8, 3));
    CHECK(of_right("copy_across", 8) == std::vector<int>(8, -1));
    CHECK(of_right("sums_across", 64) == std::vector<int>(64, 32));
    set_order(Order::forward);
}

TEST_CASE("requests of partial warps are counted in clusters too") {
    start_trace();
    run("histogram", 32);
    std::uint64_t requests = 0, accesses = 0;
    for (const LineTrace& line : stop_trace()) {
        if (line.memory != Memory::global) continue;
        requests += line.requests;
        accesses += line.accesses;
    }
    CHECK(requests == 8);
    CHECK(accesses == 32);
}

TEST_CASE("a cluster barrier orders global memory, also for those who learn of it later") {
    const auto order = GENERATE(Order::forward, Order::reversed, Order::shuffled);
    set_order(order, 7);
    const std::vector<int> got = run("global_memory", 64);
    CHECK(std::vector<int>(got.begin() + 32, got.begin() + 36) == std::vector<int>{1, 0, 3, 2});
    CHECK_FALSE(last_report());
    CHECK(run("told_to_others", 4)[3] == 11);
    INFO((last_report() ? last_report()->text : ""));
    CHECK_FALSE(last_report());
    set_order(Order::forward);
}

TEST_CASE("a block of a cluster knows its rank, index and extents") {
    const std::vector<int> got = run("indices", 32);
    CHECK_FALSE(last_report());
    CHECK(std::vector<int>(got.begin(), got.begin() + 16) == made(16, [](int i) {
              const int x = i % 4, y = i / 4 % 2;
              return x + 4 * y + 80 + 1000 * x + 10000 * y + 400000 + 2000000;
          }));
    CHECK(std::vector<int>(got.begin() + 16, got.end()) ==
          made(16, [](int i) { return 7 + 10 * (i % 8) + 8000; }));
    CHECK(run("columns", 16) ==
          made(16, [](int i) { return i / 4 + 40 + 10000 * (i / 4) + 100000 + 4000000; }));
    for (const Order order : {Order::forward, Order::reversed}) {
        set_order(order);
        CHECK(of_right("boxes", 48) == made(48, [](int i) {
                  const int x = i % 2, y = i / 2 % 4, z = i / 8;
                  const int next = (y % 2 + 2 * (z % 3) + 1) % 6;
                  return x + 2 * (y / 2 * 2 + next % 2 + 4 * (z / 3 * 3 + next / 2));
              }));
    }
    set_order(Order::forward);
    CHECK(run("deep", 16) == made(16, [](int i) {
              const int y = i / 2 % 2, z = i / 4 % 2;
              return y + 2 * z + 10 * z + 100 * y + 2000;
          }));
    CHECK_FALSE(last_report());
}

// findings.txt covers the forward order.
TEST_CASE("a bug with clusters is reported at its line when the order is reversed") {
    struct Case {
        const char *name, *says;
        Kind kind;
    };
    const auto [name, says, kind] = GENERATE(
        Case{"no_first_barrier",
             "may not have started yet: is a cluster.sync() missing before the first access?",
             Kind::barrier},
        Case{"no_last_barrier", "that all blocks reach missing at the end", Kind::barrier},
        Case{"no_last_barrier",
             "thread (1,0,0) of block (0,0,0) accesses the shared memory of block ", Kind::barrier},
        Case{"stored_by_another",
             "in block 1 of the cluster, at element 0 of the shared array `mine`", Kind::race},
        Case{"stored_by_another",
             "Both blocks belong to one cluster, and there is no cluster.sync()", Kind::race},
        Case{"no_barrier_in_global_memory", "which thread (0,0,0) of block (", Kind::race},
        Case{"no_barrier_in_global_memory",
             "and there is no cluster.sync() between the two accesses", Kind::race},
        Case{"narrow_char", "of the shared array `mine`", Kind::race},
        Case{"narrow_half", "of the shared array `mine`", Kind::race},
        Case{"not_told", "which thread (0,0,0) of block (", Kind::race},
        Case{"another_cluster", "is blockIdx part of it", Kind::race},
        Case{"lanes_disagree", "store different values", Kind::race},
        Case{"lanes_disagree_in_grid", "store different values", Kind::race},
        Case{"copy_not_waited_for", "the same thread started it in", Kind::pending_copy},
        Case{"others_copy", "the thread of that block must wait for it", Kind::pending_copy},
        Case{"two_barriers", "others wait at their cluster's", Kind::barrier},
        Case{"waits_elsewhere", "lacks 1 of 1 arrivals", Kind::barrier},
        Case{"ended_after_arrival", "may have exited by then", Kind::barrier},
        Case{"another_cluster", "which thread (0,0,0) of block (", Kind::race},
        Case{"no_such_block", "asks for block 2 of its cluster, which has 2.", Kind::out_of_bounds},
        Case{"past_the_array", "in block 1 of the cluster, at element 4 of the shared array `mine`",
             Kind::out_of_bounds},
        Case{"never_written", "in block 1 of the cluster, at element 0 of the shared array `mine`",
             Kind::uninitialised_read},
        Case{"not_shared", "is not in shared memory", Kind::out_of_bounds},
        Case{"arrives_twice", "without having waited there", Kind::barrier},
        Case{"waits_without_arriving", "without having arrived there", Kind::barrier});
    set_order(Order::reversed);
    run(name, 1);
    cudaGetLastError();
    const auto report = last_report();
    clear_report();
    set_order(Order::forward);
    INFO(name);
    REQUIRE(report);
    INFO(report->text);
    CHECK(report->kind == kind);
    CHECK(report->text.find(says) != std::string::npos);
    CHECK(text_of_line(report->line).find(std::string("MARK ") + name) != std::string::npos);
}

TEST_CASE("an endless loop over a barrier of blocks is reported") {
    const auto name = GENERATE(as<std::string>{}, "endless", "endless_in_grid");
    set_time_limit(1);
    run(name, 1);
    set_time_limit(60);
    cudaGetLastError();
    REQUIRE(last_report());
    CHECK(last_report()->kind == Kind::stuck);
    CHECK(text_of_line(last_report()->line).find("MARK " + name) != std::string::npos);
    clear_report();
}

TEST_CASE("a cluster launch that no GPU accepts is rejected") {
    struct Case {
        const char *name, *says;
    };
    const auto [name, says] = GENERATE(
        Case{"half_a_cluster", "grid (7,1,1) is not a multiple of the cluster size (2,1,1)"},
        Case{"half_along_y", "grid (2,3,1) is not a multiple of the cluster size (1,2,1)"},
        Case{"half_along_z", "grid (2,2,3) is not a multiple of the cluster size (1,1,2)"},
        Case{"too_large", "a cluster of (16,1,1) has 16 blocks. It may have up to 8"},
        Case{"no_longer_allowed", "a cluster of (16,1,1) has 16 blocks. It may have up to 8"},
        Case{"no_blocks", "a cluster of (2,0,0) has no blocks"},
        Case{"cooperative", "does not support launches that are both cooperative and in clusters"},
        Case{
            "two_sizes",
            "the launch asks for clusters of (4,1,1), but the kernel has __cluster_dims__(2,1,1)"});
    const std::vector<int> got = run(name, 64);
    CHECK(cudaGetLastError() == cudaErrorInvalidClusterSize);
    CHECK(got == std::vector<int>(64, -1));
    REQUIRE(last_report());
    INFO(last_report()->text);
    CHECK(last_report()->kind == Kind::invalid_launch);
    CHECK(last_report()->text.find(says) != std::string::npos);
    clear_report();
    CHECK(run("alone", 32) == made(32, next_of(1)));  // the next launch is unaffected
    CHECK_FALSE(last_report());
}
