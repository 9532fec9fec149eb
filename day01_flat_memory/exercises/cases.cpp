// What `common/learn check day01` asks of the exercises of one file.
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

TEST_CASE("guard: threads that are too many", "[day01][guard][small]") {
    const Advice one_each = one_writer(
        "A thread past the last element writes to one that another thread makes: let those that "
        "are too "
        "many touch nothing.");
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
            {"Only whole blocks were launched: n / threads rounds down, and "
             "it has to round up.",
             only(n / 128 * 128)}};
        if (n / 128 > 1) guesses.push_back({"There was one block only.", only(128)});
        check_triple(blocks, n, guesses);
    }
}

TEST_CASE("blocks: fewer than one block", "[day01][blocks][small]") {
    INFO("127 elements need one block, of which a thread is idle.");
    check_triple(blocks, 127);
    check_triple(blocks, 1);
}

TEST_CASE("blocks: none too many", "[day01][blocks][small]") {
    DeviceIn<float> in(distinct<float>({256}));
    DeviceOut<float> out({256});
    INFO("256 elements are exactly 2 blocks of 128 threads; you launched another number of them.");
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
            {{"It looks as if you divided by M, the number of rows. How many places does "
              "a row take?",
              by_M},
             {"Row and column are exchanged.", swapped},
             {"The rows are right, the columns are not: a row begins at row * N, so the "
              "column is what i / N leaves over, i % N or i - row * N.",
              {},
              [n = N](std::int64_t k, double got) {
                  return std::floor(got / 1000) == static_cast<double>(k / n);
              }},
             {"The columns are right, the rows are not: each takes N places, so i is in row "
              "i / N.",
              {},
              [n = N](std::int64_t k, double got) {
                  return got >= 0 && std::fmod(got, 1000) == static_cast<double>(k % n);
              }}});
    }
}

const Advice kOneElementOnce = one_writer(
    "Several threads make the same element. From one element to its next a thread goes on by as "
    "many "
    "as the whole grid has threads, gridDim.x * blockDim.x, and begins at its own number in the "
    "grid.");

// What a thread's stretch of n / 256 elements leaves out.
Guess stretches(int n) {
    return {
        "The last elements are missing: each thread made n / 256 of them, and the remainder of "
        "that division is nobody's.",
        [n](std::int64_t k) { return k < n / 256 * 256 ? 3.0 * static_cast<double>(k + 1) : NAN; }};
}

TEST_CASE("long_steps: fewer elements than threads, and as many", "[day01][long_steps][small]") {
    check_triple(long_steps, 3, {stretches(3)}, kOneElementOnce);
    check_triple(long_steps, 256, {}, kOneElementOnce);
}

TEST_CASE("long_steps: more elements than threads", "[day01][long_steps][small]") {
    for (const int n : {257, 1000, 5000}) {
        const auto first = [](std::int64_t k) {
            return k < 256 ? 3.0 * static_cast<double>(k + 1) : NAN;
        };
        std::vector<Guess> guesses = {
            {"Every thread made one element only: 256 are right, the others were never written.",
             first}};
        if (n / 256 > 1) guesses.push_back(stretches(n));
        check_triple(long_steps, n, guesses, kOneElementOnce);
    }
}

TEST_CASE("long_steps: neighbours make neighbours", "[day01][long_steps][small]") {
    DeviceIn<float> in(distinct<float>({1024}));
    DeviceOut<float> out({1024});
    const auto touched = touched_by([&] { long_steps(in.view().data, 1024, out.view().data); });
    INFO("Memory moved " << touched.sectors << " sectors where " << 2 * 128
                         << " suffice: the 32 threads of a warp should touch 32 elements that lie "
                            "side by side. Does each thread take a stretch of its own?");
    REQUIRE(touched.sectors <= 2 * 128);
}

TEST_CASE("channel: one of every token", "[day01][channel][small]") {
    for (const auto& [B, T, C, c] : {std::array{1, 2, 3, 1}, {2, 5, 7, 0}, {3, 40, 6, 5}}) {
        CAPTURE(B, T, C, c);
        const std::array d = {B, T, C, c};
        const auto one = [d](std::int64_t k) {
            return k < d[1] ? static_cast<double>(k * d[2] + d[3] + 1) : NAN;
        };
        std::vector<Guess> guesses;
        if (B > 1) guesses = {{"Only sequence 0 was written: where does row b of out begin?", one}};
        const auto at = [d](const Index& i) { return (i[0] * d[1] + i[1]) * d[2] + d[3]; };
        practise(
            {"out", "bt", {B, T}, {{"in", B * T * C, at}}},
            [d](const auto& in, float* out) { channel(in[0], d[0], d[1], d[2], d[3], out); },
            guesses);
    }
}

}  // namespace
