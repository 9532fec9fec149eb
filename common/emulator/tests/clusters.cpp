// Clusters: right ones give what CUDA's manual says, in any order of turns, and are not accused; mistakes are told at
// their line.
#include "common/emulator/tests/clusters.hpp"

#include <fstream>
#include <string>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
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

std::string text_of_line(int line) {
    std::string path = __FILE__, text;
    std::ifstream in(path.replace(path.rfind(".cpp"), 4, ".cu"));
    for (int i = 0; i < line; ++i) std::getline(in, text);
    return text;
}

// Ints of this formula.
template <class Formula>
std::vector<int> made(int count, Formula formula) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i) all.push_back(formula(i));
    return all;
}

}  // namespace

TEST_CASE("blocks of a cluster read, write and count in each other's shared memory") {
    const auto order = GENERATE(Order::forward, Order::reversed, Order::shuffled);
    set_order(order, 5);
    const auto next_of = [](int n) {
        return [n](int i) { return 10 * (i / 4 / n * n + (i / 4 % n + 1) % n) + i % 4; };
    };
    CHECK(run("neighbours", 32) == made(32, next_of(2)));
    CHECK_FALSE(last_report());
    CHECK(run("template_neighbours", 32) == made(32, next_of(4)));
    CHECK_FALSE(last_report());
    CHECK(run("neighbours_by_call", 32) == made(32, next_of(8)));
    CHECK_FALSE(last_report());
    CHECK(run("alone", 32) == made(32, next_of(1)));
    CHECK_FALSE(last_report());
    // 32 numbers of each cluster, whose sevenfold falls into 16 bins twice.
    CHECK(run("histogram", 32) == std::vector<int>(32, 2));
    CHECK_FALSE(last_report());
    CHECK(run("arrive_early", 4) == std::vector<int>{2, 1, 4, 3});
    CHECK_FALSE(last_report());
    CHECK(run("mbarrier_across", 4) == std::vector<int>(4, 5));
    CHECK_FALSE(last_report());
    set_order(Order::forward);
}

TEST_CASE("a barrier of a cluster orders global memory, and what it orders can be told to others") {
    const auto order = GENERATE(Order::forward, Order::reversed, Order::shuffled);
    set_order(order, 7);
    const std::vector<int> got = run("global_memory", 64);
    CHECK(std::vector<int>(got.begin() + 32, got.begin() + 36) == std::vector<int>{1, 0, 3, 2});
    CHECK_FALSE(last_report());
    CHECK(run("told_to_others", 3)[1] == 11);
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
}

TEST_CASE("a mistake with clusters is told at its line") {
    struct Case {
        const char *name, *says;
        Kind kind;
    };
    const auto [name, says, kind] = GENERATE(
        Case{"no_first_barrier",
             "may not have begun yet: is a cluster.sync() missing before the first access?",
             Kind::barrier},
        Case{"no_last_barrier", "missing at the end, where all blocks come", Kind::barrier},
        Case{"no_last_barrier",
             "thread (1,0,0) of block (0,0,0) touches the shared memory of block ", Kind::barrier},
        Case{"stored_by_another",
             "in block 1 of the cluster, at element 0 of the shared array `mine`", Kind::race},
        Case{"no_barrier_in_global_memory", "which thread (0,0,0) of block (", Kind::race},
        Case{"another_cluster", "which thread (0,0,0) of block (", Kind::race},
        Case{"no_such_block", "asks for block 2 of its cluster, which has 2.", Kind::out_of_bounds},
        Case{"past_the_array", "in block 1 of the cluster, at element 4 of the shared array `mine`",
             Kind::out_of_bounds},
        Case{"never_written", "in block 1 of the cluster, at element 0 of the shared array `mine`",
             Kind::uninitialised_read},
        Case{"not_shared", "is not in shared memory", Kind::out_of_bounds},
        Case{"arrives_twice", "without having waited there", Kind::barrier},
        Case{"waits_without_arriving", "where it has not arrived", Kind::barrier});
    const auto order = GENERATE(Order::forward, Order::reversed);
    set_order(order);
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

TEST_CASE("a launch in clusters that no GPU takes is refused") {
    struct Case {
        const char *name, *says;
    };
    const auto [name, says] = GENERATE(
        Case{"half_a_cluster", "grid (7,1,1) is not made of whole clusters of (2,1,1) blocks"},
        Case{"too_large", "a cluster of (16,1,1) has 16 blocks. It may have 8"},
        Case{"two_sizes",
             "the launch asks for clusters of (4,1,1), the kernel has __cluster_dims__(2,1,1)"});
    const std::vector<int> got = run(name, 64);
    CHECK(cudaGetLastError() == cudaErrorInvalidClusterSize);
    CHECK(got == std::vector<int>(64, -1));
    REQUIRE(last_report());
    INFO(last_report()->text);
    CHECK(last_report()->kind == Kind::invalid_launch);
    CHECK(last_report()->text.find(says) != std::string::npos);
    clear_report();
}
