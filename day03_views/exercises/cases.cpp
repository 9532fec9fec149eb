// The cases that `common/learn check day03` runs for the one-file exercises.
#include "common/testing/practice.hpp"

using namespace sixdays;
using namespace sixdays::testing;

void right_half(const float* in, int M, int N, float* out);
void turned(const float* in, int M, int N, float* out);
void wait_for_all(const float* in, int blocks, float* out);
void no_conflict(const float* in, float* out);

namespace {

TEST_CASE("right_half: the right half of every row", "[day03][right_half][small]") {
    for (const auto& [M, N] : {std::pair{3, 4}, {1, 2}, {5, 80}}) {
        CAPTURE(M, N);
        const std::int64_t half = N / 2;
        const auto by = [=](std::int64_t first, std::int64_t step) {
            return [=](std::int64_t k) {
                return static_cast<double>(k / half * step + k % half + first + 1);
            };
        };
        std::vector<Guess> guesses;
        if (M > 1) {
            guesses = {
                {"The row stride was halved as well, but a slice leaves the strides as they are.",
                 by(half, half)},
                {"This is the left half: the view begins N / 2 elements into the row.",
                 by(0, 2 * half)}};
        }
        const auto at = [=](const Index& i) { return i[0] * 2 * half + i[1] + half; };
        practise(
            {"out", "mn", {M, half}, {{"in", M * N, at}}},
            [M = M, N = N](const auto& in, float* out) { right_half(in[0], M, N, out); }, guesses);
    }
}

TEST_CASE("turned: the transpose", "[day03][turned][small]") {
    for (const auto& [M, N] : {std::pair{2, 3}, {40, 5}, {1, 7}, {7, 1}}) {
        CAPTURE(M, N);
        const std::int64_t columns = N;
        std::vector<Guess> guesses;
        if (M > 1 && N > 1) {
            guesses = {
                {"The extents are swapped, but the strides are not: this is the same sequence in "
                 "memory, cut into rows of another length.",
                 [](std::int64_t k) { return static_cast<double>(k + 1); }}};
        }
        const auto at = [=](const Index& i) { return i[1] * columns + i[0]; };
        practise(
            {"out", "nm", {N, M}, {{"in", M * N, at}}},
            [M = M, N = N](const auto& in, float* out) { turned(in[0], M, N, out); }, guesses);
    }
}

TEST_CASE("wait_for_all: each block reversed", "[day03][wait_for_all][small]") {
    for (const int blocks : {1, 3}) {
        const auto at = [](const Index& i) { return i[0] * 64 + 63 - i[1]; };
        practise({"out", "bt", {blocks, 64}, {{"in", blocks * 64, at}}, {}, 0, "out[64 b + t]"},
                 [=](const auto& in, float* out) { wait_for_all(in[0], blocks, out); });
    }
}

TEST_CASE("no_conflict: the transpose", "[day03][no_conflict][small]") {
    practise(
        {"out", "yx", {32, 32}, {{"in", 32 * 32, [](const Index& i) { return i[1] * 32 + i[0]; }}}},
        [](const auto& in, float* out) { no_conflict(in[0], out); });
}

TEST_CASE("no_conflict: no bank conflicts", "[day03][no_conflict][small]") {
    DeviceIn<float> in(distinct<float>({32, 32}));
    DeviceOut<float> out({32, 32});
    const auto touched = touched_by([&] { no_conflict(in.view().data, out.view().data); });
    INFO("Shared memory needed "
         << touched.passes << " wavefronts where " << touched.fewest_passes
         << " suffice. A warp stores a column of the tile, so consecutive lanes are one row of "
            "the tile apart, and bank = word % 32. With rows of 32 words all lanes are in the "
            "same bank; rows with an even number of words use at most 16 of the 32 banks. With "
            "which row length do 32 lanes use 32 banks?");
    REQUIRE(touched.passes <= touched.fewest_passes);
    if (gpu::is_emulated()) REQUIRE(touched.passes >= 64);  // 32 stores and 32 loads: it is used
}

}  // namespace
