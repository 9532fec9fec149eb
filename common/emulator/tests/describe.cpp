// How reports describe an address of device memory, and how they name it: from the parameters of
// the kernel and the source.
#include "common/emulator/report/describe.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/report/names.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/testing/catch.hpp"
#include "emulated/launch.h"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

std::uintptr_t address_of(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p);
}

const std::string kAhead =
    ", or does a flipped view start at the wrong end: should its pointer be that of the last "
    "element, or of the last row?";
const std::string kOnePast =
    ": one past its end. Is a guard such as `if (i < n)` missing, or does it use `<=`? If not, are "
    "two extents swapped in the offset?";

std::string past(int bytes) {
    return ": " + std::to_string(bytes) +
           " bytes past its end. Does every index have a guard, and does the offset use the right "
           "extents?";
}

/// Runs `work` as if a kernel declared like this was launched with these arguments.
template <class Work>
void in_launch(const char* declared, const std::vector<std::uintptr_t>& values, const Work& work) {
    std::vector<Argument> arguments;
    for (const std::uintptr_t& value : values) arguments.push_back({&value, sizeof(value)});
    Launch launch{};
    launch.in_order = arguments.data();
    launch.count = arguments.size();
    name_launch(&launch);
    name_parameters(declared);
    work();
    name_launch(nullptr);
}

}  // namespace

TEST_CASE("an address is described in elements of the accessed size where it is a multiple") {
    const Device<char> memory(64);
    const std::uintptr_t begin = address_of(memory.data());
    const std::string in64 = " of an allocation of 64 bytes";
    const auto elements = [](int n) {
        return " of an allocation of " + std::to_string(n) + " elements of that size (64 bytes)";
    };
    const struct {
        int offset;
        std::size_t bytes;
        std::string text;
    } inside[] = {
        {0, 1, "at byte 0" + in64},
        {63, 1, "at byte 63" + in64},
        {2, 2, "at element 1" + elements(32)},
        {3, 2, "at byte 3" + elements(32)},
        {16, 16, "at element 1" + elements(4)},
        {32, 32, "at byte 32" + in64},
        {24, 12, "at element 2" + in64},
    };
    for (const auto& c : inside)
        CHECK(describe_inside(heap, begin + static_cast<std::uintptr_t>(c.offset), c.bytes) ==
              c.text);
    const struct {
        int offset;
        std::size_t bytes;
        std::string text;
    } outside[] = {
        {64, 4, "at element 16" + elements(16) + kOnePast},
        {64, 1, "at byte 64" + in64 + kOnePast},
        {65, 1, "at byte 65" + in64 + past(1)},
        {66, 4, "at byte 66" + elements(16) + past(2)},
        {80, 4, "at element 20" + elements(16) + past(16)},
        {62, 4, "at byte 62" + elements(16) + ", reaching past its end."},
        {-4, 4,
         "at element -1, 4 bytes before the start" + elements(16) +
             ": one before its first element. Is a guard such as `if (i > 0)` missing" + kAhead},
        {-8, 4,
         "at element -2, 8 bytes before the start" + elements(16) + ". Is an index negative" +
             kAhead},
        {-6, 4, "6 bytes before the start" + elements(16) + ". Is an index negative" + kAhead},
        {-1, 1,
         "1 byte before the start" + in64 +
             ": one before its first element. Is a guard "
             "such as `if (i > 0)` missing" +
             kAhead},
        {-32, 32,
         "32 bytes before the start" + in64 +
             ": one before its first element. Is a guard "
             "such as `if (i > 0)` missing" +
             kAhead},
    };
    for (const auto& c : outside) {
        INFO(c.offset << ", " << c.bytes);
        CHECK(describe_outside(heap, begin + static_cast<std::uintptr_t>(c.offset), c.bytes) ==
              c.text);
    }
    CHECK(place_in_heap(begin + 63) == "at byte 63" + in64 + ".");
    CHECK(place_in_heap(begin + 64) == "at byte 64" + in64 + kOnePast);
    CHECK(story(AccessKind::read, 1) == " reads 1 byte ");
    CHECK(story(AccessKind::volatile_read, 4) == " reads 4 bytes ");
    CHECK(story(AccessKind::write, 2) == " writes 2 bytes ");
    CHECK(story(AccessKind::atomic, 8) == " updates 8 bytes ");
    void* gone = nullptr;
    cudaMalloc(&gone, 8);
    cudaFree(gone);
    CHECK(place_in_heap(address_of(gone)).find("which has been freed by cudaFree.") !=
          std::string::npos);
    const Device<char> one(1);
    CHECK(describe_inside(heap, address_of(one.data()), 1) ==
          "at byte 0 of an allocation of 1 byte");
    CHECK(describe_outside(heap, address_of(one.data()) + 1, 1)
              .rfind("at byte 1 of an allocation of 1 byte: one", 0) == 0);
}

TEST_CASE("the size passed to cudaMalloc is quoted unless it looks like one in bytes") {
    const std::size_t n = 16, row_size = 4, allBytes = 8;
    void *plain, *sum, *call, *lines, *long_call, *first, *second, *size, *bytes, *four, *shift;
    // clang-format off
    cudaMalloc(&plain, n); const int line = __LINE__;
    cudaMalloc(&sum, n + 1);
    cudaMalloc(&call, std::max(n, n));
    cudaMalloc(&lines,
               n
               + 2);
    cudaMalloc(
        &long_call
        ,
        n);
    cudaMalloc(&first, n); cudaMalloc(&second, n);
    cudaMalloc(&size, n * row_size);
    cudaMalloc(&bytes, allBytes);
    cudaMalloc(&four, n * 4);
    cudaMalloc(&shift, n << 2);
    // clang-format on
    const std::pair<void*, std::string> cases[] = {{plain, "n"},
                                                   {sum, "n + 1"},
                                                   {call, "std::max(n, n)"},
                                                   {lines, "n                + 2"},
                                                   {long_call, ""},
                                                   {first, ""},
                                                   {second, ""},
                                                   {size, ""},
                                                   {bytes, ""},
                                                   {four, ""},
                                                   {shift, ""}};
    for (const auto& [p, quoted] : cases) {
        INFO(quoted);
        CHECK(elements_for_bytes(nearest_allocation(address_of(p))) == quoted);
    }
    const std::string named = known_as(nearest_allocation(address_of(plain)));
    CHECK(named.rfind(" It is allocated as `plain` in ", 0) == 0);
    CHECK(named.find("tests/describe.cpp:" + std::to_string(line) + ".") != std::string::npos);
    const std::string unnamed = known_as(nearest_allocation(address_of(first)));
    CHECK(unnamed.rfind(" It is allocated in ", 0) == 0);
    for (const auto& [p, quoted] : cases) cudaFree(p);
    CHECK_FALSE(is_pitched(nearest_allocation(address_of(plain))));
}

TEST_CASE("parameters are read from their declaration and from the launch") {
    const Device<float> a(4), b(4);
    const std::uintptr_t x = address_of(a.data()), y = address_of(b.data());
    const Extent of_a = nearest_allocation(x), of_b = nearest_allocation(y);
    CHECK(parameters().empty());
    in_launch("const float * __restrict__ in , Map<int, 2> f , float *out = nullptr , int n",
              {x, 7, y + 4}, [&] {
                  const auto all = parameters();
                  REQUIRE(all.size() == 3);  // the fourth has its default value
                  const char* names[] = {"in", "f", "out"};
                  for (std::size_t i = 0; i < 3; ++i) CHECK(all[i].name == names[i]);
                  CHECK((all[0].restricted && !all[1].restricted && !all[2].restricted));
                  CHECK((all[0].constant && !all[1].constant && !all[2].constant));
                  CHECK((all[0].value == x && all[1].value == 0 && all[2].value == y + 4));
                  CHECK(known_as(of_a) == " It is the kernel's `in`.");
                  CHECK(known_as(of_b) == " It is the kernel's `out`.");
                  CHECK(equal_parameters(of_a).empty());
              });
    in_launch("float *p , View in[2] , float *q", {x, x + 16, x}, [&] {
        CHECK(parameters()[1].name == "in");
        CHECK(known_as(of_a) == " It is the kernel's `p` or `in` or `q`.");
        CHECK(equal_parameters(of_a) ==
              " `p` and `q` are the same array: should the kernel write to another one?");
        CHECK(equal_parameters(of_b).empty());
    });
    in_launch("float *p , float *q", {x + 16, x + 16}, [&] {
        CHECK(known_as(of_a) == " It is the kernel's `p` or `q`.");  // one past the end
        CHECK(equal_parameters(of_a).empty());
    });
    in_launch("float *p , float *q", {x + 17, x - 1}, [&] { CHECK(known_as(of_a).empty()); });
    CHECK(known_as(of_a).empty());
}

TEST_CASE("two equal __restrict__ pointers are found unless both are to const or null") {
    const struct {
        const char* declared;
        std::vector<std::uintptr_t> values;
        std::string found;
    } cases[] = {
        {"float * __restrict__ a , float * __restrict__ b", {8, 8}, "a b"},
        {"const float * __restrict__ a , float * __restrict b", {8, 8}, "a b"},
        {"float * restrict a , const float * restrict b", {8, 8}, "a b"},
        {"const float * __restrict__ a , const float * __restrict__ b", {8, 8}, ""},
        {"float * __restrict__ a , float * b", {8, 8}, ""},
        {"float * a , float * __restrict__ b", {8, 8}, ""},
        {"float * __restrict__ a , float * __restrict__ b", {8, 16}, ""},
        {"float * __restrict__ a , float * __restrict__ b", {0, 0}, ""},
        {"float * __restrict__ a , long n , float * __restrict__ b", {8, 8, 8}, "a b"},
        {"float * a , float * __restrict__ b , float * __restrict__ c", {8, 8, 8}, "b c"},
        {"float * a , float * not__restrict__ , float * c", {8, 8, 8}, ""},
    };
    for (const auto& c : cases) {
        INFO(c.declared);
        in_launch(c.declared, c.values, [&] {
            const auto two = equal_restricted_parameters();
            CHECK((two ? two->first.name + " " + two->second.name : "") == c.found);
        });
    }
}

TEST_CASE("the expression that ends in a column is read back to its beginning") {
    const std::string path = "describe_" + std::to_string(getpid()) + ".cu";
    std::ofstream(path) << "first\n  out[0] = 2 * tile[y + 1][f(x)] + s.rows->at[i];\nint last";
    const std::string line = "  out[0] = 2 * tile[y + 1][f(x)] + s.rows->at[i];";
    const auto at = [&](std::size_t column, unsigned number = 2) {
        return expression_at(path.c_str(), number, static_cast<unsigned>(column));
    };
    CHECK(at(line.find(']') + 1) == "out[0]");
    CHECK(at(line.find("][") + 1) == "tile[y + 1]");
    CHECK(at(line.find(")]") + 2) == "tile[y + 1][f(x)]");
    CHECK(at(line.find("i]") + 2) == "s.rows->at[i]");
    CHECK(at(line.find("i]") + 1).empty());
    CHECK((at(0).empty() && at(1000).empty() && at(8, 1).empty() && at(8, 4).empty()));
    std::remove(path.c_str());
    CHECK(at(8).empty());
}
