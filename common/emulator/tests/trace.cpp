// Requests, sectors and bank conflicts of known kernels, derived by hand.
#include <cuda_runtime_api.h>

#include <fstream>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/trace.hpp"
#include "common/emulator/trace.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

using Lines = std::vector<LineTrace>;
constexpr Memory kGlobal = Memory::global, kShared = Memory::shared;
constexpr Operation kLoad = Operation::load, kStore = Operation::store, kAtomic = Operation::atomic;

Device<float> ones(std::size_t n) {
    return Device<float>(std::vector<float>(n, 1.0f));
}

template <class F>
Lines trace(F launch) {
    cudaGetLastError();
    clear_report();
    start_trace();
    launch();
    Lines lines = stop_trace();
    const auto report = last_report();
    INFO((report ? report->text : ""));
    REQUIRE(cudaGetLastError() == cudaSuccess);
    return lines;
}

// The line of trace.cu with this comment.
int marked(const std::string& mark) {
    std::string path = __FILE__;
    path.replace(path.rfind(".cpp"), 4, ".cu");
    std::ifstream file(path);
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
        if (text.find("// LINE " + mark) != std::string::npos) return line;
    }
    return 0;
}

// The sum over all lines of that kind, or over one line if a mark is given.
LineTrace sum(const Lines& lines, Memory memory, Operation operation, const char* mark = nullptr) {
    LineTrace all;
    for (const LineTrace& line : lines) {
        if (line.memory != memory || line.operation != operation) continue;
        if (mark != nullptr && line.line != marked(mark)) continue;
        CHECK(line.file == "common/emulator/tests/trace.cu");
        all.requests += line.requests;
        all.accesses += line.accesses;
        all.bytes_used += line.bytes_used;
        all.sectors += line.sectors;
        all.fewest_sectors += line.fewest_sectors;
        all.passes += line.passes;
        all.fewest_passes += line.fewest_passes;
    }
    return all;
}

}  // namespace

TEST_CASE("a coalesced copy moves four sectors per request") {
    const auto in = ones(1024), out = ones(1024);
    const Lines lines = trace([&] { trace_copy(in.data(), out.data(), 4, 256, 1, 0); });
    // 1024 elements are 32 warps; 32 lanes of 4 bytes are 128 bytes, 4 sectors.
    for (const Operation operation : {kLoad, kStore}) {
        const LineTrace t = sum(lines, kGlobal, operation);
        CHECK(t.requests == 32);
        CHECK(t.accesses == 1024);
        CHECK(t.sectors == 128);
        CHECK(t.fewest_sectors == 128);
        CHECK(t.bytes_used == 4096);
    }
    CHECK(trace_verdict(lines) ==
          "Every request moves as little as possible: no sector is wasted.");
}

TEST_CASE("a stride of 2 moves twice the sectors, a stride of 32 one per lane") {
    const auto in = ones(32 * 256), out = ones(256);
    // Stride 2: 8 warps, lanes 8 bytes apart, 256 bytes: 8 sectors instead of 4.
    LineTrace t =
        sum(trace([&] { trace_copy(in.data(), out.data(), 1, 256, 2, 0); }), kGlobal, kLoad);
    CHECK(t.requests == 8);
    CHECK(t.sectors == 64);
    CHECK(t.fewest_sectors == 32);
    CHECK(t.bytes_used == 1024);
    CHECK(t.bytes_moved() == 2048);
    // Stride 32: lanes 128 bytes apart, each in its own sector.
    const Lines lines = trace([&] { trace_copy(in.data(), out.data(), 1, 256, 32, 0); });
    t = sum(lines, kGlobal, kLoad);
    CHECK(t.sectors == 256);
    CHECK(t.fewest_sectors == 32);
    CHECK(lines.front().operation == kLoad);  // the worst comes first
    const std::string verdict = trace_verdict(lines);
    CHECK(verdict.find("128 bytes apart") != std::string::npos);
    CHECK(verdict.find("32 sectors where 4 would do") != std::string::npos);
    CHECK(trace_picture(lines.front()).find("[1...1...1...1") != std::string::npos);
    CHECK(trace_picture(lines.front()).find("...1... and 16 more]") != std::string::npos);
}

TEST_CASE("an offset of one element costs a fifth sector") {
    const auto in = ones(257), out = ones(256);
    // Bytes 4 ... 131 of each 128: sectors 0 to 4.
    const Lines lines = trace([&] { trace_copy(in.data(), out.data(), 1, 256, 1, 1); });
    const LineTrace t = sum(lines, kGlobal, kLoad);
    CHECK(t.requests == 8);
    CHECK(t.sectors == 40);
    CHECK(t.fewest_sectors == 32);
    CHECK(trace_verdict(lines).find("does not start at a multiple of 32") != std::string::npos);
}

TEST_CASE("a warp's 16-byte loads are one request of 16 sectors") {
    const auto in = ones(1024), out = ones(1024);
    const Lines lines = trace([&] { trace_copy4(in.data(), out.data(), 1, 256); });
    for (const Operation operation : {kLoad, kStore}) {
        const LineTrace t = sum(lines, kGlobal, operation);
        CHECK(t.requests == 8);   // 8 warps, not 32 requests of 4 bytes
        CHECK(t.sectors == 128);  // 512 bytes each
        CHECK(t.fewest_sectors == 128);
    }
}

TEST_CASE("a tiled matmul reads rows of 16 from memory, and a broadcast and a row from its tiles") {
    const auto a = ones(64 * 64), b = ones(64 * 64), c = ones(64 * 64);
    const Lines lines = trace([&] { trace_matmul(a.data(), b.data(), 64, c.data()); });
    // 4 x 4 blocks of 8 warps, each with 4 tiles along k: 512 warps fill a tile. A warp is two rows
    // of 16: two runs of 64 bytes, 2 sectors each.
    for (const char* mark : {"load a", "load b"}) {
        LineTrace t = sum(lines, kGlobal, kLoad, mark);
        CHECK(t.requests == 512);
        CHECK(t.sectors == 2048);
        CHECK(t.fewest_sectors == 2048);
        t = sum(lines, kShared, kStore, mark);  // 32 neighbouring words
        CHECK(t.requests == 512);
        CHECK(t.passes == 512);
    }
    // 16 steps per tile. tile_a[y][i]: two words, 16 apart, in different banks. tile_b[i][x]: 16
    // words, each for two lanes. One wavefront each.
    for (const char* mark : {"use a", "use b"}) {
        const LineTrace t = sum(lines, kShared, kLoad, mark);
        CHECK(t.requests == 8192);
        CHECK(t.passes == 8192);
        CHECK(t.accesses == 8192 * 32);
    }
    const LineTrace t = sum(lines, kGlobal, kStore, "store c");
    CHECK(t.requests == 128);
    CHECK(t.sectors == 512);
}

TEST_CASE("a transpose takes 32 sectors without a tile, 32 wavefronts with one, 1 if padded") {
    const auto in = ones(1024), out = ones(1024);
    // 32 warps. The stores run along a column: 128 bytes between lanes.
    Lines lines = trace([&] { trace_naive_transpose(in.data(), out.data()); });
    CHECK(sum(lines, kGlobal, kLoad).sectors == 128);
    LineTrace t = sum(lines, kGlobal, kStore);
    CHECK(t.requests == 32);
    CHECK(t.sectors == 1024);
    CHECK(t.fewest_sectors == 128);
    // tile[x][y]: lane x reads word 32 x + y, which is always in bank y.
    lines = trace([&] { trace_transpose(in.data(), out.data(), false); });
    CHECK(sum(lines, kGlobal, kStore).sectors == 128);
    t = sum(lines, kShared, kLoad);
    CHECK(t.requests == 32);
    CHECK(t.passes == 1024);
    CHECK(t.fewest_passes == 32);
    CHECK(trace_verdict(lines).find("32 wavefronts where 1 would do") != std::string::npos);
    CHECK(trace_picture(lines.front()).find('*') != std::string::npos);
    // Rows of 33 words: word 33 x + y is in bank x + y.
    lines = trace([&] { trace_transpose(in.data(), out.data(), true); });
    t = sum(lines, kShared, kLoad);
    CHECK(t.passes == 32);
    CHECK(sum(lines, kShared, kStore).passes == 32);
}

TEST_CASE("a tree reduction halves the warps at each step, then the lanes of the last one") {
    const auto in = ones(512), out = ones(2);
    const Lines lines = trace([&] { trace_reduce(in.data(), out.data(), 2); });
    // Steps of 128, 64, 32 threads are 4, 2, 1 warps; 16, 8, 4, 2, 1 threads are one each: 12. Each
    // loads s[t] and s[t + half] and stores s[t]: in 2 blocks 48 loads and 24 stores.
    LineTrace t = sum(lines, kShared, kLoad, "tree");
    CHECK(t.requests == 48);
    CHECK(t.accesses == 2 * 2 * 255);
    CHECK(t.passes == 48);
    t = sum(lines, kShared, kStore, "tree");
    CHECK(t.requests == 24);
    CHECK(t.passes == 24);
    t = sum(lines, kGlobal, kStore);
    CHECK(t.requests == 2);
    CHECK(t.accesses == 2);
    CHECK(t.sectors == 2);
    CHECK(t.bytes_used == 8);
}

TEST_CASE("atomics on one word are serialized") {
    const Device<int> counts(std::vector<int>(64, 0));
    const Lines lines = trace([&] { trace_atomics(counts.data(), 16); });
    // Two warps on 4 words: 8 lanes per word, serialized.
    LineTrace t = sum(lines, kShared, kAtomic, "shared atomic");
    CHECK(t.requests == 2);
    CHECK(t.passes == 16);
    // 16 counters of 4 bytes: 2 sectors per warp.
    t = sum(lines, kGlobal, kAtomic, "global atomic");
    CHECK(t.requests == 2);
    CHECK(t.sectors == 4);
    CHECK(t.bytes_used == 128);
}

TEST_CASE("a broadcast moves one sector, and a float4 per lane of shared memory four wavefronts") {
    const auto in = ones(1), out = ones(64);
    const Lines lines = trace([&] { trace_broadcast(in.data(), out.data()); });
    LineTrace t = sum(lines, kGlobal, kLoad, "broadcast");
    CHECK(t.requests == 2);
    CHECK(t.sectors == 2);
    CHECK(t.fewest_sectors == 2);
    CHECK(t.bytes_used == 8);
    // 512 bytes per warp, 128 per wavefront.
    t = sum(lines, kShared, kStore, "wide store");
    CHECK(t.requests == 2);
    CHECK(t.passes == 8);
    CHECK(t.fewest_passes == 8);
    // Shifted by one float4, the lanes still cover all banks evenly. Lane 31 of the second warp
    // wraps around to wide[0], so the eight float4s of its quarter are still in eight different
    // groups of banks.
    t = sum(lines, kShared, kLoad, "wide load");
    CHECK(t.passes == 8);
    // 16 lanes of each warp, every second word of 128 bytes: 4 sectors instead of 2.
    t = sum(lines, kGlobal, kStore, "every other");
    CHECK(t.requests == 2);
    CHECK(t.accesses == 32);
    CHECK(t.sectors == 8);
    CHECK(t.fewest_sectors == 4);
}

TEST_CASE("two instructions of a line are summed, and the lanes of the worse one are shown") {
    const auto in = ones(256), out = ones(32);
    const Lines lines = trace([&] { trace_two_of_each(in.data(), out.data()); });
    LineTrace t = sum(lines, kGlobal, kLoad, "two of each");
    CHECK(t.requests == 2);
    CHECK(t.accesses == 64);
    CHECK(t.bytes_used == 256);
    CHECK(t.sectors == 4 + 32);
    CHECK(t.fewest_sectors == 4 + 4);
    t = sum(lines, kShared, kLoad, "two of each");
    CHECK(t.requests == 2);
    CHECK(t.accesses == 64);
    CHECK(t.bytes_used == 256);
    CHECK(t.passes == 1 + 2);
    CHECK(t.fewest_passes == 1 + 1);
    for (const LineTrace& line : lines) {
        if (line.line != marked("two of each") || line.operation != kLoad) continue;
        CHECK(line.addresses[1] - line.addresses[0] == (line.memory == kGlobal ? 32 : 8));
    }
    const Lines alike = trace([&] { trace_two_alike(in.data(), out.data()); });
    for (const LineTrace& line : alike) {  // of two as good as each other, the first
        if (line.operation != kLoad) continue;
        CHECK(line.line == marked("two alike"));
        CHECK(line.requests == 2);
        CHECK(line.addresses[0] == reinterpret_cast<std::uintptr_t>(in.data()));
    }
    // 256 bytes, one half-warp at a time.
    t = sum(lines, kShared, kStore, "pair store");
    CHECK(t.requests == 1);
    CHECK(t.passes == 2);
    CHECK(t.fewest_passes == 2);
    // The most wasteful line first; equal ones in source order.
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const LineTrace &a = lines[i - 1], &b = lines[i];
        CHECK((a.bytes_wasted() > b.bytes_wasted() ||
               (a.bytes_wasted() == b.bytes_wasted() && a.line <= b.line)));
    }
}

TEST_CASE("a picture shows the lanes per sector, and the words per bank") {
    const struct {
        Memory memory;
        std::uint32_t lanes, bytes;
        std::uint64_t (*address)(unsigned lane);
        std::string row;
    } cases[] = {
        {kGlobal, 0xf, 4, [](unsigned lane) -> std::uint64_t { return 64 + 48 * lane; }, "11.11"},
        {kGlobal, 0x5, 16, [](unsigned lane) -> std::uint64_t { return 24 + 16 * lane; }, "121"},
        {kGlobal, 0xffff, 4, [](unsigned lane) -> std::uint64_t { return lane % 2 * 32; }, "88"},
        {kGlobal, ~0u, 4, [](unsigned lane) -> std::uint64_t { return 4 * (lane % 8); }, "*"},
        {kShared, ~0u, 4, [](unsigned lane) -> std::uint64_t { return lane % 2 * 4; },
         "11" + std::string(30, '.')},
        {kShared, 0xf, 4, [](unsigned lane) -> std::uint64_t { return lane % 2 * 128 + lane * 4; },
         "1111" + std::string(28, '.')},
        {kShared, 0x7, 8, [](unsigned lane) -> std::uint64_t { return 128 * lane; },
         "33" + std::string(30, '.')},
        {kShared, ~0u, 4, [](unsigned lane) -> std::uint64_t { return 128 * lane + 124; },
         std::string(31, '.') + "*"},
    };
    for (const auto& c : cases) {
        LineTrace line;
        line.memory = c.memory, line.lanes = c.lanes, line.bytes_per_lane = c.bytes;
        for (unsigned lane = 0; lane < 32; ++lane) line.addresses[lane] = c.address(lane);
        INFO(trace_picture(line));
        CHECK(trace_picture(line).find("[" + c.row + "]") != std::string::npos);
    }
}
