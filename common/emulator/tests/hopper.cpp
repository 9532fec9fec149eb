// Tile copies, mbarriers, wgmma: correct uses are not reported in any execution order, and each bug
// is reported for what it is.
#include "common/emulator/tests/hopper.hpp"

#include <fstream>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays;
using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

struct Numbers {
    std::vector<bf16> a, b;

    // Small integers: sums are exact.
    Numbers() {
        for (int i = 0; i < 64 * 64; ++i) a.push_back(bf16(static_cast<float>(i * 7 % 17 - 8)));
        for (int i = 0; i < 128 * 64; ++i) b.push_back(bf16(static_cast<float>(i * 5 % 13 - 6)));
    }
    float sum(int m, int n) const {
        float s = 0;
        for (int k = 0; k < 64; ++k) {
            s += static_cast<float>(a[static_cast<std::size_t>(m * 64 + k)]) *
                 static_cast<float>(b[static_cast<std::size_t>(n * 64 + k)]);
        }
        return s;
    }
};

// The report of the product that `run` computes; "" if there is none.
template <class Run>
std::string told_of(const Run& run) {
    const Numbers x;
    const Device<bf16> a(x.a), b(x.b);
    const Device<float> out(64 * 128);
    clear_report();
    run(a.data(), b.data(), out.data());
    cudaDeviceSynchronize();
    cudaGetLastError();
    const auto report = last_report();
    const std::string text = report ? std::string(name(report->kind)) + ": " + report->text : "";
    clear_report();
    if (!text.empty()) return text;
    const std::vector<float> got = out.host();
    for (int i = 0; i < 64 * 128; ++i) {
        if (got[static_cast<std::size_t>(i)] != x.sum(i / 128, i % 128)) return "wrong values";
    }
    return "";
}

std::string told(Wrong wrong) {
    return told_of(
        [wrong](const bf16* a, const bf16* b, float* out) { warpgroup_product(wrong, a, b, out); });
}

}  // namespace

TEST_CASE("a warpgroup's product can take a from registers and can overwrite the accumulators") {
    CHECK(told_of([](auto... x) { product_from_registers(0, x...); }).empty());
}

TEST_CASE("a warpgroup's product can take operands whose rows are along m and n") {
    const Numbers x;
    const auto transposed = [](const std::vector<bf16>& rows) {
        std::vector<bf16> all;
        for (std::size_t k = 0; k < 64; ++k) {
            for (std::size_t i = k; i < rows.size(); i += 64) all.push_back(rows[i]);
        }
        return all;
    };
    const Device<bf16> a(transposed(x.a)), b(transposed(x.b));
    CHECK(told_of([&](auto, auto, float* out) {
              warpgroup_product(Wrong::columns, a.data(), b.data(), out);
          }) == "");
}

// A thread yields after 20,000 accesses, but never during a product.
TEST_CASE("a warpgroup's product is computed once, wherever a thread's turn ends") {
    for (int reads = 18500; reads < 20500; reads += 200) {
        CAPTURE(reads);
        CHECK(told_of([reads](auto... x) { product_from_registers(reads, x...); }) == "");
    }
}

TEST_CASE("a warpgroup's product is correct, and its bugs are reported in any execution order") {
    struct Case {
        Wrong wrong;
        const char* words;
    };
    const Case cases[] = {
        {Wrong::nothing, ""},
        {Wrong::operand_reused, ""},
        {Wrong::barrier_not_set_up, "barrier: "},
        {Wrong::barrier_not_set_up, "uses an mbarrier that was never initialized"},
        {Wrong::fewer_bytes_told, "copies a tile of 16384 bytes, but in this phase its mbarrier"},
        {Wrong::more_bytes_told, "24576 bytes of 24592 are in flight. No thread is left"},
        {Wrong::told_twice, "whose phase 0 has had all its arrivals (1)"},
        {Wrong::not_waited_for, "pending_copy: "},
        {Wrong::not_waited_for, "is the wait for that missing?"},
        {Wrong::other_parity, "is the wait for that missing?"},
        {Wrong::waited_for_twice, "waits again for phase 0 of an mbarrier"},
        {Wrong::parity_counted, "phase of parity 2; the parity must be 0 or 1. Is it incremented"},
        {Wrong::tile_off_its_place, "at a multiple of 1024 bytes"},
        {Wrong::operand_leaves, "out_of_bounds: "},
        {Wrong::half_a_group, "only 64 threads of its warpgroup have started"},
        {Wrong::other_operands, "different operands than another thread"},
        {Wrong::some_replace, "different operands than another thread"},
        {Wrong::sums_read_early,
         "reads an accumulator of the wgmma in common/emulator/tests/hopper.cu"},
        {Wrong::first_sums_read_early, "reads an accumulator of the wgmma in "},
        {Wrong::other_sums_named, "reads an accumulator of the wgmma in "},
        {Wrong::no_fence, "starts a group of wgmma without wgmma_fence()"},
        {Wrong::fence_of_another_group, "starts a group of wgmma without wgmma_fence()"},
        {Wrong::set_up_unseen, "which the copy engine may not see yet"},
        {Wrong::two_blocks_one_output, "is blockIdx part of it?"},
    };
    const auto check = [&] {
        for (const Case& c : cases) {
            CAPTURE(static_cast<int>(c.wrong), c.words);
            const std::string text = told(c.wrong);
            CAPTURE(text);
            const std::string words = c.words;
            if (words.empty()) CHECK(text.empty());
            CHECK(text.find(words) != std::string::npos);
        }
    };
    check();
    set_order(Order::reversed);
    check();
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        set_order(Order::shuffled, seed);
        check();
    }
    set_order(Order::forward);
}

TEST_CASE("an accumulator that is read too early belongs to the last product into it") {
    std::string path = __FILE__, text;
    std::ifstream file(path.replace(path.rfind(".cpp"), 4, ".cu"));
    int line = 1;
    while (std::getline(file, text) && text.find("// MARK continued") == std::string::npos) ++line;
    const std::string said = told(Wrong::continued_and_read_early);
    INFO(said);
    CHECK(said.find("an accumulator of the wgmma in common/emulator/tests/hopper.cu:" +
                    std::to_string(line)) != std::string::npos);
}

// Regression: state of threads beyond a small block survived with dangling pointers.
TEST_CASE("blocks of many, few and many threads may follow each other") {
    const Device<unsigned> word(std::vector<unsigned>{0});
    for (const int threads : {384, 32, 384, 32, 1024}) fence_in_a_block(threads, word.data());
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(word.host()[0] == 384 + 32 + 384 + 32 + 1024);
}
