// The results of cuda_tile.h, and its reports: each planted bug by kind, line and block.
#include <cuda_runtime_api.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/own_lines.hpp"
#include "common/emulator/tile/tests/kernels.hpp"
#include "common/emulator/trace.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

constexpr const char* kFile = "common/emulator/tile/tests/kernels.cu";

int marked(const std::string& name) {
    std::ifstream file(std::string(SIXDAYS_SOURCE) + "/" + kFile);
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
        if (text.size() > name.size() && text.ends_with("MARK " + name)) return line;
    }
    FAIL("no line is marked " + name);
    return 0;
}

std::vector<float> count_up(int n) {
    std::vector<float> x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 1.0f);
    return x;
}

}  // namespace

TEST_CASE("correct tile kernels compute correct results and are not reported or traced") {
    start_trace();
    for (const int n : {8, 20, 64, 2}) {
        const auto tiles = static_cast<unsigned>(n + 7) / 8;
        const Device<float> in(count_up(n));
        std::vector<float> want = count_up(n);
        for (float& x : want) x *= 2;
        for (const char* name : {"twice", "twice_by_address", "twice_in_a_loop", "kept_promises"}) {
            INFO(name << ", n " << n);
            const Device<float> out(static_cast<std::size_t>(n));
            launch_tile(name, name == std::string("twice_in_a_loop") ? 1 : tiles, in.data(), n,
                        out.data());
            CHECK(cudaGetLastError() == cudaSuccess);
            CHECK(out.host() == want);
        }
    }
    CHECK(remarks().empty());
    CHECK(stop_trace().empty());
}

TEST_CASE("masked-off elements take the value of the padding") {
    std::vector<float> below(20, -3.0f);  // a padding of 0 would be the largest
    below[3] = -1;
    below[19] = -2;
    const Device<float> in(below), out(3);
    launch_tile("largest", 3, in.data(), 20, out.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(out.host() == std::vector<float>{-1, -3, -2});
}

TEST_CASE("promised bounds are inclusive") {
    const std::vector<float> x = count_up(20);
    const Device<float> in(x), out(20);
    launch_tile("exact_bounds", 3, in.data(), 20, out.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(out.host()[19] == 2 * x[19]);
}

TEST_CASE("extents may be given without the static ones") {
    std::vector<float> want = count_up(20);
    const Device<float> in(want), out(20);
    for (float& x : want) x *= 2;
    launch_tile("lengths_given_in_part", 2, in.data(), 20, out.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(out.host() == want);
}

TEST_CASE("two-dimensional tiles can be transposed, multiplied and normalised") {
    const int m = 13, n = 21, k = 10;
    const auto rows = static_cast<std::size_t>(m), columns = static_cast<std::size_t>(n);
    const std::vector<float> x = count_up(m * n);
    const Device<float> in(x), out(rows * columns);
    transpose_tile(in.data(), m, n, out.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    const std::vector<float> turned = out.host();
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            REQUIRE(turned[j * rows + i] == x[i * columns + j]);
        }
    }

    const auto inner = static_cast<std::size_t>(k);
    const Device<float> a(count_up(m * k)), b(count_up(k * n)), c(rows * columns);
    matmul_tile(a.data(), b.data(), m, k, n, c.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    const std::vector<float> left = a.host(), right = b.host(), product = c.host();
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            float sum = 0;  // exact: integers
            for (std::size_t p = 0; p < inner; ++p) {
                sum += left[i * inner + p] * right[p * columns + j];
            }
            REQUIRE(product[i * columns + j] == sum);
        }
    }

    const std::vector<float> two = {std::log(1.0f), std::log(3.0f)};
    const Device<float> logs(two), probabilities(2);
    softmax_tile(logs.data(), 1, 2, probabilities.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(std::fabs(probabilities.host()[0] - 0.25f) < 1e-6f);
    CHECK(std::fabs(probabilities.host()[1] - 0.75f) < 1e-6f);
}

namespace {

struct Mistake {
    const char* name;
    unsigned blocks;
    Kind kind;
    unsigned at_block;
    const char* words;
};
// On 20 elements: two full tiles of 8, and 4 elements of a third.
const Mistake kMistakes[] = {
    {"load_without_mask", 3, Kind::out_of_bounds, 2,
     "load of tile (2), of lengths (8), in a span of extents (20): along dimension 0 it covers "
     "elements 16 to 23, but the last one is 19. The last tile needs a mask: load_masked."},
    {"store_without_mask", 3, Kind::out_of_bounds, 2, "The last tile needs a mask: store_masked."},
    {"one_tile_too_many", 4, Kind::out_of_bounds, 3,
     "it covers elements 24 to 31, all of them outside. Even with a mask, at least one element "
     "must be inside. The span has only 3 tiles along this dimension."},
    {"addresses_without_mask", 3, Kind::out_of_bounds, 2, "reads 4 bytes"},
    {"not_aligned", 3, Kind::undefined_behaviour, 0,
     "is assumed to be divisible by 16, but it is 0x"},
    {"not_divisible", 3, Kind::undefined_behaviour, 0,
     "the number is assumed to be divisible by 8, but it is 20, which leaves 4."},
    {"not_bounded", 3, Kind::undefined_behaviour, 0,
     "the number is assumed to be at most 16, but it is 20."},
    {"not_bounded_from_below", 3, Kind::undefined_behaviour, 0,
     "the number is assumed to be at least 24, but it is 20."},
    {"less_than_said", 3, Kind::undefined_behaviour, 0,
     "the number is assumed to be at least 21, but it is 20."},
    {"more_than_said", 3, Kind::undefined_behaviour, 0,
     "the number is assumed to be at most 19, but it is 20."},
    {"one_tile_for_all", 3, Kind::race, 1,
     "which block (0,0,0) writes in common/emulator/tile/tests/kernels.cu:"},
    {"one_tile_for_all", 3, Kind::race, 1, ": is bid() missing from the index?"},
    {"one_element_twice", 1, Kind::race, 0, "this store writes one element 2 times"},
    {"stride_0", 1, Kind::race, 0, "this store writes one element 8 times"},
    {"never_written", 3, Kind::uninitialised_read, 0, "was never written"},
    {"too_far_for_int", 3, Kind::undefined_behaviour, 0,
     "load_masked of tile (2, 0): its last element is 2147483655 elements after the span's first, "
     "but the span's index type ends at 2147483647."},
    {"only_declared", 3, Kind::uninitialised_read, 0, "it was only declared"},
    {"one_word_for_all", 2, Kind::race, 1, "which thread (0,0,0) of block (0,0,0) writes"},
    {"one_word_for_all", 2, Kind::race, 1, ": is blockIdx missing from the index?"},
};

}  // namespace

TEST_CASE("bugs in tile kernels are reported by kind, line and block") {
    const int n = 20;
    const Device<float> in(count_up(n));
    for (const Mistake& m : kMistakes) {
        INFO(m.name);
        clear_report();
        const Device<float> out(static_cast<std::size_t>(n));
        launch_tile(m.name, m.blocks, in.data(), n, out.data());
        CHECK(cudaGetLastError() != cudaSuccess);
        const auto report = last_report();
        REQUIRE(report);
        INFO(report->text);
        CHECK(std::string(name(report->kind)) == name(m.kind));
        CHECK(report->file == kFile);
        CHECK(report->line == marked(m.name));
        CHECK(report->block[0] == m.at_block);
        CHECK(report->text.find(m.words) != std::string::npos);
    }
    // The next correct kernel is unaffected.
    const Device<float> out(static_cast<std::size_t>(n));
    launch_tile("twice", 3, in.data(), n, out.data());
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(out.host()[19] == 40.0f);
    clear_report();
}

namespace {

/// The kernel's output; empty if it failed.
std::vector<float> run_atomics(const char* name, unsigned blocks) {
    Device<float> data(8), result(std::vector<float>(8, -1.0f));
    Device<int> flags(std::vector<int>(8, 0));
    launch_atomic_tile(name, blocks, data.data(), flags.data(), result.data());
    return cudaGetLastError() == cudaSuccess ? result.host() : std::vector<float>();
}

}  // namespace

TEST_CASE("an atomic release and an acquire publish earlier writes") {
    clear_report();
    CHECK(run_atomics("released_and_acquired", 2) == std::vector<float>(8, 3.0f));
    CHECK(run_atomics("last_of_three", 3) == std::vector<float>(8, 3.0f));
    CHECK(run_atomics("reads_again", 2) == std::vector<float>(8, 3.0f));
    CHECK(run_atomics("scopes_of_own_words", 4) == std::vector<float>{3, 3, 3, 3, -1, -1, -1, -1});
    CHECK(!last_report());
}

TEST_CASE("a tile block that waits for a later one is stuck, and that is not modelled") {
    clear_report();
    CHECK(run_atomics("waits_for_a_later_block", 2).empty());
    REQUIRE(last_report());
    CHECK(last_report()->kind == Kind::stuck);
    CHECK(last_report()->text.find("1 has not started. Waiting for those is not modelled: the "
                                   "blocks of a tile kernel run one after another.") !=
          std::string::npos);
    clear_report();
}

TEST_CASE("a conversion rounds only once") {
    CHECK(run_atomics("rounded_once", 1) ==
          std::vector<float>{0x1p62f, 0x1.02p62f, -0x1.02p62f, 65504,
                             std::numeric_limits<float>::infinity(), 1, 1 + 0x1p-10f, 1});
}

TEST_CASE("atomics with too weak an order or too narrow a scope are reported as races") {
    struct Atomic {
        const char* name;
        const char* mark;
        const char* words;
    };
    const char* const kOrders =
        "must use memory_order_release there, and this block memory_order_acquire";
    const char* const kScope = "thread_scope_block covers the elements of one call";
    const Atomic wrong[] = {{"not_released", "told_too_little", "which block (0,0,0) writes"},
                            {"not_released", "told_too_little", kOrders},
                            {"not_acquired", "told_too_little", kOrders},
                            {"released_elsewhere", "told_elsewhere", kOrders},
                            {"acquired_elsewhere", "told_elsewhere", kOrders},
                            {"scope_of_a_block", "scope", kScope},
                            {"scope_of_a_block", "scope",
                             "block (1,0,0) uses this element atomically, in thread_scope_block, "
                             "and block (0,0,0) did so "
                             "in common/emulator/tile/tests/kernels.cu:"},
                            {"scope_of_one_block", "one_scope", kScope},
                            {"beside_a_plain_store", "plain", "which block (0,0,0) writes"}};
    for (const Atomic& w : wrong) {
        INFO(w.name);
        clear_report();
        CHECK(run_atomics(w.name, 2).empty());
        const auto report = last_report();
        REQUIRE(report);
        INFO(report->text);
        CHECK(report->kind == Kind::race);
        CHECK(report->file == kFile);
        CHECK(report->line == marked(w.mark));
        CHECK(report->block[0] == 1);
        CHECK(report->text.find(w.words) != std::string::npos);
    }
    clear_report();
}

TEST_CASE("a block of a tile kernel is one thread") {
    const Device<float> in(count_up(20)), out(20);
    clear_report();
    launch_tile("blocks_of_threads", 3, in.data(), 20, out.data());
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    const auto report = last_report();
    REQUIRE(report);
    INFO(report->text);
    CHECK(report->kind == Kind::invalid_launch);
    CHECK(report->text.find("twice is a tile kernel, launched with blocks of 128 threads") !=
          std::string::npos);
    clear_report();
}

TEST_CASE("a grid that leaves tiles out causes a note") {
    for (const auto& [n, tiles] : {std::pair{16, 2}, {17, 3}, {20, 3}, {24, 3}, {25, 4}}) {
        INFO(n);
        const Device<float> in(count_up(n)), out(static_cast<std::size_t>(n));
        remarks();
        launch_tile("grid_of_half_the_tiles", 2, in.data(), n, out.data());
        CHECK(cudaGetLastError() == cudaSuccess);
        const auto notes = remarks();
        REQUIRE(notes.size() == (tiles == 2 ? 0 : 1));
        if (tiles == 2) continue;
        INFO(notes[0]);
        CHECK(notes[0].find("has stored 2 of the " + std::to_string(tiles) +
                            " tiles of a span of extents (" + std::to_string(n) +
                            "), divided into tiles of lengths (8); the first that no block stored "
                            "is number 2.") != std::string::npos);
    }
}

TEST_CASE("every check of tile kernels is covered by a report above") {
    const Device<float> in(count_up(20)), out(20);
    own_lines_that_reported();
    std::vector<std::string> names = {"blocks_of_threads", "grid_of_half_the_tiles"};
    for (const Mistake& m : kMistakes) names.push_back(m.name);
    for (const std::string& name : names) {
        cudaGetLastError();
        clear_report();
        launch_tile(name.c_str(), name == "grid_of_half_the_tiles" ? 2 : 3, in.data(), 20,
                    out.data());
    }
    cudaGetLastError();
    clear_report();
    CHECK(run_atomics("scope_of_a_block", 2).empty());
    clear_report();
    remarks();
    const std::string folder = std::string(SIXDAYS_SOURCE) + "/common/emulator/";
    for (const std::string& line :
         lines_without_report(folder, {"tile/tile.cpp"}, own_lines_that_reported())) {
        INFO("no report was made by " << line);
        CHECK(line.empty());
    }
}
