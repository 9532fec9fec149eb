// The texts about a trace, word by word, and the cost of single requests.
#include <string>
#include <vector>

#include "common/emulator/checks/trace.hpp"
#include "common/emulator/trace.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;

namespace {

using Addresses = std::uint64_t (*)(unsigned lane);
constexpr Memory kGlobal = Memory::global, kShared = Memory::shared;
constexpr Operation kLoad = Operation::load, kStore = Operation::store, kAtomic = Operation::atomic;

std::uint64_t apart(unsigned lane) {
    return 128 * std::uint64_t{lane};
}

struct Cost {
    std::uint64_t requests, units, fewest, bytes_used;
};

LineTrace line_of(Memory memory, Operation operation, const Cost& cost, Addresses address = apart,
                  std::uint32_t lanes = ~0u, std::uint32_t bytes = 4) {
    LineTrace line;
    line.kernel = "scale<4>", line.file = "day01/run/scale.cu", line.line = 65;
    line.memory = memory, line.operation = operation;
    line.requests = cost.requests, line.bytes_used = cost.bytes_used;
    (memory == kGlobal ? line.sectors : line.passes) = cost.units;
    (memory == kGlobal ? line.fewest_sectors : line.fewest_passes) = cost.fewest;
    line.lanes = lanes, line.bytes_per_lane = bytes;
    for (unsigned lane = 0; lane < 32; ++lane) line.addresses[lane] = address(lane);
    return line;
}

const Cost kWasteful{32, 1024, 128, 4096};  // 32 units per request instead of 4

}  // namespace

TEST_CASE("a table of a trace has one row per line") {
    LineTrace plain = line_of(kGlobal, kLoad, {3, 4, 4, 100});
    plain.file = "scale.cu";
    CHECK(trace_table({line_of(kGlobal, kStore, kWasteful), plain,
                       line_of(kShared, kAtomic, {2, 16, 2, 64})}) ==
          "  requests   per request       fewest   bytes used\n"
          "                               possible   of moved\n"
          "        32   32.00 sectors       4.00       12.5 %   store, scale.cu:65, scale<4>\n"
          "         3    1.33 sectors       1.33       78.1 %   load, scale.cu:65, scale<4>\n"
          "         2    8.00 wavefronts    1.00                shared atomic, scale.cu:65, "
          "scale<4>\n");
}

TEST_CASE("the verdict says where the most waste is, and how its lanes lie") {
    CHECK(trace_verdict({}) == "No kernel accessed memory.");
    const std::string least = "Every request moves as little as possible: no sector ";
    const LineTrace global = line_of(kGlobal, kLoad, {2, 8, 8, 256});
    CHECK(trace_verdict({global}) == least + "is wasted.");
    CHECK(trace_verdict({global, line_of(kShared, kLoad, {2, 2, 2, 256})}) ==
          least + "and no wavefront is wasted.");
    CHECK(
        trace_verdict({line_of(kShared, kStore, {2, 7, 2, 256}, apart, 0x30), global}) ==
        "The most waste is in day01/run/scale.cu:65, by the shared store: its lanes are 128 bytes "
        "apart, so a request takes 3.5 wavefronts where 1 would do.");
    const struct {
        Memory memory;
        std::uint32_t lanes;
        Addresses address;
        std::string how;
    } cases[] = {
        {kGlobal, 0, apart, "few of its lanes are active"},
        {kGlobal, 0x55555555, apart, "few of its lanes are active"},
        {kGlobal, 0x3, apart, "its lanes are 128 bytes apart"},
        {kGlobal, 0xc0000000, apart, "its lanes are 128 bytes apart"},
        {kGlobal, ~0u, [](unsigned lane) { return 4096 - apart(lane); },
         "its lanes are 128 bytes apart"},
        {kGlobal, ~0u, [](unsigned lane) -> std::uint64_t { return lane * lane; },
         "its lanes are scattered"},
        {kGlobal, ~0u, [](unsigned lane) -> std::uint64_t { return lane == 31 ? 0 : 8 * lane; },
         "its lanes are scattered"},
        {kGlobal, ~0u, [](unsigned) -> std::uint64_t { return 8; },
         "all its lanes use the same address"},
        {kGlobal, ~0u, [](unsigned lane) -> std::uint64_t { return 4 + 4 * lane; },
         "its lanes are contiguous, but the first does not start at a multiple of 32 bytes"},
        {kShared, ~0u, [](unsigned lane) -> std::uint64_t { return 4 + 4 * lane; },
         "its lanes are 4 bytes apart"},
    };
    for (const auto& c : cases) {
        const std::string text =
            trace_verdict({line_of(c.memory, kStore, kWasteful, c.address, c.lanes)});
        INFO(text);
        CHECK(text == std::string("The most waste is in day01/run/scale.cu:65, by the ") +
                          (c.memory == kGlobal ? "" : "shared ") + "store: " + c.how +
                          ", so a request takes 32 " +
                          (c.memory == kGlobal ? "sectors" : "wavefronts") + " where 4 would do.");
    }
}

TEST_CASE("the explanation names the two lines that move the most bytes") {
    CHECK(trace_explanation({}) == "No kernel accessed memory.");
    CHECK(trace_explanation({line_of(kGlobal, kLoad, {1, 4, 4, 128}),
                             line_of(kShared, kLoad, {2, 7, 2, 256}),
                             line_of(kGlobal, kStore, kWasteful)}) ==
          "1. The store in day01/run/scale.cu:65 moves 32768 bytes, 97 % of all bytes that the "
          "kernels move: 32 requests of 32 sectors each. If the same bytes were contiguous, 4 "
          "would do: its lanes are 128 bytes apart. Let threadIdx.x run along the dimension whose "
          "stride is 1, or load the bytes row by row into shared memory.\n"
          "2. The shared load in day01/run/scale.cu:65 moves 896 bytes, 3 % of all bytes that the "
          "kernels move: 2 requests of 3.5 wavefronts each. If the same bytes were contiguous, 1 "
          "would do: its lanes are 128 bytes apart. Lanes that access different words of one bank "
          "are serialized, a bank conflict: pad each row of the array by one column, so that they "
          "access different banks.\n");
    CHECK(trace_explanation({line_of(kShared, kAtomic, {2, 6, 2, 256}),
                             line_of(kGlobal, kLoad, {8, 36, 36, 1024})}) ==
          "1. The load in day01/run/scale.cu:65 moves 1152 bytes, 60 % of all bytes that the "
          "kernels move: 8 requests of 4.5 sectors each. No request can do with fewer: the cost "
          "comes from the number of requests. To go faster, load each byte once and keep it, in a "
          "register or in shared memory, or use a smaller type.\n"
          "2. The shared atomic in day01/run/scale.cu:65 moves 768 bytes, 40 % of all bytes that "
          "the kernels move: 2 requests of 3 wavefronts each. If the same bytes were contiguous, "
          "1 would do: its lanes are 128 bytes apart. Atomics on one word are serialized: "
          "accumulate in registers first, or spread the lanes over several copies of the array.\n");
    CHECK(trace_explanation({line_of(kShared, kStore, {2, 2, 2, 256})}) ==
          "1. The shared store in day01/run/scale.cu:65 moves 256 bytes, 100 % of all bytes that "
          "the kernels move: 2 requests of 1 wavefronts each. No request can do with fewer: the "
          "cost comes from the number of requests. To go faster, keep values that a thread reuses "
          "in registers.\n");
}

TEST_CASE("a picture ends after 64 sectors") {
    const auto row = [](Addresses address) {
        const std::string text = trace_picture(line_of(kGlobal, kLoad, kWasteful, address));
        return text.substr(text.find('['), text.find(']') - text.find('[') + 1);
    };
    const auto dots = [](std::size_t n) { return std::string(n, '.'); };
    CHECK(row([](unsigned lane) -> std::uint64_t { return lane < 31 ? 0 : 63 * 32; }) ==
          "[*" + dots(62) + "1]");
    CHECK(row([](unsigned lane) -> std::uint64_t { return lane < 31 ? 0 : 64 * 32; }) ==
          "[*" + dots(63) + " and 1 more]");
    CHECK(row([](unsigned lane) -> std::uint64_t {
              return lane < 28 ? 0 : (lane / 2 + 66) * 32;
          }) == "[*" + dots(63) + " and 2 more]");
    CHECK(row([](unsigned lane) -> std::uint64_t { return lane < 22 ? 0 : 1000 + lane / 31; }) ==
          "[*" + dots(30) + "*]");
    CHECK(row([](unsigned lane) -> std::uint64_t { return lane < 23 ? 0 : 1000 + lane / 31; }) ==
          "[*" + dots(30) + "9]");
}

TEST_CASE("the cost of a request: distinct bytes, sectors or wavefronts, and the fewest possible") {
    struct Case {
        std::uint32_t lanes, bytes;
        Addresses address;
        Count sectors, passes;
        std::uint64_t atomic;  // wavefronts of an atomic
    };
    const Case cases[] = {
        {~0u, 4, [](unsigned i) -> std::uint64_t { return 4 * i; }, {128, 4, 4}, {128, 1, 1}, 1},
        {~0u,
         4,
         [](unsigned i) -> std::uint64_t { return 4 + 4 * i; },
         {128, 5, 4},
         {128, 1, 1},
         1},
        {~0u, 4, [](unsigned) -> std::uint64_t { return 64; }, {4, 1, 1}, {4, 1, 1}, 32},
        {0xf0, 4, [](unsigned i) -> std::uint64_t { return i / 6 * 4; }, {8, 1, 1}, {8, 1, 1}, 2},
        {1, 1, [](unsigned) -> std::uint64_t { return 31; }, {1, 1, 1}, {1, 1, 1}, 1},
        {1, 2, [](unsigned) -> std::uint64_t { return 31; }, {2, 2, 1}, {2, 1, 1}, 1},
        {0x80000001,
         4,
         [](unsigned i) -> std::uint64_t { return 128 * i; },
         {8, 2, 1},
         {8, 2, 1},
         2},
        {~0u, 1, [](unsigned i) -> std::uint64_t { return i; }, {32, 1, 1}, {32, 1, 1}, 4},
        {~0u, 2, [](unsigned i) -> std::uint64_t { return 2 * i; }, {64, 2, 2}, {64, 1, 1}, 2},
        // 8 and 16 bytes per lane: half a warp, and a quarter, per wavefront.
        {~0u, 8, [](unsigned i) -> std::uint64_t { return 8 * i; }, {256, 8, 8}, {256, 2, 2}, 2},
        {~0u, 8, [](unsigned) -> std::uint64_t { return 0; }, {8, 1, 1}, {8, 1, 1}, 32},
        {~0u,
         8,
         [](unsigned i) -> std::uint64_t { return 8 * (i % 16) + 128 * (i / 16); },
         {256, 8, 8},
         {256, 2, 2},
         2},
        {~0u,
         8,
         [](unsigned i) -> std::uint64_t { return 128 * (i % 16); },
         {128, 16, 4},
         {128, 32, 1},
         32},
        {~0u,
         16,
         [](unsigned i) -> std::uint64_t { return 16 * i; },
         {512, 16, 16},
         {512, 4, 4},
         4},
        {~0u,
         16,
         [](unsigned i) -> std::uint64_t { return 128 * i; },
         {512, 32, 16},
         {512, 32, 4},
         32},
        {0xff, 16, [](unsigned i) -> std::uint64_t { return 16 * i; }, {128, 4, 4}, {128, 1, 1}, 1},
        {0x1ff,
         16,
         [](unsigned i) -> std::uint64_t { return 16 * i; },
         {144, 5, 5},
         {144, 2, 2},
         2},
    };
    int number = 0;
    for (const Case& c : cases) {
        INFO("case " << number++);
        Request request{c.lanes, c.bytes};
        for (unsigned lane = 0; lane < 32; ++lane) request.addresses[lane] = c.address(lane);
        const auto same = [](const Count& got, const Count& wanted) {
            CHECK(got.bytes_used == wanted.bytes_used);
            CHECK(got.units == wanted.units);
            CHECK(got.fewest == wanted.fewest);
        };
        same(count_sectors(request), c.sectors);
        same(count_passes(request, false), c.passes);
        CHECK(count_passes(request, true).units == c.atomic);
    }
}
