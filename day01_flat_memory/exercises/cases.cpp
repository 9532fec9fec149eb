// The cases that `common/learn check day01` runs for the one-file exercises.
#include "common/testing/practice.hpp"

using namespace sixdays;
using namespace sixdays::testing;

void guard(const float* in, int n, float* out);
void blocks(const float* in, int n, float* out);
void rows_columns(int M, int N, int* out);
void long_steps(const float* in, int n, float* out);
void channel(const float* in, int B, int T, int C, int c, float* out);

namespace {

using Launch = void (*)(const float*, int, float*);

// out[i] = 3 * in[i], in = 1, 2, 3, ...
void check_triple(Launch launch, int n, const std::vector<Guess>& guesses = {},
                  const Advice& if_stopped = {}) {
    CAPTURE(n);
    DeviceIn<float> in(distinct<float>({n}));
    const auto want = [](std::int64_t k) { return 3.0 * static_cast<double>(k + 1); };
    practise<float>(
        {n}, [&](float* out) { launch(in.view().data, n, out); }, want, guesses, 0, if_stopped);
}

TEST_CASE("guard: whole blocks", "[day01][guard][small]") {
    check_triple(guard, 256);
    check_triple(guard, 512);
}

TEST_CASE("guard: surplus threads", "[day01][guard][small]") {
    const Advice one_each = one_writer(
        "A surplus thread writes an element that belongs to another thread. Threads with i >= n "
        "must not touch memory.");
    check_triple(guard, 1000, {}, one_each);
    check_triple(guard, 1, {}, one_each);
    check_triple(guard, 257, {}, one_each);
}

TEST_CASE("blocks: any number of elements", "[day01][blocks][small]") {
    for (const int n : {128, 129, 1000, 1024, 255}) {
        const auto only = [n](int count) {
            return [n, count](std::int64_t k) {
                return k < std::min(count, n) ? 3.0 * static_cast<double>(k + 1) : NAN;
            };
        };
        std::vector<Guess> guesses = {
            {"The last, partial block is missing: n / threads rounds down, but the number of "
             "blocks must round up.",
             only(n / 128 * 128)}};
        if (n / 128 > 1)
            guesses.push_back(
                {"Only one block was launched, so only the first 128 "
                 "elements were written.",
                 only(128)});
        check_triple(blocks, n, guesses);
    }
}

TEST_CASE("blocks: fewer than one block", "[day01][blocks][small]") {
    INFO("Fewer than 128 elements still need one block. Its surplus threads stay idle.");
    check_triple(blocks, 127);
    check_triple(blocks, 1);
}

TEST_CASE("blocks: not one too many", "[day01][blocks][small]") {
    DeviceIn<float> in(distinct<float>({256}));
    DeviceOut<float> out({256});
    INFO("256 elements are exactly 2 blocks of 128 threads, but you launched a different number.");
    const bool asked =
        gpu::run_last_block(256, [&] { blocks(in.view().data, 256, out.view().data); });
    REQUIRE(asked == gpu::is_emulated());
}

TEST_CASE("rows_columns: matrices", "[day01][rows_columns][small]") {
    for (const auto& [M, N] : {std::pair{2, 3}, {3, 2}, {7, 100}, {40, 1}, {1, 40}}) {
        CAPTURE(M, N);
        const auto want = [n = N](std::int64_t k) {
            return static_cast<double>(1000 * (k / n) + k % n);
        };
        const auto by_M = [m = M](std::int64_t k) {
            return static_cast<double>(1000 * (k / m) + k % m);
        };
        const auto swapped = [n = N](std::int64_t k) {
            return static_cast<double>(1000 * (k % n) + k / n);
        };
        practise<int>(
            {M, N}, [m = M, n = N](int* out) { rows_columns(m, n, out); }, want,
            {{"It looks as if you divided by M, the number of rows. How many elements does a row "
              "have?",
              by_M},
             {"Row and column are swapped.", swapped},
             {"The rows are right, the columns are not: a row begins at row * N, so the column "
              "is the remainder, i % N or i - row * N.",
              {},
              [n = N](std::int64_t k, double got) {
                  return std::floor(got / 1000) == static_cast<double>(k / n);
              }},
             {"The columns are right, the rows are not: each row has N elements, so i is in row "
              "i / N.",
              {},
              [n = N](std::int64_t k, double got) {
                  return got >= 0 && std::fmod(got, 1000) == static_cast<double>(k % n);
              }}});
    }
}

const Advice kOneElementOnce = one_writer(
    "Several threads write the same element. The stride is the number of threads in the grid, "
    "gridDim.x * blockDim.x, and each thread starts at its own index in the grid.");

// What contiguous chunks of n / 256 elements per thread leave out.
Guess stretches(int n) {
    return {
        "The last elements are missing: each thread computed n / 256 of them, and the remainder "
        "is not processed.",
        [n](std::int64_t k) { return k < n / 256 * 256 ? 3.0 * static_cast<double>(k + 1) : NAN; }};
}

TEST_CASE("long_steps: at most as many elements as threads", "[day01][long_steps][small]") {
    check_triple(long_steps, 3, {stretches(3)}, kOneElementOnce);
    check_triple(long_steps, 256, {}, kOneElementOnce);
}

TEST_CASE("long_steps: more elements than threads", "[day01][long_steps][small]") {
    for (const int n : {257, 1000, 5000}) {
        const auto first = [](std::int64_t k) {
            return k < 256 ? 3.0 * static_cast<double>(k + 1) : NAN;
        };
        std::vector<Guess> guesses = {
            {"Each thread computed only one element: 256 are right, and the others were never "
             "written.",
             first}};
        if (n / 256 > 1) guesses.push_back(stretches(n));
        check_triple(long_steps, n, guesses, kOneElementOnce);
    }
}

TEST_CASE("long_steps: neighbouring threads, neighbouring elements", "[day01][long_steps][small]") {
    DeviceIn<float> in(distinct<float>({1024}));
    DeviceOut<float> out({1024});
    const auto touched = touched_by([&] { long_steps(in.view().data, 1024, out.view().data); });
    INFO("Memory moved " << touched.sectors << " sectors where " << 2 * 128
                         << " suffice: the 32 threads of a warp should access 32 consecutive "
                            "elements. Does each thread process its own contiguous chunk?");
    REQUIRE(touched.sectors <= 2 * 128);
}

TEST_CASE("channel: one channel of every token", "[day01][channel][small]") {
    for (const auto& [B, T, C, c] : {std::array{1, 2, 3, 1}, {2, 5, 7, 0}, {3, 40, 6, 5}}) {
        CAPTURE(B, T, C, c);
        const std::array d = {B, T, C, c};
        const auto one = [d](std::int64_t k) {
            return k < d[1] ? static_cast<double>(k * d[2] + d[3] + 1) : NAN;
        };
        std::vector<Guess> guesses;
        if (B > 1) guesses = {{"Only sequence 0 was written. Where does row b of out begin?", one}};
        const auto at = [d](const Index& i) { return (i[0] * d[1] + i[1]) * d[2] + d[3]; };
        practise(
            {"out", "bt", {B, T}, {{"in", B * T * C, at}}},
            [d](const auto& in, float* out) { channel(in[0], d[0], d[1], d[2], d[3], out); },
            guesses);
    }
}

}  // namespace
