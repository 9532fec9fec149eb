// What `common/learn check day06` asks of the exercises of one file.
#include <algorithm>
#include <array>

#include "common/testing/practice.hpp"

using namespace sixdays;
using namespace sixdays::testing;

void looking_back(int P, int T, float* out);
void one_head(const float* qkv, int T, int C, int H, int h, float* out);
void share_of_each(const float* in, int M, int N, float* out);
void running_maximum(const float* in, int M, int N, float* out);
void whole_row(const float* in, int M, float* out);

namespace {

TEST_CASE("looking_back: prompts and new tokens", "[day06][looking_back][small]") {
    for (const auto& [P, T] : {std::pair{0, 4}, {3, 1}, {5, 3}, {40, 2}}) {
        CAPTURE(P, T);
        const std::int64_t kept = P, all = P + T;
        const auto seen = [=](std::int64_t first, std::int64_t more) {
            return [=](std::int64_t k) { return k % all <= k / all * first + more ? 1.0 : 0.0; };
        };
        std::vector<Guess> guesses = {
            {"A token does not look at itself here, and it should.", seen(1, kept - 1)},
            {"A token looks one place ahead: the last key that it may look at is its own.",
             seen(1, kept + 1)},
            {"Everything is allowed: a token must not look ahead.",
             [](std::int64_t) { return 1.0; }}};
        if (T > 1) {  // with one new token it is what the next guess makes, too
            guesses.push_back(
                {"The mask is reversed: a token looks at itself and back, at s up to "
                 "its own place, not from there on.",
                 [=](std::int64_t k) { return k % all >= k / all + kept; }});
        }
        if (P > 0) {
            guesses.push_back(
                {"It looks as if the P tokens before were forgotten: new token t is "
                 "token P + t of all.",
                 seen(1, 0)});
            guesses.push_back(
                {"The P tokens before are not looked at, and they should be: keys 0 "
                 "to P - 1 were kept for that.",
                 [=](std::int64_t k) { return k % all >= kept && k % all <= k / all + kept; }});
        }
        practise<float>(
            {T, all}, [&, P = P, T = T](float* out) { looking_back(P, T, out); }, seen(1, kept),
            guesses);
    }
}

TEST_CASE("one_head: keys of a head", "[day06][one_head][small]") {
    for (const auto& [T, C, H, h] : {std::array{3, 8, 2, 1}, {5, 12, 3, 0}, {2, 64, 1, 0}}) {
        CAPTURE(T, C, H, h);
        const std::int64_t D = C / H, channels = C, head = h;
        const auto of = [=](std::int64_t row, std::int64_t first) {
            return [=](std::int64_t k) {
                return static_cast<double>(k / D * row + first + head * D + k % D + 1);
            };
        };
        const auto at = [=](const Index& i) {
            return i[0] * 3 * channels + channels + head * D + i[1];
        };
        practise(
            {"out", "td", {T, D}, {{"qkv", T * 3 * C, at}}},
            [T = T, C = C, H = H, h = h](const auto& qkv, float* out) {
                one_head(qkv[0], T, C, H, h, out);
            },
            {{"That is the query: the key begins C numbers behind it.", of(3 * channels, 0)},
             {"That is the value: the key stands between query and value.",
              of(3 * channels, 2 * channels)},
             {"A row of qkv has 3 C numbers, and the key begins C into it: this is as if qkv were "
              "queries alone.",
              of(channels, 0)},
             {"The key begins C numbers into its row, yes, but the next row is 3 C further on, not "
              "C.",
              of(channels, channels)},
             {"Query, key and value of a token stand side by side, each with all heads: the key of "
              "all heads begins at C, and head h in it at h * D.",
              of(3 * channels, D + 2 * head * D)},
             {"These are the keys of head 0: head h begins h * D further on.",
              of(3 * channels, channels - head * D)}});
    }
}

// Element k of a softmax in float with one thing wrong.
struct WrongShare {
    float largest;      // what the search for it begins with
    bool above, below;  // is it subtracted there?
    bool smallest = false;
};
double wrong_share(const Tensor<float>& x, std::int64_t k, const WrongShare& wrong) {
    const std::int64_t N = x.shape()[1], first = k / N * N;
    float m = wrong.largest, sum = 0;
    for (std::int64_t n = first; n < first + N; ++n) {
        m = wrong.smallest ? std::min(m, x.data()[n]) : std::max(m, x.data()[n]);
    }
    for (std::int64_t n = first; n < first + N; ++n) {
        sum += std::exp(x.data()[n] - (wrong.below ? m : 0));
    }
    return double{std::exp(x.data()[k] - (wrong.above ? m : 0)) / sum};
}

void check_shares(const Tensor<float>& x) {
    const auto M = static_cast<int>(x.shape()[0]), N = static_cast<int>(x.shape()[1]);
    CAPTURE(M, N);
    DeviceIn<float> in(x);
    const auto at = [&](std::int64_t k) { return static_cast<double>(x.data()[k]); };
    const auto share = [&](std::int64_t k, bool divided) {
        const std::int64_t first = k / N * N;
        double largest = at(first), sum = 0;
        for (std::int64_t n = first; n < first + N; ++n) largest = std::max(largest, at(n));
        for (std::int64_t n = first; n < first + N; ++n) sum += std::exp(at(n) - largest);
        return std::exp(at(k) - largest) / (divided ? sum : 1);
    };
    const auto guess = [&](const WrongShare& wrong, const char* sentence) {
        return Guess{sentence, [&x, wrong](std::int64_t k) { return wrong_share(x, k, wrong); }};
    };
    std::vector<Guess> guesses;
    if (at(0) < -100) {
        guesses = {guess({0, true, true},
                         "The search for the largest seems to begin at 0, which is larger than "
                         "the whole row: both exp are 0, and 0 / 0 is NaN. Begin with the row's "
                         "first number.")};
    } else {
        guesses = {
            guess({-INFINITY, false, false},
                  "Nothing was subtracted: exp(100) is infinite in float, and infinity "
                  "divided by infinity is NaN. Ask exp of x - largest."),
            guess({INFINITY, true, true, true},
                  "The smallest number was subtracted: then exp is infinite for the largest. "
                  "Subtract the largest, fmaxf."),
            guess({-INFINITY, false, true},
                  "The largest was subtracted in the sum only. Above it, too, exp is asked "
                  "of x - largest."),
            guess({-INFINITY, true, false},
                  "The largest was not subtracted in the sum. There, too, exp is asked of "
                  "x - largest.")};
    }
    const auto until = [&](std::int64_t k) {
        double sum = 0;
        for (std::int64_t n = k / N * N; n <= k; ++n) sum += std::exp(at(n) - at(k));
        return 1 / sum;
    };
    if (N > 1) {
        guesses.push_back(
            {"exp was left out: these are x - largest over their sum.", [&](std::int64_t k) {
                 const std::int64_t first = k / N * N;
                 double largest = at(first), sum = 0;
                 for (std::int64_t n = first; n < first + N; ++n) {
                     largest = std::max(largest, at(n));
                 }
                 for (std::int64_t n = first; n < first + N; ++n) sum += at(n) - largest;
                 return (at(k) - largest) / sum;
             }});
    }
    if (N > 1) {
        guesses.push_back(
            {"It was divided before the sum was complete: the loop that sums up has "
             "to end before another one divides.",
             until});
        guesses.push_back(
            {"Nothing was divided by the sum.", [&](std::int64_t k) { return share(k, false); }});
    }
    // N + 4 roundings in the sum, and those of exp and of the quotient, to a share of at most 1
    const double bound = (N + 12) * 0x1p-24;
    practise<float>(
        {M, N}, [&](float* out) { share_of_each(in.view().data, M, N, out); },
        [&](std::int64_t k) { return share(k, true); }, guesses, bound, {},
        [M, N]() -> std::string {
            if (N == 1) return "";  // 1, whatever the number is
            return read_wrongly(
                {"out", "mn", {M, N}, {{"in", {M, N}, same_row}}},
                [=](const auto& given, float* out) { share_of_each(given[0], M, N, out); });
        });
}

TEST_CASE("share_of_each: small numbers", "[day06][share_of_each][small]") {
    check_shares(seeded<float>({3, 5}, 1, -2, 2));
    check_shares(seeded<float>({40, 33}, 2, -2, 2));
    check_shares(Tensor<float>({1, 1}, {3}));
}

TEST_CASE("share_of_each: large ones", "[day06][share_of_each][small]") {
    {
        INFO("The rows are 100 101 99 and 3 1000 2.");
        check_shares(Tensor<float>({2, 3}, {100, 101, 99, 3, 1000, 2}));
    }
    INFO("The row is -1000 -1001.");
    check_shares(Tensor<float>({1, 2}, {-1000, -1001}));
}

void check_running(const Tensor<float>& x) {
    const auto M = static_cast<int>(x.shape()[0]), N = static_cast<int>(x.shape()[1]);
    CAPTURE(M, N);
    DeviceIn<float> in(x);
    const auto row = [&](std::int64_t m, bool put_right) {
        double largest = -INFINITY, sum = 0;
        for (std::int64_t n = m * N; n < m * N + N; ++n) {
            const double value = static_cast<double>(x.data()[n]);
            const double larger = std::max(largest, value);
            if (put_right) sum *= std::exp(largest - larger);
            sum += std::exp(value - larger);
            largest = larger;
        }
        return largest + std::log(sum);
    };
    std::vector<Guess> guesses;
    if (std::abs(row(0, false) - row(0, true)) > 0.1) {
        guesses = {
            {"The sum was not put right when a larger number came: it is multiplied by exp(old "
             "largest - new largest).",
             [&](std::int64_t m) { return row(m, false); }}};
    }
    guesses.push_back(
        {"Is the exponent's sign turned, or is exp missing? largest begins as -INFINITY, so "
         "exp(new largest - old largest) and the bare difference are infinite at first, and "
         "infinity times a sum of 0 is NaN. The factor is exp(old largest - new largest), which is "
         "0 at first.",
         [](std::int64_t) { return NAN; }});
    // what comes of step(largest, sum, x), taken with each number of the row
    const auto stepped = [&](const char* sentence, const auto& step) {
        guesses.push_back({sentence, [&x, N, step](std::int64_t m) {
                               double largest = -INFINITY, sum = 0;
                               for (int n = 0; n < N; ++n) step(largest, sum, double(x(m, n)));
                               return largest + std::log(sum);
                           }});
    };
    stepped("The new largest was not added itself: it counts as exp(0) = 1.",
            [](double& largest, double& sum, double value) {
                sum = value > largest ? sum * std::exp(largest - value)
                                      : sum + std::exp(value - largest);
                largest = std::max(largest, value);
            });
    stepped(
        "What was summed up before is gone when a larger number comes: it is multiplied by exp(old "
        "largest - new largest), and 1 is added.",
        [](double& largest, double& sum, double value) {
            sum = value > largest ? 1 : sum + std::exp(value - largest);
            largest = std::max(largest, value);
        });
    stepped("largest became x each time, also where x is smaller: the larger of both stays.",
            [](double& largest, double& sum, double value) {
                const double larger = std::max(largest, value);
                sum = sum * std::exp(largest - larger) + std::exp(value - larger);
                largest = value;
            });
    stepped(
        "The exponent's sign is turned: what was summed up shrinks when a larger number comes, by "
        "exp(old largest - new largest).",
        [](double& largest, double& sum, double value) {
            const double larger = std::max(largest, value);
            sum = (sum == 0 ? 0 : sum * std::exp(larger - largest)) + std::exp(value - larger);
            largest = larger;
        });
    stepped(
        "1 was added for each number: only the largest counts as 1, another one as exp(x - "
        "largest).",
        [](double& largest, double& sum, double value) {
            const double larger = std::max(largest, value);
            sum = sum * std::exp(largest - larger) + 1;
            largest = larger;
        });
    for (const bool put_right : {false, true}) {
        stepped("exp was asked of x itself, not of x - largest.",
                [put_right](double& largest, double& sum, double value) {
                    const double larger = std::max(largest, value);
                    sum = sum * (put_right ? std::exp(largest - larger) : 1) + std::exp(value);
                    largest = larger;
                });
    }
    practise<float>(
        {M}, [&](float* out) { running_maximum(in.view().data, M, N, out); },
        [&](std::int64_t m) { return row(m, true); }, guesses, (2 * N + 12 + 1024) * 0x1p-24, {},
        [M, N] {
            return read_wrongly(
                {"out", "m", {M}, {{"in", {M, N}, same_row}}},
                [=](const auto& given, float* out) { running_maximum(given[0], M, N, out); });
        });
}

TEST_CASE("running_maximum: the largest comes last", "[day06][running_maximum][small]") {
    check_running(Tensor<float>({2, 4}, {0, 1, 2, 3, 1, 2, 4, 8}));
}

TEST_CASE("running_maximum: anywhere", "[day06][running_maximum][small]") {
    check_running(Tensor<float>({1, 4}, {3, 2, 1, 0}));
    check_running(Tensor<float>({1, 1}, {5}));
    check_running(seeded<float>({40, 33}, 2, -2, 2));
}

TEST_CASE("running_maximum: large numbers", "[day06][running_maximum][small]") {
    INFO("exp is asked of differences only: exp(100) is more than a float can hold.");
    check_running(Tensor<float>({2, 3}, {100, 101, 99, -1000, -1001, -999}));
}

TEST_CASE("running_maximum: one pass", "[day06][running_maximum][small]") {
    DeviceIn<float> in(seeded<float>({32, 24}, 2, -2, 2));
    DeviceOut<float> out({32});
    const auto touched =
        touched_by([&] { running_maximum(in.view().data, 32, 24, out.view().data); });
    INFO("Elements were loaded or stored " << touched.accesses << " times where " << 32 * 24 + 32
                                           << " suffice: each is looked at once.");
    REQUIRE(touched.accesses <= 32 * 24 + 32);
}

TEST_CASE("whole_row: every lane has the sum", "[day06][whole_row][small]") {
    const Tensor<float> x = seeded<float>({3, 32}, 5, 1, 2);
    DeviceIn<float> in(x);
    const auto mean_of = [&](std::int64_t first, std::int64_t count) {
        double sum = 0;
        for (std::int64_t k = first; k < first + count; ++k)
            sum += std::pow(double(x.data()[k]), 2);
        return sum / 32;
    };
    practise<float>(
        {3, 32}, [&](float* out) { whole_row(in.view().data, 3, out); },
        [&](std::int64_t k) {
            return static_cast<double>(x.data()[k]) / std::sqrt(mean_of(k / 32 * 32, 32));
        },
        {{"Every lane kept its own number, which is the whole sum in lane 0 only. The last "
          "argument of __shfl_sync names the lane that is asked: it is 0 for all. And was "
          "what it returns kept?",
          [&](std::int64_t k) {
              // what five rounds of __shfl_down_sync leave in this lane
              std::array<double, 32> sum{};
              for (std::size_t l = 0; l < 32; ++l) {
                  sum[l] = std::pow(double(x.data()[k / 32 * 32 + std::int64_t(l)]), 2);
              }
              for (std::size_t far = 16; far > 0; far /= 2) {
                  for (std::size_t l = 0; l < 32; ++l) sum[l] += sum[l + far < 32 ? l + far : l];
              }
              return double{x.data()[k]} / std::sqrt(sum[std::size_t(k % 32)] / 32);
          }},
         {"That is lane 31's number. After __shfl_down_sync the whole sum is in lane 0, the one "
          "that every "
          "lane must ask.",
          [&](std::int64_t k) {
              const double last = std::pow(double(x.data()[k / 32 * 32 + 31]), 2);
              return double{x.data()[k]} / std::sqrt(32 * last / 32);
          }},
         {"Lane 0's x was asked for, not its sum: the first argument after the mask is what is "
          "handed on.",
          [&](std::int64_t k) {
              const double first = x.data()[k / 32 * 32];
              return static_cast<double>(x.data()[k]) / std::sqrt(first / 32);
          }},
         {"It was divided by 32 twice.",
          [&](std::int64_t k) {
              return static_cast<double>(x.data()[k]) / std::sqrt(mean_of(k / 32 * 32, 32) / 32);
          }},
         {"It was not divided by 32: the mean is the sum over 32.",
          [&](std::int64_t k) {
              return static_cast<double>(x.data()[k]) / std::sqrt(mean_of(k / 32 * 32, 32) * 32);
          }},
         {"Only lane 0 has written: each lane has a number of its own, so none may leave before "
          "the end.",
          [&](std::int64_t k) {
              if (k % 32 != 0) return double(NAN);
              return double{x.data()[k]} / std::sqrt(mean_of(k, 32));
          }}},
        40 * 0x1p-24, {},
        [] {
            return read_wrongly({"out", "ml", {3, 32}, {{"in", {3, 32}, same_row}}},
                                [](const auto& given, float* out) { whole_row(given[0], 3, out); });
        });
}

}  // namespace
