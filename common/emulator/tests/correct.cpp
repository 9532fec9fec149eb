// Correct kernels are not reported, in any execution order.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <ctime>
#include <iterator>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/correct.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

struct Case {
    const char* name;
    int grid, block, shared_bytes;
};

const Case kCases[] = {
    {"last_block_sums", 5, 32, 0},
    {"last_block_of_many", 3, 40, 0},
    {"last_block_resets", 5, 32, 0},
    {"last_block_all_fence", 3, 40, 0},
    {"semaphore_chain", 5, 64, 0},
    {"flags_in_a_row", 6, 32, 0},
    {"flags_in_a_row_all_fence", 6, 32, 0},
    {"warps_in_a_row", 5, 32, 0},
    {"atomics_by_cas", 3, 64, 0},
    {"cas_after_a_turn", 2, 64, 0},
    {"cas_after_a_fence", 2, 64, 0},
    {"lanes_agree", 1, 32, 0},
    {"warp_tail", 1, 64, 0},
    {"tail_of_second_warp", 1, 64, 0},
    {"half_warps", 1, 32, 0},
    {"shuffle_orders", 1, 32, 0},
    {"grid_stride", 3, 50, 0},
    {"early_return_before_barrier", 1, 64, 0},
    {"in_place", 2, 64, 0},
    {"bytes_of_one_word", 1, 64, 0},
    {"halves_of_one_word", 1, 64, 0},
    {"padded_structs", 1, 64, 0},
    {"same_word_read_by_all", 4, 64, 0},
    {"two_barriers_reuse", 1, 128, 0},
    {"double_buffer", 1, 128, 0},
    {"pipeline", 1, 32, 0},
    {"zero_filled_copy", 1, 64, 0},
    {"maximum_by_cas", 3, 64, 0},
    {"shift_by_all_bits", 1, 32, 0},
    {"copy_left_behind", 1, 256, 0},
    {"spin_lock", 6, 32, 0},
    {"threads_wait_for_each_other", 1, 64, 0},
    {"waits_with_own_array", 1, 64, 0},
    {"warp_aggregated", 1, 128, 0},
    {"uniform_condition", 2, 64, 0},
    {"two_arrays_in_dynamic", 1, 64, 512},
    {"local_arrays", 1, 64, 0},
    {"partial_vector", 1, 64, 0},
    {"hashes", 1, 64, 0},
    {"adds_for_long", 1, 64, 0},
    {"fences_for_long", 2, 32, 0},
};

constexpr int kLength = 256;

// Input 1, 2, 3, ...; output initially zeros.
std::vector<float> run(const Case& c) {
    std::vector<float> numbers(kLength);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i + 1);
    const int n = std::string(c.name) == "early_return_before_barrier" ? 64 : kLength;
    const Device<float> in(numbers), out(std::vector<float>(kLength, 0.0f));
    REQUIRE(run_right(c.name, c.grid, c.block, c.shared_bytes, in.data(), n, out.data()));
    const cudaError_t error = cudaGetLastError();
    const auto report = last_report();
    INFO((report ? report->text : "no report"));
    CHECK(error == cudaSuccess);
    return out.host();
}

}  // namespace

TEST_CASE("correct kernels are not reported, and compute the same results in every order") {
    clear_report();
    cudaGetLastError();
    for (const Case& c : kCases) {
        INFO(c.name);
        const auto expected = run(c);
        for (const std::uint64_t seed : {0u, 1u, 2u, 3u}) {
            INFO("seed " << seed << " (0: reversed)");
            set_order(seed == 0 ? Order::reversed : Order::shuffled, seed);
            const auto got = run(c);
            // Positions assigned by an atomic depend on the order.
            const bool places_vary = std::string(c.name) == "warp_aggregated" ||
                                     std::string(c.name) == "fences_for_long";
            if (!places_vary) CHECK(std::memcmp(got.data(), expected.data(), kLength * 4) == 0);
            set_order(Order::forward);
        }
    }
    CHECK(static_cast<int>(std::size(kCases)) == count_of_right());
}

TEST_CASE("tracking a chain of semaphores over 2,000 blocks is fast") {
    const Device<float> in(std::vector<float>(64, 1.0f)), out(std::vector<float>(66, 0.0f));
    const std::clock_t start = std::clock();
    REQUIRE(run_right("semaphore_chain", 2000, 64, 0, in.data(), 64, out.data()));
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(out.host()[65] == 2000.0f);
    CHECK(seconds < 2.0);
}

TEST_CASE(
    "a kernel that works for long is not reported as stuck, nor mixed up by a clock overflow") {
    const Device<float> in(std::vector<float>{1, 2, 3, 4}), out(std::vector<float>(4, 0.0f));
    for (const int n : {21'000'000, 21'000'001}) {
        REQUIRE(run_right("adds_for_long", 1, 1, 0, in.data(), n, out.data()));
        CHECK(cudaGetLastError() == cudaSuccess);
        CHECK(out.host()[0] > 2e8f);
    }
    const Device<float> told(std::vector<float>(3, 0.0f));
    REQUIRE(run_right("fences_for_long", 2, 32, 0, in.data(), 1 << 22, told.data()));
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(told.host()[2] == 1.0f);
}

TEST_CASE("a copy that was never waited for does not arrive in a later launch") {
    const Device<float> in(std::vector<float>(256, 1.0f));
    const Device<float> other(std::vector<float>(256, 2.0f)), out(std::vector<float>(256, 0.0f));
    // 256 threads leave a copy in flight; 128 run and forget theirs; then 256 start new ones.
    REQUIRE(run_right("copy_left_behind", 1, 256, 0, in.data(), 1, out.data()));
    REQUIRE(run_right("copy_left_behind", 1, 128, 0, in.data(), 0, out.data()));
    REQUIRE(run_right("copy_left_behind", 1, 256, 0, other.data(), 2, out.data()));
    const auto report = last_report();
    INFO((report ? report->text : "no report"));
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(out.host() == std::vector<float>(256, 2.0f));
}
