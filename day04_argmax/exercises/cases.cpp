// What `common/learn check day04` asks of the exercises of one file.
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

// 0, 1, ..., 100 mixed up
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

TEST_CASE("better: the larger one", "[day04][better][small]") {
    INFO("The larger one wins, wherever it stands.");
    check_better({1, 2, 5, 3}, 2);
    check_better({-4, -2, -7, -9, -3}, 1);
    check_better({-INFINITY, -1, -INFINITY}, 1);
    check_better({1, 2, 3, 9}, 3);  // it comes later than what it beats
}

TEST_CASE("better: equal ones", "[day04][better][small]") {
    INFO("Of equal ones the one at the lower place wins, in whatever order they meet.");
    check_better({1, 5, 2, 5, 5}, 1);
    check_better({3, 3, 3, 3, 3}, 0);
    check_better({-INFINITY, -INFINITY, -INFINITY}, 0);
}

TEST_CASE("better: NaN", "[day04][better][small]") {
    INFO(
        "A NaN beats every number, and of two NaN the one at the lower place wins. A comparison "
        "with a "
        "NaN is false, whatever is asked: only x != x tells it.");
    check_better({1, NAN, 5, 9, 2}, 1);
    check_better({1, INFINITY, NAN, 3, NAN}, 2);
    check_better({NAN, NAN, NAN, 1}, 0);
    check_better({1, 2, 3, NAN}, 3);
}

TEST_CASE("neighbours: the sum", "[day04][neighbours][small]") {
    INFO(
        "2,048 elements are 64 rounds of 32: round i begins at element 32 i, and lane l takes the "
        "l-th from there.");
    const Tensor<float> x = mixed({2048});
    DeviceIn<float> in(x);
    practise<float>(
        {1}, [&](float* out) { neighbours(in.view().data, out); },
        [&](std::int64_t) { return sum_of(x, 0, 2048); },
        {{"Some elements were counted more than once, others never.",
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
                         << " suffice: the 32 elements that the lanes read in one round do not lie "
                            "side by side.");
    REQUIRE(touched.sectors <= 4 * 64 + 1);
}

TEST_CASE("all_lanes: the largest, in every lane", "[day04][all_lanes][small]") {
    for (int where = 31; where >= 0; --where) {
        INFO("The largest number, 7, is lane " << where << "'s.");
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
            {{"Every lane has its own number still: `x` has to become what fmaxf returns, in each "
              "round.",
              [&](std::int64_t lane) { return of(lane, 1); }},
             {"Every lane has the smallest number: fmaxf, not fminf.",
              [&](std::int64_t) {
                  return static_cast<double>(*std::min_element(x.data(), x.data() + 32));
              }},
             {"Every lane has the largest of a half only: lanes 16 apart have never met.",
              [&](std::int64_t lane) { return of(lane / 16 * 16, 16); }},
             {"Every lane has the largest of eight only: the shuffle takes the digit's value, 1, "
              "2, "
              "4, 8 or 16, and not its number, 0 to 4.",
              [&](std::int64_t lane) { return of(lane / 8 * 8, 8); }},
             {"Every lane has the largest of those from itself on: __shfl_down_sync lets numbers "
              "move one way "
              "only, __shfl_xor_sync makes pairs.",
              [&](std::int64_t lane) { return of(lane, 32 - lane); }},
             {"Lanes side by side have never met: d = 1 is missing.",
              [&](std::int64_t lane) {
                  double best = -100;
                  for (std::int64_t k = lane % 2; k < 32; k += 2) best = std::max(best, of(k, 1));
                  return best;
              }},
             {"In each round the other lane's first number was asked for: ask for x, the largest "
              "that it "
              "has found by then.",
              [&](std::int64_t lane) {
                  double best = of(lane, 1);
                  for (int d = 1; d < 32; d *= 2) best = std::max(best, of(lane ^ d, 1));
                  return best;
              }},
             {"In each round x became what the other lane has, whatever it was: the larger of both "
              "stays, fmaxf(x, ...).",
              [&](std::int64_t lane) { return of(31 - lane, 1); }}},
            0, kShuffles,
            [] {
                return read_wrongly(
                    {"out", "l", {32}, {{"in", {32}, all_elements}}},
                    [](const auto& given, float* out) { all_lanes(given[0], out); });
            });
    }
}

// A load and a store; a lane that loads all numbers itself makes 32 times as many.
void check_one_load(const std::function<void()>& launch) {
    const auto touched = touched_by(launch);
    INFO("The warp made " << touched.requests << " loads and stores where 2 suffice: each lane "
                          << "loads one number, and gets what it needs of the others by shuffles.");
    REQUIRE(touched.requests <= 4);
}

TEST_CASE("all_lanes: one load for each lane", "[day04][all_lanes][small]") {
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
            {{"That is lane 0's own number: nothing was added up.",
              [&](std::int64_t) { return sum_of(x, 0, 1); }},
             {"Lanes without a number added the last one once more each: theirs must be 0.",
              [&](std::int64_t) {
                  return sum_of(x, 0, n) + (32 - n) * static_cast<double>(x.data()[n - 1]);
              }},
             {"Lanes without a number added the first one once more each: theirs must be 0.",
              [&](std::int64_t) {
                  return sum_of(x, 0, n) + (32 - n) * static_cast<double>(x.data()[0]);
              }},
             {"Lanes without a number added those from the beginning again, lane % n: theirs must "
              "be 0.",
              [&](std::int64_t) {
                  double sum = 0;
                  for (std::int64_t lane = 0; lane < 32; ++lane) sum += sum_of(x, lane % n, 1);
                  return sum;
              }},
             {"Lanes without a number must add what changes no sum, 0: not -INFINITY.",
              [](std::int64_t) { return -INFINITY; }}},
            0, kShuffles,
            [n] {
                return read_wrongly(
                    {"out", "i", {1}, {{"in", {n}, all_elements}}},
                    [n](const auto& given, float* out) { lanes_without(given[0], n, out); });
            });
    }
}

TEST_CASE("lanes_without: one load for each lane", "[day04][lanes_without][small]") {
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
            {{"Each block's result is its own first number: nothing was added up.",
              [&](std::int64_t block) { return sum_of(x, block * 256, 1); }},
             {"The last round is missing, in which thread 0 adds number 1.",
              [&](std::int64_t block) {
                  double sum = 0;
                  for (std::int64_t k = 0; k < 256; k += 2) sum += sum_of(x, block * 256 + k, 1);
                  return sum;
              }}},
            0,
            {{"which thread"},
             "Two threads meet in one number, and nothing puts them in order. Before each round, "
             "the first "
             "one too, all threads wait at a __syncthreads(); and in a round thread t adds to its "
             "own "
             "number the one of t + half, which no thread of that round writes."},
            [&] {
                const auto at = [](const Index& i, std::int64_t k) { return 256 * i[0] + k; };
                return summed_wrongly(
                    {"out", "b", {blocks}, 256, {{"in", x.size(), at}}},
                    [&](const auto& in2, float* out) { tree(in2[0], blocks, out); });
            });
    }
}

TEST_CASE("tree: in any order of threads", "[day04][tree][small]") {
    DeviceIn<float> in(mixed({256}));
    DeviceOut<float> out({1});
    gpu::run_in_other_orders([&] { tree(in.view().data, 1, out.view().data); });
    REQUIRE_NOTHROW(gpu::synchronize());
}

TEST_CASE("tree: the work is shared", "[day04][tree][small]") {
    DeviceIn<float> in(mixed({256}));
    DeviceOut<float> out({1});
    const auto touched = touched_by([&] { tree(in.view().data, 1, out.view().data); });
    INFO("The warps asked " << touched.requests
                            << " times for memory where 54 suffice: a few threads added all, one "
                               "number after the other. In the first round 128 threads add.");
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
           " the largest element is not found if its place is " + std::to_string(places.front()) +
           (places.size() < 2 ? ""
            : in_a_row        ? " to " + std::to_string(places.back())
                              : " or " + std::to_string(places[1]) + " (of " +
                             std::to_string(places.size()) + " such places)") +
           ". Either no thread looks there (thread t looks at t, t + 256, t + 512 and so on, as "
           "long "
           "as that is less than N), or the tree loses it: it comes to each thread's value, and "
           "the "
           "place goes with the value.";
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

// The places that a mistake makes, one for each row.
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
                           {guess("That is the thread that has the largest element, t, and not the "
                                  "place of that element in its row.",
                                  threads),
                            guess("That is the place of the smallest element.", smallest)});
    }
}

TEST_CASE("row_by_block: numbers below 0", "[day04][row_by_block][small]") {
    const std::vector<Guess> from_zero = {
        guess("All numbers of this row are below 0, and none of them beats a start of 0.", {0})};
    check_row_by_block(Tensor<float>({1, 3}, {-3, -1, -2}), {1}, from_zero);
    Tensor<float> x({1, 300});
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = -static_cast<float>(k % 100 + 1);
    x(0, 299) = -0.5f;
    check_row_by_block(x, {299}, from_zero);
    const float lowest = std::numeric_limits<float>::lowest();
    const std::vector<Guess> too_high = {guess(
        "Only -INFINITY is below all numbers of this row. Where does your search start?", {0})};
    check_row_by_block(Tensor<float>({1, 3}, {-3e38f, -1e38f, -2e38f}), {1}, too_high);
    check_row_by_block(Tensor<float>({1, 4}, {-INFINITY, -INFINITY, lowest, -INFINITY}), {2},
                       too_high);
}

TEST_CASE("row_by_block: equal ones", "[day04][row_by_block][small]") {
    INFO(
        "Of equal ones the one at the lower place is the answer: in the tree they may meet in "
        "either order.");
    Tensor<float> x({3, 1000});
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = -1;
    x(0, 256) = x(0, 1) = 3;  // of threads 0 and 1
    x(1, 700) = x(1, 701) = x(1, 999) = 3;
    x(2, 5) = x(2, 261) = x(2, 517) = 3;  // all of thread 5
    check_row_by_block(
        x, {1, 700, 5},
        {guess("A thread names the last of the equal ones in its share: `>=` in the loop takes a "
               "later one, `>` keeps the first.",
               {1, 700, 517})});
}

TEST_CASE("row_by_block: nothing but -INFINITY", "[day04][row_by_block][small]") {
    INFO("Of equal ones the first is the answer, also where all are -INFINITY: place 0.");
    Tensor<float> x({2, 300});
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = -INFINITY;
    check_row_by_block(x, {0, 0},
                       {guess("That is N, no place of the row. Nothing beats a start of -INFINITY, "
                              "so its place stays: let it be 0.",
                              {300, 300})});
    check_row_by_block(Tensor<float>({1, 1}, {-INFINITY}), {0});
}

TEST_CASE("row_by_block: neighbours look at neighbours", "[day04][row_by_block][small]") {
    DeviceIn<float> in(mixed({1, 2048}));
    DeviceOut<int> out({1});
    const auto touched =
        touched_by([&] { row_by_block(in.view().data, 1, 2048, out.view().data); });
    INFO("Memory moved "
         << touched.sectors << " sectors where " << 256 + 1
         << " suffice, each element once: do neighbouring threads look at neighbours, "
            "and does each keep its best in a variable of its own?");
    REQUIRE(touched.sectors <= 2 * 256 + 1);
}

}  // namespace
