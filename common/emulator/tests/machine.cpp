// The order of turns, which is the same on every machine; the names of files in reports; time
// limits; the calls that stand for accesses; and atomic functions.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/order.hpp"
#include "common/emulator/machine/place.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/facts.hpp"
#include "common/emulator/tests/findings.hpp"
#include "common/emulator/tests/hooks.hpp"
#include "common/testing/catch.hpp"
#include "emulated/atomics.h"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

std::vector<std::uint64_t> blocks(std::uint64_t count) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t turn = 0; turn < count; ++turn) all.push_back(block_of_turn(turn, count));
    return all;
}

[[gnu::noinline]] const void* code_of_caller() {
    return __builtin_return_address(0);
}

std::vector<unsigned> threads(unsigned size) {
    order_threads(size);
    return {block.order.begin(), block.order.end()};
}

}  // namespace

TEST_CASE("the order of blocks and threads follows from the seed alone") {
    set_order(Order::forward);
    CHECK(blocks(4) == std::vector<std::uint64_t>{0, 1, 2, 3});
    CHECK(threads(3) == std::vector<unsigned>{0, 1, 2});
    set_order(Order::reversed);
    CHECK(blocks(4) == std::vector<std::uint64_t>{3, 2, 1, 0});
    CHECK(threads(3) == std::vector<unsigned>{2, 1, 0});
    // Computed in Python from splitmix64: Steele, Lea, Flood 2014.
    set_order(Order::shuffled, 5);
    CHECK(blocks(7) == std::vector<std::uint64_t>{3, 6, 2, 5, 1, 4, 0});
    CHECK(threads(8) == std::vector<unsigned>{5, 2, 4, 0, 6, 3, 1, 7});
    CHECK(block.lane_order[0] == std::vector<unsigned>{5, 2, 4, 0, 6, 3, 1, 7});
    set_order(Order::shuffled, 6);
    CHECK(blocks(12) == std::vector<std::uint64_t>{3, 2, 1, 0, 11, 10, 9, 8, 7, 6, 5, 4});
    CHECK(threads(40) == std::vector<unsigned>{4,  36, 27, 29, 38, 3,  8,  25, 18, 22,
                                               7,  37, 26, 12, 24, 30, 31, 21, 33, 39,
                                               34, 6,  5,  14, 32, 28, 9,  35, 17, 11,
                                               10, 16, 20, 2,  13, 1,  0,  15, 19, 23});
    CHECK(block.lane_order[1] == std::vector<unsigned>{4, 6, 5, 1, 7, 2, 0, 3});
    set_order(Order::shuffled, 8);
    CHECK(blocks(30) == std::vector<std::uint64_t>{28, 21, 14, 7,  0,  23, 16, 9,  2,  25,
                                                   18, 11, 4,  27, 20, 13, 6,  29, 22, 15,
                                                   8,  1,  24, 17, 10, 3,  26, 19, 12, 5});
    set_order(Order::shuffled, 7);
    CHECK(blocks(1) == std::vector<std::uint64_t>{0});
    set_order(Order::forward);
}

TEST_CASE("only the chosen blocks of a launch run, as far as it has them") {
    block.grid = dim3(2, 3, 2);
    const auto first = [] {
        const uint3 index = index_of_block(0);
        return std::vector<unsigned>{index.x, index.y, index.z};
    };
    CHECK(choose_blocks(12) == 12);
    only_blocks(9, 2);
    CHECK(choose_blocks(12) == 2);
    CHECK(first() == std::vector<unsigned>{1, 1, 1});
    only_blocks(10, 5);
    CHECK(choose_blocks(12) == 2);
    only_blocks(12, 1);
    CHECK(choose_blocks(12) == 0);
    only_blocks(20, 1);
    CHECK(choose_blocks(12) == 0);
    only_blocks();
    CHECK(choose_blocks(12) == 12);
    CHECK(first() == std::vector<unsigned>{0, 0, 0});
}

TEST_CASE("a file is named relative to the working directory if it is inside") {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(std::filesystem::temp_directory_path());  // outside the project
    const std::string here = std::filesystem::current_path().string();
    for (const auto& [file, named] : std::vector<std::pair<std::string, std::string>>{
             {here + "/kernel.cu", "kernel.cu"},
             {here + "/sub/../kernel.cu", "kernel.cu"},
             {here + "kernel.cu", here + "kernel.cu"},
             {"/elsewhere/kernel.cu", "/elsewhere/kernel.cu"},
             {"sub/kernel.cu", "sub/kernel.cu"}}) {
        const Line line = find_line(Place(file.c_str(), 12));
        CHECK(line.file == named);
        CHECK(line.line == 12);
    }
    std::filesystem::current_path(before);
    CHECK(find_line(Place()).line == 0);
    // A header's line is kept if the caller is not in a .cu file, or unknown.
    for (const void* caller : {code_of_caller(), reinterpret_cast<const void*>(16)}) {
        const Line line = find_line(Place("a.hpp", 12, caller));
        CHECK((line.file == "a.hpp" && line.line == 12));
    }
}

TEST_CASE("every block has the whole time limit, and the last launch is known with its extents") {
    const Device<float> x(std::vector<float>(64, 0.0f));
    set_time_limit(7);
    for (const Together how : {Together::no, Together::in_grid, Together::in_clusters}) {
        INFO(static_cast<int>(how));
        time_of_blocks(how, x.data());
        const std::vector<float> all = x.host();
        CHECK(std::vector<float>(all.begin(), all.begin() + 4) == std::vector<float>(4, 7.0f));
        CHECK_FALSE(last_report());
    }
    set_time_limit(60);
    for (const Provoked& one : right_kernels()) {
        if (std::string(one.name) == "copy_of_8_bytes") one.work(x.data());
    }
    const LastLaunch& last = last_launch();
    CHECK(last.blocks == 2 * 3 * 2);
    CHECK(last.threads == 12 * 4 * 3 * 2);
    CHECK(last.grid == std::array<std::uint32_t, 3>{2, 3, 2});
    CHECK(last.block == std::array<std::uint32_t, 3>{4, 3, 2});
    CHECK(last.shared_bytes == 64);
    const float* const argument = x.data();
    const auto* const bytes = reinterpret_cast<const std::byte*>(&argument);
    CHECK(std::search(last.arguments.begin(), last.arguments.end(), bytes,
                      bytes + sizeof(argument)) != last.arguments.end());
}

TEST_CASE("each call that stands for an access is checked, with its kind and its size") {
    const Device<float> x(std::vector<float>(64, 0.0f));
    CHECK(hooks().size() == 4 + 20 + 36 + 7);
    for (const Hook& hook : hooks()) {
        INFO(hook.name);
        clear_report();
        call_hook(hook, x.data() + 32);
        CHECK_FALSE(last_report());
        call_hook(hook, x.data() + 96);
        const auto fact = fact_of<OutOfBounds>(last_report());
        CHECK(fact.kind == hook.kind);
        CHECK(fact.bytes == hook.bytes);
        CHECK(fact.address == reinterpret_cast<std::uintptr_t>(x.data() + 96));
        cudaGetLastError();
    }
    clear_report();
}

namespace {

/// What the operation leaves of `old`; it must return `old`.
template <class T, class Operation>
T after(T old, Operation operation) {
    T word = old;
    CHECK(operation(&word) == old);
    return word;
}

template <class T>
void check_atomics_of() {
    const T a = 12, b = 10, last = std::numeric_limits<T>::max();
    CHECK(after(a, [&](T* p) { return atomicAdd(p, b); }) == 22);
    CHECK(after(last, [](T* p) { return atomicAdd(p, T{1}); }) == std::numeric_limits<T>::min());
    CHECK(after(a, [&](T* p) { return atomicExch(p, b); }) == 10);
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
        const T value = other;
        CHECK(after(one, [&](T* p) { return atomicMin(p, value); }) == 10);
        CHECK(after(one, [&](T* p) { return atomicMax(p, value); }) == 12);
    }
    CHECK(after(a, [&](T* p) { return atomicAnd(p, b); }) == 8);
    CHECK(after(a, [&](T* p) { return atomicOr(p, b); }) == 14);
    CHECK(after(a, [&](T* p) { return atomicXor(p, b); }) == 6);
    CHECK(after(a, [&](T* p) { return atomicCAS(p, a, b); }) == 10);
    CHECK(after(a, [&](T* p) { return atomicCAS(p, b, b); }) == 12);
}

}  // namespace

TEST_CASE("every atomic function of every type returns the old value and stores the new one") {
    check_atomics_of<int>();
    check_atomics_of<unsigned>();
    check_atomics_of<unsigned long long>();
    using Long = long long;
    using Short = unsigned short;
    CHECK(after(-3, [](int* p) { return atomicMin(p, 2); }) == -3);
    CHECK(after(-3, [](int* p) { return atomicMax(p, 2); }) == 2);
    CHECK(after(Long{-3}, [](Long* p) { return atomicMin(p, Long{2}); }) == -3);
    CHECK(after(Long{-3}, [](Long* p) { return atomicMax(p, Long{2}); }) == 2);
    CHECK(after(5, [](int* p) { return atomicSub(p, 7); }) == -2);
    CHECK(after(std::numeric_limits<int>::min(), [](int* p) { return atomicSub(p, 1); }) ==
          std::numeric_limits<int>::max());
    CHECK(after(5u, [](unsigned* p) { return atomicSub(p, 7u); }) == 0xfffffffeu);
    CHECK(after(0.5f, [](float* p) { return atomicAdd(p, 0.25f); }) == 0.75f);
    CHECK(after(0.5, [](double* p) { return atomicAdd(p, 0.25); }) == 0.75);
    CHECK(after(0.5f, [](float* p) { return atomicExch(p, 2.0f); }) == 2.0f);
    CHECK(after(Short{3}, [](Short* p) { return atomicCAS(p, Short{3}, Short{9}); }) == 9);
    CHECK(after(Short{3}, [](Short* p) { return atomicCAS(p, Short{4}, Short{9}); }) == 3);
    for (const auto& [old, next] : {std::pair(0u, 1u), {2u, 3u}, {3u, 0u}, {7u, 0u}}) {
        CHECK(after(old, [](unsigned* p) { return atomicInc(p, 3u); }) == next);
    }
    for (const auto& [old, next] : {std::pair(3u, 2u), {1u, 0u}, {0u, 3u}, {4u, 3u}, {7u, 3u}}) {
        CHECK(after(old, [](unsigned* p) { return atomicDec(p, 3u); }) == next);
    }
    CHECK(after(5u, [](unsigned* p) {
              return atomic_change(p, 7, [](unsigned a, unsigned b) { return a * b; });
          }) == 35);
    CHECK(after(Short{5}, [](Short* p) {
              return atomic_change(p, 7, [](Short a, Short b) { return Short(a * b); });
          }) == 35);
}
