// The cases that `common/learn check day04` runs for the one-file exercises.
#include <algorithm>
#include <limits>
#include <sstream>

#include "common/testing/practice.hpp"

using namespace sixdays;
using namespace sixdays::testing;

void better(const float* in, int M, int N, int* out);
void neighbours(const float* in, float* out);
void all_lanes(const float* in, float* out);
void lanes_without(const float* in, int n, float* out);
void tree(const float* in, int blocks, float* out);
void row_by_block(const float* in, int M, int N, int* out);

namespace {

// 0, 1, ..., 100, shuffled
Tensor<float> mixed(const Shape& shape) {
    Tensor<float> x(shape);
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<float>(k * 37 % 101);
    return x;
}

double sum_of(const Tensor<float>& x, std::int64_t from, std::int64_t count) {
    double sum = 0;
    for (std::int64_t k = from; k < from + count; ++k) sum += static_cast<double>(x.data()[k]);
    return sum;
}

std::string row_of(const std::vector<float>& row) {
    std::ostringstream text;
    text << "The row is";
    for (const float x : row) text << ' ' << x;
    text << '.';
    return text.str();
}

void check_better(const std::vector<float>& row, int place) {
    const auto N = static_cast<int>(row.size());
    INFO(row_of(row));
    DeviceIn<float> in(Tensor<float>({1, N}, row));
    practise<int>(
        {1}, [&](int* out) { better(in.view().data, 1, N, out); },
        [=](std::int64_t) { return place; });
}

TEST_CASE("better: the larger element", "[day04][better][small]") {
    INFO("The larger element wins, whatever its index.");
    check_better({1, 2, 5, 3}, 2);
    check_better({-4, -2, -7, -9, -3}, 1);
    check_better({-INFINITY, -1, -INFINITY}, 1);
    check_better({1, 2, 3, 9}, 3);  // the winner is compared last
}

TEST_CASE("better: equal elements", "[day04][better][small]") {
    INFO(
        "Of equal elements the one with the lower index wins, in whatever order they are "
        "compared.");
    check_better({1, 5, 2, 5, 5}, 1);
    check_better({3, 3, 3, 3, 3}, 0);
    check_better({-INFINITY, -INFINITY, -INFINITY}, 0);
}

TEST_CASE("better: NaN", "[day04][better][small]") {
    INFO(
        "A NaN beats every number, and of two NaNs the one with the lower index wins. Every "
        "comparison with a NaN is false except !=: x != x detects it.");
    check_better({1, NAN, 5, 9, 2}, 1);
    check_better({1, INFINITY, NAN, 3, NAN}, 2);
    check_better({NAN, NAN, NAN, 1}, 0);
    check_better({1, 2, 3, NAN}, 3);
}

TEST_CASE("neighbours: the sum", "[day04][neighbours][small]") {
    INFO(
        "2,048 elements are 64 iterations of 32 lanes: iteration i begins at element 32 i, and "
        "lane l loads element 32 i + l.");
    const Tensor<float> x = mixed({2048});
    DeviceIn<float> in(x);
    practise<float>(
        {1}, [&](float* out) { neighbours(in.view().data, out); },
        [&](std::int64_t) { return sum_of(x, 0, 2048); },
        {{"Some elements were counted more than once, and others never.",
          [&](std::int64_t) {
              double sum = 0;
              for (std::int64_t lane = 0; lane < 32; ++lane) sum += sum_of(x, lane * 32, 64);
              return sum;
          }}},
        0, {},
        [] {
            return read_wrongly({"out", "i", {1}, {{"in", {2048}, all_elements}}},
                                [](const auto& given, float* out) { neighbours(given[0], out); });
        });
}

TEST_CASE("neighbours: 32 lanes, 4 sectors", "[day04][neighbours][small]") {
    DeviceIn<float> in(mixed({2048}));
    DeviceOut<float> out({1});
    const auto touched = touched_by([&] { neighbours(in.view().data, out.view().data); });
    INFO("Memory moved " << touched.sectors << " sectors where " << 4 * 64 + 1
                         << " suffice: the 32 elements that the lanes load in one iteration are "
                            "not adjacent in memory.");
    REQUIRE(touched.sectors <= 4 * 64 + 1);
}

TEST_CASE("all_lanes: the largest, in every lane", "[day04][all_lanes][small]") {
    for (int where = 31; where >= 0; --where) {
        INFO("The largest number, 7, is in lane " << where << '.');
        Tensor<float> x({32});
        for (int k = 0; k < 32; ++k) x.data()[k] = static_cast<float>(-k - 1);
        x.data()[where] = 7;
        DeviceIn<float> in(x);
        const auto of = [&](std::int64_t first, std::int64_t count) {
            double best = -100;
            for (std::int64_t k = first; k < first + count; ++k) {
                best = std::max(best, static_cast<double>(x.data()[k]));
            }
            return best;
        };
        practise<float>(
            {32}, [&](float* out) { all_lanes(in.view().data, out); },
            [](std::int64_t) { return 7.0; },
            {{"Every lane still has its own number: assign the result of fmaxf to `x` in each "
              "round.",
              [&](std::int64_t lane) { return of(lane, 1); }},
             {"Every lane has the smallest number: use fmaxf, not fminf.",
              [&](std::int64_t) {
                  return static_cast<double>(*std::min_element(x.data(), x.data() + 32));
              }},
             {"Every lane has the largest of one half only: lanes 16 apart were never paired, so "
              "d = 16 is missing.",
              [&](std::int64_t lane) { return of(lane / 16 * 16, 16); }},
             {"Every lane has the largest of eight only: the shuffle takes the bit's value, 1, "
              "2, 4, 8 or 16, not its bit number, 0 to 4.",
              [&](std::int64_t lane) { return of(lane / 8 * 8, 8); }},
             {"Every lane has the largest of itself and the lanes above it: __shfl_down_sync "
              "moves numbers in one direction only. Use __shfl_xor_sync, which exchanges them in "
              "pairs.",
              [&](std::int64_t lane) { return of(lane, 32 - lane); }},
             {"Adjacent lanes were never paired: d = 1 is missing.",
              [&](std::int64_t lane) {
                  double best = -100;
                  for (std::int64_t k = lane % 2; k < 32; k += 2) best = std::max(best, of(k, 1));
                  return best;
              }},
             {"Each round read the other lane's initial number. Shuffle x, the largest that it "
              "has found so far.",
              [&](std::int64_t lane) {
                  double best = of(lane, 1);
                  for (int d = 1; d < 32; d *= 2) best = std::max(best, of(lane ^ d, 1));
                  return best;
              }},
             {"Each round replaced x by the other lane's number. Keep the larger of the two, "
              "fmaxf(x, ...).",
              [&](std::int64_t lane) { return of(31 - lane, 1); }}},
            0, kShuffles,
            [] {
                return read_wrongly(
                    {"out", "l", {32}, {{"in", {32}, all_elements}}},
                    [](const auto& given, float* out) { all_lanes(given[0], out); });
            });
    }
}

// One load and one store; a lane that loads all numbers itself executes 32 times as many.
void check_one_load(const std::function<void()>& launch) {
    const auto touched = touched_by(launch);
    INFO("The warp executed " << touched.requests
                              << " loads and stores where 2 suffice: each lane loads one number "
                                 "and gets those of the other lanes by shuffles.");
    REQUIRE(touched.requests <= 4);
}

TEST_CASE("all_lanes: one load per lane", "[day04][all_lanes][small]") {
    DeviceIn<float> in(mixed({32}));
    DeviceOut<float> out({32});
    check_one_load([&] { all_lanes(in.view().data, out.view().data); });
}

TEST_CASE("lanes_without: any number of elements", "[day04][lanes_without][small]") {
    for (const int n : {32, 20, 1, 31, 16}) {
        CAPTURE(n);
        const Tensor<float> x = mixed({n});
        DeviceIn<float> in(x);
        practise<float>(
            {1}, [&](float* out) { lanes_without(in.view().data, n, out); },
            [&](std::int64_t) { return sum_of(x, 0, n); },
            {{"This is lane 0's own number: nothing was added.",
              [&](std::int64_t) { return sum_of(x, 0, 1); }},
             {"Lanes without a number each added the last number once more: they must add 0.",
              [&](std::int64_t) {
                  return sum_of(x, 0, n) + (32 - n) * static_cast<double>(x.data()[n - 1]);
              }},
             {"Lanes without a number each added the first number once more: they must add 0.",
              [&](std::int64_t) {
                  return sum_of(x, 0, n) + (32 - n) * static_cast<double>(x.data()[0]);
              }},
             {"Lanes without a number added the first numbers again, those of lane % n: they "
              "must add 0.",
              [&](std::int64_t) {
                  double sum = 0;
                  for (std::int64_t lane = 0; lane < 32; ++lane) sum += sum_of(x, lane % n, 1);
                  return sum;
              }},
             {"Lanes without a number must add the identity of a sum, 0, not -INFINITY.",
              [](std::int64_t) { return -INFINITY; }}},
            0, kShuffles,
            [n] {
                return read_wrongly(
                    {"out", "i", {1}, {{"in", {n}, all_elements}}},
                    [n](const auto& given, float* out) { lanes_without(given[0], n, out); });
            });
    }
}

TEST_CASE("lanes_without: one load per lane", "[day04][lanes_without][small]") {
    DeviceIn<float> in(mixed({20}));
    DeviceOut<float> out({1});
    check_one_load([&] { lanes_without(in.view().data, 20, out.view().data); });
}

TEST_CASE("tree: a block's sum", "[day04][tree][small]") {
    for (const int blocks : {1, 4}) {
        CAPTURE(blocks);
        const Tensor<float> x = mixed({blocks, 256});
        DeviceIn<float> in(x);
        practise<float>(
            {blocks}, [&](float* out) { tree(in.view().data, blocks, out); },
            [&](std::int64_t block) { return sum_of(x, block * 256, 256); },
            {{"Each block's result is its first number: nothing was added.",
              [&](std::int64_t block) { return sum_of(x, block * 256, 1); }},
             {"The last round, half = 1, is missing: thread 0 must still add number 1.",
              [&](std::int64_t block) {
                  double sum = 0;
                  for (std::int64_t k = 0; k < 256; k += 2) sum += sum_of(x, block * 256 + k, 1);
                  return sum;
              }}},
            0,
            {{"which thread"},
             "Two threads access the same number, and nothing orders the two accesses. All "
             "threads must wait at a __syncthreads() before every round, including the first. "
             "Within a round, thread t adds the number of t + half, which no thread of that "
             "round writes."},
            [&] {
                const auto at = [](const Index& i, std::int64_t k) { return 256 * i[0] + k; };
                return summed_wrongly(
                    {"out", "b", {blocks}, 256, {{"in", x.size(), at}}},
                    [&](const auto& in2, float* out) { tree(in2[0], blocks, out); });
            });
    }
}

TEST_CASE("tree: any order of threads", "[day04][tree][small]") {
    DeviceIn<float> in(mixed({256}));
    DeviceOut<float> out({1});
    gpu::run_in_other_orders([&] { tree(in.view().data, 1, out.view().data); });
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("tree: the work is shared", "[day04][tree][small]") {
    DeviceIn<float> in(mixed({256}));
    DeviceOut<float> out({1});
    const auto touched = touched_by([&] { tree(in.view().data, 1, out.view().data); });
    INFO("The warps executed " << touched.requests
                               << " memory accesses where 54 suffice: a few threads added all "
                                  "numbers one after another. In the first round, 128 threads must "
                                  "add.");
    REQUIRE(touched.requests <= 200);
}

// Row m of a square matrix has its largest element at place m: where is it not found?
std::string overlooked(int N) {
    if (N > 1000) return "";
    Tensor<float> x({N, N});
    for (std::int64_t m = 0; m < N; ++m) x(m, m) = 1;
    DeviceIn<float> in(x);
    DeviceOut<int> out({N});
    row_by_block(in.view().data, N, N, out.view().data);
    const Tensor<int> got = out.values();
    std::vector<int> places;
    for (int m = 0; m < N; ++m) {
        if (got(m) != m) places.push_back(m);
    }
    if (places.empty()) return "";
    const bool in_a_row = places.back() - places.front() + 1 == static_cast<int>(places.size());
    return "In a row of " + std::to_string(N) +
           " the largest element is not found if its index is " + std::to_string(places.front()) +
           (places.size() < 2 ? ""
            : in_a_row        ? " to " + std::to_string(places.back())
                              : " or " + std::to_string(places[1]) + " (of " +
                             std::to_string(places.size()) + " such indices)") +
           ". Either no thread reads it (thread t reads elements t, t + 256, t + 512, ... below "
           "N), or the tree loses it: the tree must reach every thread's value and move the "
           "index with the value.";
}

void check_row_by_block(const Tensor<float>& x, const std::vector<int>& places,
                        const std::vector<Guess>& guesses = {}) {
    const auto M = static_cast<int>(x.shape()[0]), N = static_cast<int>(x.shape()[1]);
    CAPTURE(M, N);
    DeviceIn<float> in(x);
    practise<int>(
        {M}, [&](int* out) { row_by_block(in.view().data, M, N, out); },
        [&](std::int64_t m) { return places[static_cast<std::size_t>(m)]; }, guesses, 0, {},
        [N] { return overlooked(N); });
}

// The indices that a wrong attempt produces, one per row.
Guess guess(const std::string& sentence, const std::vector<int>& places) {
    return {sentence, [places](std::int64_t m) { return places[static_cast<std::size_t>(m)]; }};
}

TEST_CASE("row_by_block: one largest element", "[day04][row_by_block][small]") {
    for (const int N : {256, 1000, 255, 1, 257, 5000}) {
        Tensor<float> x({3, N});
        for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = -static_cast<float>(k % 100 + 1);
        const std::vector<int> places = {0, N / 2, N - 1};
        for (int m = 0; m < 3; ++m) x(m, places[static_cast<std::size_t>(m)]) = 5;
        std::vector<int> threads, smallest;
        for (int m = 0; m < 3; ++m) {
            const float* row = x.data() + std::int64_t{m} * N;
            smallest.push_back(static_cast<int>(std::min_element(row, row + N) - row));
        }
        for (const int place : places) threads.push_back(place % 256);
        check_row_by_block(x, places,
                           {guess("This is the thread t that holds the largest element, not the "
                                  "index of that element in its row.",
                                  threads),
                            guess("This is the index of the smallest element.", smallest)});
    }
}

TEST_CASE("row_by_block: negative numbers", "[day04][row_by_block][small]") {
    const std::vector<Guess> from_zero = {
        guess("All numbers of this row are negative, and none of them beats a start of 0. Start "
              "with -INFINITY.",
              {0})};
    check_row_by_block(Tensor<float>({1, 3}, {-3, -1, -2}), {1}, from_zero);
    Tensor<float> x({1, 300});
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = -static_cast<float>(k % 100 + 1);
    x(0, 299) = -0.5f;
    check_row_by_block(x, {299}, from_zero);
    const float lowest = std::numeric_limits<float>::lowest();
    const std::vector<Guess> too_high = {
        guess("Only -INFINITY is below all numbers of this row. Which value does your search start "
              "with?",
              {0})};
    check_row_by_block(Tensor<float>({1, 3}, {-3e38f, -1e38f, -2e38f}), {1}, too_high);
    check_row_by_block(Tensor<float>({1, 4}, {-INFINITY, -INFINITY, lowest, -INFINITY}), {2},
                       too_high);
}

TEST_CASE("row_by_block: equal elements", "[day04][row_by_block][small]") {
    INFO(
        "Of equal elements, the one with the lower index wins. In the tree they may be compared "
        "in either order.");
    Tensor<float> x({3, 1000});
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = -1;
    x(0, 256) = x(0, 1) = 3;  // of threads 0 and 1
    x(1, 700) = x(1, 701) = x(1, 999) = 3;
    x(2, 5) = x(2, 261) = x(2, 517) = 3;  // all of thread 5
    check_row_by_block(
        x, {1, 700, 5},
        {guess("A thread keeps the last of equal elements in its part of the row: `>=` in the "
               "loop takes a later one, `>` keeps the first.",
               {1, 700, 517})});
}

TEST_CASE("row_by_block: nothing but -INFINITY", "[day04][row_by_block][small]") {
    INFO("Of equal elements the first wins. If all are -INFINITY, the answer is index 0.");
    Tensor<float> x({2, 300});
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = -INFINITY;
    check_row_by_block(x, {0, 0},
                       {guess("This is N, which is no index of the row. Nothing beats a start of "
                              "-INFINITY, so its index remains: start with 0.",
                              {300, 300})});
    check_row_by_block(Tensor<float>({1, 1}, {-INFINITY}), {0});
}

TEST_CASE("row_by_block: coalesced loads", "[day04][row_by_block][small]") {
    DeviceIn<float> in(mixed({1, 2048}));
    DeviceOut<int> out({1});
    const auto touched =
        touched_by([&] { row_by_block(in.view().data, 1, 2048, out.view().data); });
    INFO("Memory moved "
         << touched.sectors << " sectors where " << 256 + 1
         << " suffice to read each element once. Do neighbouring threads read neighbouring "
            "elements, and does each keep its best in a local variable?");
    REQUIRE(touched.sectors <= 2 * 256 + 1);
}

}  // namespace
