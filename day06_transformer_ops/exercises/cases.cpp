// The cases that `common/learn check day06` runs for the one-file exercises.
#include <algorithm>
#include <array>

#include "common/gpu/buffer.hpp"
#include "common/testing/practice.hpp"

using namespace sixdays;
using namespace sixdays::testing;

void looking_back(int P, int T, float* out);
void one_head(const float* qkv, int T, int C, int H, int h, float* out);
void stable_softmax(const float* in, int M, int N, float* out);
void attention_row(const float* qkv, int T, int C, int H, float* scores, float* out);
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
            {"A token does not attend to itself here, but it should.", seen(1, kept - 1)},
            {"A token attends one position ahead: the last key that it may attend to is its own.",
             seen(1, kept + 1)},
            {"Everything is allowed: a token must not attend to later tokens.",
             [](std::int64_t) { return 1.0; }}};
        if (T > 1) {  // with one new token the next guess has the same effect
            guesses.push_back(
                {"The mask is reversed: a token attends to itself and to earlier tokens, so s "
                 "goes up to its own position.",
                 [=](std::int64_t k) { return k % all >= k / all + kept; }});
        }
        if (T > 1) {
            guesses.push_back(
                {"A new token attends to no new token before it: tokens P to P + t - 1 count too.",
                 [=](std::int64_t k) { return k % all < kept || k % all == k / all + kept; }});
        }
        if (P > 0) {
            guesses.push_back(
                {"It looks as if the P cached tokens were ignored: new token t is token P + t of "
                 "the sequence.",
                 seen(1, 0)});
            guesses.push_back(
                {"The P cached tokens are masked, but new tokens must attend to keys 0 to P - 1.",
                 [=](std::int64_t k) { return k % all >= kept && k % all <= k / all + kept; }});
        }
        practise<float>(
            {T, all}, [&, P = P, T = T](float* out) { looking_back(P, T, out); }, seen(1, kept),
            guesses);
    }
}

TEST_CASE("one_head: the keys of a head", "[day06][one_head][small]") {
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
            {{"This is the query: the key begins C numbers later.", of(3 * channels, 0)},
             {"This is the value: the key is between query and value.",
              of(3 * channels, 2 * channels)},
             {"A row of qkv has 3 C numbers, and the key begins C numbers into it: you indexed "
              "as if qkv were (T, C).",
              of(channels, 0)},
             {"The key does begin C numbers into its row, but the row stride is 3 C, not C.",
              of(channels, channels)},
             {"The query, key and value of a token are adjacent, and each holds all heads: the "
              "key begins at C, and head h within it at h * D.",
              of(3 * channels, D + 2 * head * D)},
             {"These are the keys of head 0: head h begins h * D numbers later.",
              of(3 * channels, channels - head * D)}});
    }
}

// Element k of a softmax in float with one planted bug.
struct WrongSoftmax {
    float largest;      // the initial value of the search
    bool above, below;  // is it subtracted there?
    bool smallest = false;
};
double wrong_softmax(const Tensor<float>& x, std::int64_t k, const WrongSoftmax& wrong) {
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

void check_softmax(const Tensor<float>& x) {
    const auto M = static_cast<int>(x.shape()[0]), N = static_cast<int>(x.shape()[1]);
    CAPTURE(M, N);
    DeviceIn<float> in(x);
    const auto at = [&](std::int64_t k) { return static_cast<double>(x.data()[k]); };
    const auto softmax = [&](std::int64_t k, bool divided) {
        const std::int64_t first = k / N * N;
        double largest = at(first), sum = 0;
        for (std::int64_t n = first; n < first + N; ++n) largest = std::max(largest, at(n));
        for (std::int64_t n = first; n < first + N; ++n) sum += std::exp(at(n) - largest);
        return std::exp(at(k) - largest) / (divided ? sum : 1);
    };
    const auto guess = [&](const WrongSoftmax& wrong, const char* sentence) {
        return Guess{sentence, [&x, wrong](std::int64_t k) { return wrong_softmax(x, k, wrong); }};
    };
    std::vector<Guess> guesses;
    if (at(0) < -100) {
        guesses = {guess({0, true, true},
                         "What was subtracted exceeds every number of the row: all exponentials "
                         "are 0, and 0 / 0 is NaN. Does the search for the maximum start at 0 "
                         "instead of the row's first number, or take absolute values?")};
    } else {
        guesses = {
            guess({-INFINITY, false, false},
                  "Nothing was subtracted: exp(100) overflows float, and infinity divided by "
                  "infinity is NaN. Compute exp(x - largest)."),
            guess({INFINITY, true, true, true},
                  "The smallest number was subtracted, so exp overflows for the largest. "
                  "Subtract the largest (fmaxf)."),
            guess({-INFINITY, false, true},
                  "The largest was subtracted only in the sum. The numerator must be exp(x - "
                  "largest) too."),
            guess({-INFINITY, true, false},
                  "The largest was not subtracted in the sum. The terms of the sum must be exp(x "
                  "- largest) too.")};
    }
    const auto until = [&](std::int64_t k) {
        double sum = 0;
        for (std::int64_t n = k / N * N; n <= k; ++n) sum += std::exp(at(n) - at(k));
        return 1 / sum;
    };
    if (N > 1) {
        guesses.push_back(
            {"exp is missing: these are x - largest divided by their sum.", [&](std::int64_t k) {
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
            {"The division came before the sum was complete: one loop must finish the sum before "
             "another one divides.",
             until});
        guesses.push_back({"The division by the sum is missing.",
                           [&](std::int64_t k) { return softmax(k, false); }});
    }
    // N + 4 roundings in the sum, and those of exp and of the quotient; the result is at most 1
    const double bound = (N + 12) * 0x1p-24;
    practise<float>(
        {M, N}, [&](float* out) { stable_softmax(in.view().data, M, N, out); },
        [&](std::int64_t k) { return softmax(k, true); }, guesses, bound, {},
        [M, N]() -> std::string {
            if (N == 1) return "";  // 1, whatever the number is
            return read_wrongly(
                {"out", "mn", {M, N}, {{"in", {M, N}, same_row}}},
                [=](const auto& given, float* out) { stable_softmax(given[0], M, N, out); });
        });
}

TEST_CASE("stable_softmax: small numbers", "[day06][stable_softmax][small]") {
    check_softmax(seeded<float>({3, 5}, 1, -2, 2));
    check_softmax(seeded<float>({40, 33}, 2, -2, 2));
    check_softmax(Tensor<float>({1, 1}, {3}));
}

TEST_CASE("stable_softmax: large numbers", "[day06][stable_softmax][small]") {
    {
        INFO("The rows are 100 101 99 and 3 1000 2.");
        check_softmax(Tensor<float>({2, 3}, {100, 101, 99, 3, 1000, 2}));
    }
    INFO("The row is -1000 -1001.");
    check_softmax(Tensor<float>({1, 2}, {-1000, -1001}));
}

// Attention with one planted bug, or none.
struct WrongRow {
    double scale = 0;          // 0: the right one
    bool all_keys = false;     // later ones too
    bool earlier = false;      // all but its own
    bool subtracts = true;     // the largest score
    bool weights = true;       // exp / sum; else the scores themselves
    bool divides = true;       // by the sum
    bool own_value = false;    // v of t for v of s
    bool keeps_sum = false;    // of the channel before
    bool values_of_0 = false;  // of head 0
    bool all_of_0 = false;     // queries, keys and values of head 0
    bool planes = false;       // qkv is (3, T, C)
    bool adjacent = false;     // qkv is (T, H, 3, D)
    bool heads_first = false;  // out is (H, T, D)
    std::array<std::int64_t, 3> order = {0, 1, 2};
};
// out, row-major; with `size`, the largest sum of |q k| / sqrt(D).
Tensor<double> attended(const Tensor<float>& qkv, std::int64_t H, const WrongRow& wrong,
                        double* size = nullptr) {
    const std::int64_t T = qkv.shape()[0], C = qkv.shape()[1] / 3, D = C / H;
    const auto at = [&](std::size_t third, std::int64_t t, std::int64_t h, std::int64_t d) {
        const std::int64_t i = wrong.order[third];
        if (wrong.all_of_0 || (wrong.values_of_0 && third == 2)) h = 0;
        if (wrong.planes) return static_cast<double>(qkv.data()[(i * T + t) * C + h * D + d]);
        if (wrong.adjacent) return static_cast<double>(qkv(t, (h * 3 + i) * D + d));
        return static_cast<double>(qkv(t, i * C + h * D + d));
    };
    const double scale = wrong.scale > 0 ? wrong.scale : 1 / std::sqrt(static_cast<double>(D));
    Tensor<double> out({T, C});
    for (std::int64_t k = 0; k < T * H; ++k) {
        const std::int64_t t = k / H, h = k % H;
        const std::int64_t n = wrong.all_keys ? T : wrong.earlier ? t : t + 1;
        std::vector<double> score;
        double largest = -INFINITY, sum = 0;
        for (std::int64_t s = 0; s < n; ++s) {
            double dot = 0, magnitude = 0;
            for (std::int64_t d = 0; d < D; ++d) {
                const double x = at(0, t, h, d) * at(1, s, h, d);
                dot += x, magnitude += std::abs(x);
            }
            score.push_back(scale * dot);
            largest = std::max(largest, score.back());
            if (size != nullptr) *size = std::max(*size, scale * magnitude);
        }
        for (double& x : score) {
            const float e = std::exp(static_cast<float>(x));  // which may overflow
            x = !wrong.weights ? x : wrong.subtracts ? std::exp(x - largest) : double{e};
            sum += x;
        }
        double x = 0;
        for (std::int64_t d = 0; d < D; ++d) {
            if (!wrong.keeps_sum) x = 0;
            for (std::size_t s = 0; s < score.size(); ++s) {
                const auto of = wrong.own_value ? t : static_cast<std::int64_t>(s);
                x += score[s] * at(2, of, h, d);
            }
            const std::int64_t to = wrong.heads_first ? (h * T + t) * D + d : t * C + h * D + d;
            out.data()[to] = wrong.divides && wrong.weights ? x / sum : x;
        }
    }
    return out;
}

// `not_a_number`: what to say where nothing was subtracted, which makes a NaN of such scores.
void check_row(const Tensor<float>& qkv, std::int64_t H, const char* not_a_number = nullptr) {
    const std::int64_t T = qkv.shape()[0], C = qkv.shape()[1] / 3, D = C / H;
    CAPTURE(T, C, H);
    DeviceIn<float> in(qkv);
    double size = 0;
    const Tensor<double> want = attended(qkv, H, {}, &size);
    std::vector<Guess> guesses;
    const auto guess = [&](const char* sentence, const WrongRow& wrong) {
        guesses.push_back({sentence, [values = attended(qkv, H, wrong)](std::int64_t k) {
                               return values.data()[k];
                           }});
    };
    const double root = std::sqrt(static_cast<double>(D));
    if (not_a_number != nullptr) {
        guess(not_a_number, {.subtracts = false});
    } else {
        guess("A token attends to later tokens, but may only use keys and values 0 to t.",
              {.all_keys = true});
        guess("A token does not attend to itself: s runs from 0 to t inclusive.",
              {.earlier = true});
        guess("Scores were not divided by sqrt(D).", {.scale = 1});
        guess("Scores were divided by sqrt(C). A score is a sum of D products: divide by sqrt(D).",
              {.scale = 1 / std::sqrt(static_cast<double>(C))});
        guess("Scores were divided by D. Divide by sqrt(D).", {.scale = 1 / (root * root)});
        guess("Scores were multiplied by sqrt(D). Divide by it.", {.scale = root});
        guess("The softmax is missing: the values were multiplied by the scores themselves.",
              {.weights = false});
        guess("The division by the sum is missing.", {.divides = false});
        guess(
            "Each weight was multiplied by the value of token t itself: use the value of token s, "
            "whose key gave the weight.",
            {.own_value = true});
        guess("Each channel also contains the sums of those before: set the sum to 0 for each d.",
              {.keeps_sum = true});
        guess("These are the values of head 0: head h begins h * D numbers later.",
              {.values_of_0 = true});
        guess("Queries, keys and values are those of head 0: head h begins h * D numbers later.",
              {.all_of_0 = true});
        guess(
            "qkv was read as if all queries came first, then all keys and all values. A row of 3 C "
            "numbers holds query, key and value of one token, so the row stride is 3 C.",
            {.planes = true});
        guess(
            "The query, key and value of a token are adjacent, and each holds all heads: the key "
            "begins at C, the value at 2 C, and head h within each at h * D.",
            {.adjacent = true});
        guess(
            "out was written as (H, T, D), heads before tokens. It is (T, C): head h of token t "
            "begins at t * C + h * D.",
            {.heads_first = true});
        guess("Queries and keys are exchanged: the first third of a row is the query.",
              {.order = {1, 0, 2}});
        guess("Keys and values are exchanged: a row holds query, key and value, in this order.",
              {.order = {0, 2, 1}});
    }
    // The score's error, of D + 2 half units of `size`, counts twice; exp, sums and quotient.
    const double units = 2 * size * static_cast<double>(D + 4) + 6 * static_cast<double>(T) + 8;
    double most = 0;
    for (std::int64_t k = 0; k < qkv.size(); ++k)
        most = std::max(most, std::abs(double{qkv.data()[k]}));
    const auto run = [=](const float* from, float* out) {
        gpu::Buffer<float> scores(T * H * T);
        attention_row(from, static_cast<int>(T), static_cast<int>(C), static_cast<int>(H),
                      scores.data(), out);
        gpu::synchronize();
    };
    practise<float>(
        {T, C}, [&](float* out) { run(in.view().data, out); },
        [&](std::int64_t k) { return want.data()[k]; }, guesses, units * 0x1p-24 * most, {},
        [=] {
            // Token 0 has one key, whose weight is 1 whatever its score is.
            const auto needed = [=](const Index& to, const Index& e) {
                const std::int64_t third = e[1] / C, c = e[1] % C;
                if (e[0] > to[0]) return false;
                if (third == 2) return c == to[1];
                return to[0] > 0 && c / D == to[1] / D && (third == 1 || e[0] == to[0]);
            };
            return read_wrongly({"out", "tc", {T, C}, {{"qkv", {T, 3 * C}, needed}}},
                                [&](const auto& given, float* out) { run(given[0], out); });
        });
}

TEST_CASE("attention_row: tokens and heads", "[day06][attention_row][small]") {
    check_row(seeded<float>({3, 3 * 6}, 1, -2, 2), 2);
    check_row(seeded<float>({5, 3 * 12}, 2, -2, 2), 3);
    check_row(seeded<float>({20, 3 * 16}, 3, -2, 2), 2);
}

TEST_CASE("attention_row: one token, one head", "[day06][attention_row][small]") {
    check_row(seeded<float>({1, 3 * 8}, 4, -2, 2), 4);
    check_row(seeded<float>({7, 3 * 8}, 5, -2, 2), 1);
}

TEST_CASE("attention_row: large scores", "[day06][attention_row][small]") {
    // Two numbers per query, key and value; the scores are about 1000 times `sign`.
    const auto with_scores = [](float sign) {
        Tensor<float> qkv({3, 6});
        for (std::int64_t t = 0; t < 3; ++t) {
            for (std::int64_t d = 0; d < 2; ++d) {
                const auto x = static_cast<float>(t), y = static_cast<float>(d);
                qkv(t, d) = 30 * sign, qkv(t, 2 + d) = 24 + x / 30 - y / 2;
                qkv(t, 4 + d) = 3 * x - y + 2;
            }
        }
        return qkv;
    };
    check_row(with_scores(1), 1,
              "Nothing was subtracted: exp of a score of 1000 overflows float, and infinity "
              "divided by infinity is NaN. Compute exp(score - largest).");
    check_row(with_scores(-1), 1,
              "exp of a score of -1000 is 0, and 0 / 0 is NaN. Subtract the largest score, and "
              "start the search for it with -INFINITY, not with 0.");
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
            {"The sum was not rescaled when a larger number arrived: multiply it by exp(old "
             "largest - new largest).",
             [&](std::int64_t m) { return row(m, false); }}};
    }
    guesses.push_back(
        {"Does the exponent have the wrong sign, or is exp missing? largest starts at -INFINITY, "
         "so exp(new largest - old largest) and the bare difference are infinite in the first "
         "step, and infinity times a sum of 0 is NaN. The factor is exp(old largest - new "
         "largest), which is 0 in the first step.",
         [](std::int64_t) { return NAN; }});
    if (*std::max_element(x.data(), x.data() + x.size()) < 80) {  // where exp(x) is finite
        guesses.push_back(
            {"The result is infinite. Is the new term exp(x - old largest)? That is infinite in "
             "the first step, where largest is -INFINITY: subtract the new largest.",
             [](std::int64_t) { return INFINITY; }});
    }
    // the result of step(largest, sum, x), applied to each number of the row
    const auto stepped = [&](const char* sentence, const auto& step) {
        guesses.push_back({sentence, [&x, N, step](std::int64_t m) {
                               double largest = -INFINITY, sum = 0;
                               for (int n = 0; n < N; ++n) step(largest, sum, double(x(m, n)));
                               return largest + std::log(sum);
                           }});
    };
    stepped("The new maximum itself was not added: its term is exp(0) = 1.",
            [](double& largest, double& sum, double value) {
                sum = value > largest ? sum * std::exp(largest - value)
                                      : sum + std::exp(value - largest);
                largest = std::max(largest, value);
            });
    stepped(
        "The earlier sum is lost when a larger number arrives: multiply it by exp(old largest - "
        "new largest) and add 1.",
        [](double& largest, double& sum, double value) {
            sum = value > largest ? 1 : sum + std::exp(value - largest);
            largest = std::max(largest, value);
        });
    stepped("largest was set to x each time, even where x is smaller: keep the larger of the two.",
            [](double& largest, double& sum, double value) {
                const double larger = std::max(largest, value);
                sum = sum * std::exp(largest - larger) + std::exp(value - larger);
                largest = value;
            });
    stepped(
        "The exponent has the wrong sign: when a larger number arrives, the sum shrinks by the "
        "factor exp(old largest - new largest).",
        [](double& largest, double& sum, double value) {
            const double larger = std::max(largest, value);
            sum = (sum == 0 ? 0 : sum * std::exp(larger - largest)) + std::exp(value - larger);
            largest = larger;
        });
    stepped(
        "1 was added for each number: only the maximum contributes 1, and any other number exp(x "
        "- largest).",
        [](double& largest, double& sum, double value) {
            const double larger = std::max(largest, value);
            sum = sum * std::exp(largest - larger) + 1;
            largest = larger;
        });
    for (const bool put_right : {false, true}) {
        stepped("exp was applied to x itself, not to x - largest.",
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

TEST_CASE("running_maximum: the maximum comes last", "[day06][running_maximum][small]") {
    check_running(Tensor<float>({2, 4}, {0, 1, 2, 3, 1, 2, 4, 8}));
}

TEST_CASE("running_maximum: the maximum is anywhere", "[day06][running_maximum][small]") {
    check_running(Tensor<float>({1, 4}, {3, 2, 1, 0}));
    check_running(Tensor<float>({1, 1}, {5}));
    check_running(seeded<float>({40, 33}, 2, -2, 2));
}

TEST_CASE("running_maximum: large numbers", "[day06][running_maximum][small]") {
    {
        INFO("Apply exp to differences only: exp(100) overflows float.");
        check_running(Tensor<float>({2, 3}, {100, 101, 99, -1000, -1001, -999}));
    }
    INFO(
        "The row is 500 0: exp(500) overflows float. A number below the maximum leaves largest as "
        "it is, and adds exp(x - largest).");
    check_running(Tensor<float>({1, 2}, {500, 0}));
}

TEST_CASE("running_maximum: one pass", "[day06][running_maximum][small]") {
    DeviceIn<float> in(seeded<float>({32, 24}, 2, -2, 2));
    DeviceOut<float> out({32});
    const auto touched =
        touched_by([&] { running_maximum(in.view().data, 32, 24, out.view().data); });
    INFO("Elements were loaded or stored " << touched.accesses << " times where " << 32 * 24 + 32
                                           << " suffice: read each number once.");
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
        {{"Every lane kept its own partial sum, which is complete only in lane 0. Is the shuffle "
          "inside an `if`, is its source lane another than 0, or is what it returns not stored?",
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
         {"This is lane 31's number. After __shfl_down_sync the whole sum is in lane 0, which "
          "must be the source lane.",
          [&](std::int64_t k) {
              const double last = std::pow(double(x.data()[k / 32 * 32 + 31]), 2);
              return double{x.data()[k]} / std::sqrt(32 * last / 32);
          }},
         {"Lane 0's x was broadcast, not its sum: the argument after the mask is the value to "
          "broadcast.",
          [&](std::int64_t k) {
              const double first = x.data()[k / 32 * 32];
              return static_cast<double>(x.data()[k]) / std::sqrt(first / 32);
          }},
         {"The sum was divided by 32 twice.",
          [&](std::int64_t k) {
              return static_cast<double>(x.data()[k]) / std::sqrt(mean_of(k / 32 * 32, 32) / 32);
          }},
         {"The sum was not divided by 32: the mean is sum / 32.",
          [&](std::int64_t k) {
              return static_cast<double>(x.data()[k]) / std::sqrt(mean_of(k / 32 * 32, 32) * 32);
          }},
         {"Only lane 0 wrote: every lane has its own number to write, so none may return early.",
          [&](std::int64_t k) {
              if (k % 32 != 0) return double(NAN);
              return double{x.data()[k]} / std::sqrt(mean_of(k, 32));
          }}},
        40 * 0x1p-24, kShuffles,
        [] {
            return read_wrongly({"out", "ml", {3, 32}, {{"in", {3, 32}, same_row}}},
                                [](const auto& given, float* out) { whole_row(given[0], 3, out); });
        });
}

}  // namespace
