// What `common/learn check day03` asks of the exercises of one file.
#include "common/testing/practice.hpp"

using namespace sixdays;
using namespace sixdays::testing;

void right_half(const float* in, int M, int N, float* out);
void turned(const float* in, int M, int N, float* out);
void wait_for_all(const float* in, int blocks, float* out);
void no_conflict(const float* in, float* out);

namespace {

TEST_CASE("right_half: of every row", "[day03][right_half][small]") {
    for (const auto& [M, N] : {std::pair{3, 4}, {1, 2}, {5, 80}}) {
        CAPTURE(M, N);
        DeviceIn<float> in(distinct<float>({M, N}));
        const int half = N / 2;
        const auto by = [=](int first, int step) {
            return [=](std::int64_t k) {
                return static_cast<double>(k / half * step + k % half + first + 1);
            };
        };
        std::vector<Guess> guesses;
        if (M > 1) {
            guesses = {
                {"Rows are taken to be half as long: a slice leaves the strides as they are.",
                 by(half, half)},
                {"That is the left half.", by(0, 2 * half)}};
        }
        practise<float>(
            {M, half}, [&, M = M, N = N](float* out) { right_half(in.view().data, M, N, out); },
            by(half, 2 * half), guesses);
    }
}

TEST_CASE("turned: the transpose", "[day03][turned][small]") {
    for (const auto& [M, N] : {std::pair{2, 3}, {40, 5}, {1, 7}, {7, 1}}) {
        CAPTURE(M, N);
        DeviceIn<float> in(distinct<float>({M, N}));
        const int rows = M, columns = N;
        std::vector<Guess> guesses;
        if (M > 1 && N > 1) {
            guesses = {
                {"Extents are exchanged, steps are not: this is the same run of memory, only cut "
                 "into other rows.",
                 [](std::int64_t k) { return static_cast<double>(k + 1); }}};
        }
        practise<float>(
            {N, M}, [&, M = M, N = N](float* out) { turned(in.view().data, M, N, out); },
            [=](std::int64_t k) { return static_cast<double>(k % rows * columns + k / rows + 1); },
            guesses);
    }
}

TEST_CASE("wait_for_all: each block turned round", "[day03][wait_for_all][small]") {
    for (const int blocks : {1, 3}) {
        DeviceIn<float> in(distinct<float>({blocks * 64}));
        const auto run = [&](float* out) { wait_for_all(in.view().data, blocks, out); };
        const auto want = [](std::int64_t k) {
            return static_cast<double>(k / 64 * 64 + 63 - k % 64 + 1);
        };
        practise<float>({blocks * 64}, run, want);
    }
}

TEST_CASE("no_conflict: is right", "[day03][no_conflict][small]") {
    DeviceIn<float> in(distinct<float>({32, 32}));
    practise<float>(
        {32, 32}, [&](float* out) { no_conflict(in.view().data, out); },
        [](std::int64_t k) { return static_cast<double>(k % 32 * 32 + k / 32 + 1); });
}

TEST_CASE("no_conflict: no two lanes in one bank", "[day03][no_conflict][small]") {
    DeviceIn<float> in(distinct<float>({32, 32}));
    DeviceOut<float> out({32, 32});
    const auto touched = touched_by([&] { no_conflict(in.view().data, out.view().data); });
    INFO("Shared memory took "
         << touched.passes << " passes where " << touched.fewest_passes
         << " would do: lanes of a warp store to one bank at once. Is the next "
            "row of the tile a multiple of 32 words further on?");
    REQUIRE(touched.passes <= touched.fewest_passes);
    if (gpu::is_emulated()) REQUIRE(touched.passes >= 64);  // 32 stores and 32 loads: it is used
}

}  // namespace
