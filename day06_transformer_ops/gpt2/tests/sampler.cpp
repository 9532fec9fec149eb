// The sampler: its random numbers, its rules at every edge, and the frequencies of its draws.
#include "day06_transformer_ops/gpt2/backend/sampler.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/backend/philox.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor<float> logits_of(std::vector<float> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return Tensor<float>({count}, std::move(values));
}

// How often each token is drawn in steps 0 .. draws - 1.
std::map<std::int64_t, std::int64_t> drawn(const Tensor<float>& logits,
                                           const SamplerOptions& options, std::int64_t draws) {
    std::map<std::int64_t, std::int64_t> counts;
    for (std::int64_t step = 0; step < draws; ++step) {
        ++counts[sample(logits.view(), options, static_cast<std::uint64_t>(step))];
    }
    return counts;
}

// The tokens that are ever drawn.
std::vector<std::int64_t> support(const Tensor<float>& logits, const SamplerOptions& options) {
    std::vector<std::int64_t> tokens;
    for (const auto& [token, count] : drawn(logits, options, 3000)) tokens.push_back(token);
    return tokens;
}

// The sum of (seen - expected)^2 / expected: about the number of tokens minus one.
double chi_square(const std::map<std::int64_t, std::int64_t>& counts, std::int64_t draws,
                  const std::map<std::int64_t, double>& probabilities) {
    double sum = 0;
    for (const auto& [token, count] : counts) {
        if (!probabilities.contains(token)) return kInfinity;
    }
    for (const auto& [token, p] : probabilities) {
        const double expected = p * static_cast<double>(draws);
        const auto found = counts.find(token);
        const double seen = found == counts.end() ? 0 : static_cast<double>(found->second);
        sum += (seen - expected) * (seen - expected) / expected;
    }
    return sum;
}

using Tokens = std::vector<std::int64_t>;

// Probabilities 0.4, 0.3, 0.2, 0.1, shuffled.
const Tensor<float>& four() {
    static const auto logits =
        logits_of({std::log(0.2f), std::log(0.4f), std::log(0.1f), std::log(0.3f)});
    return logits;
}

// Nine tokens, one of which is impossible.
const Tensor<float>& nine() {
    static const auto logits = logits_of({0.3f, -1, 2, -kInfinity, 1.2f, 0, -2.5f, 1.9f, 0.3f});
    return logits;
}
const Tokens kEight{0, 1, 2, 4, 5, 6, 7, 8};

// The probabilities of these tokens alone.
std::map<std::int64_t, double> softmax(double temperature, const Tokens& tokens) {
    std::map<std::int64_t, double> p;
    double sum = 0;
    for (const std::int64_t t : tokens) sum += p[t] = std::exp(nine()(t) / temperature);
    for (auto& [token, weight] : p) weight /= sum;
    return p;
}

// 8 tokens have 7 degrees of freedom: above 42 once in two million experiments. 4 tokens: above 32.
void check_frequencies(std::int64_t draws) {
    const auto apart = [&](const SamplerOptions& options, double temperature,
                           const Tokens& tokens) {
        return chi_square(drawn(nine(), options, draws), draws, softmax(temperature, tokens));
    };
    CHECK(apart({1, 0, 1, 21}, 1, kEight) < 42);
    CHECK(apart({1.7f, 0, 1, 22}, 1.7, kEight) < 42);
    CHECK(apart({0.6f, 4, 1, 23}, 0.6, {0, 2, 4, 7}) < 32);
}

}  // namespace

TEST_CASE("Philox matches Random123's known answers", "[day06][small]") {
    // Random123's tests/kat_vectors, philox4x32 10.
    CHECK(philox({0, 0, 0, 0}, {0, 0}) == Philox4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    const std::uint32_t ones = 0xffffffff;
    CHECK(philox({ones, ones, ones, ones}, {ones, ones}) ==
          Philox4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Philox4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a draw is the upper 53 bits of two words", "[day06][small]") {
    CHECK(uniform(0, 0) == static_cast<double>(0xe169c58d6627e8d5 >> 11) * 0x1p-53);
    const std::uint64_t words[] = {0, 1, std::uint64_t{1} << 32, std::uint64_t{1} << 63};
    std::map<double, int> seen;
    for (const std::uint64_t seed : words) {
        for (const std::uint64_t step : words) ++seen[uniform(seed, step)];
    }
    CHECK(seen.size() == 16);
    double sum = 0, least = 1, most = 0;
    for (std::uint64_t step = 0; step < 100000; ++step) {
        const double u = uniform(5, step);
        sum += u, least = std::min(least, u), most = std::max(most, u);
    }
    CHECK(std::abs(sum / 100000 - 0.5) < 0.004);  // 4 times 0.29 / sqrt(100,000)
    CHECK(least >= 0);
    CHECK(least < 1e-4);
    CHECK(most < 1);
    CHECK(most > 1 - 1e-4);
}

TEST_CASE("temperature 0 chooses the first maximum, for every seed", "[day06][small]") {
    const auto flat = logits_of({1, 1.001f, 1, 1.001f, 1});
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        REQUIRE(sample(flat.view(), {0, 0, 1, seed}, seed) == 1);
        REQUIRE(sample(flat.view(), {0, 3, 0.5f, seed}, 7) == 1);
    }
    CHECK(sample(logits_of({-kInfinity, -3, -2, -2}).view(), {0, 0, 1, 9}, 0) == 2);
    CHECK(sample(logits_of({5}).view(), {0, 0, 1, 9}, 0) == 0);
    CHECK(support(flat, {1, 0, 1, 0}) == Tokens{0, 1, 2, 3, 4});  // at 1 all of them are drawn
}

TEST_CASE("a temperature near 0 equals 0, a huge one makes all tokens equal", "[day06][small]") {
    CHECK(support(logits_of({1, 1.1f, -40, 1}), {1e-30f, 0, 1, 3}) == Tokens{1});
    CHECK(support(logits_of({1, 1.1f, -40, 1.1f}), {1e-40f, 0, 1, 3}) == Tokens{1, 3});
    const auto counts = drawn(logits_of({0, 40, -40, 10}), {1e30f, 0, 1, 3}, 4000);
    for (int token = 0; token < 4; ++token) CHECK(std::abs(counts.at(token) - 1000) < 150);
}

TEST_CASE("top-k keeps exactly k tokens, and of equal logits the lower index", "[day06][small]") {
    const auto ties = logits_of({1, 2, 1, 2, 1, 2});
    const auto kept = [&](std::int64_t k) { return support(ties, {1, k, 1, 11}); };
    CHECK(kept(1) == Tokens{1});
    CHECK(kept(2) == Tokens{1, 3});
    CHECK(kept(3) == Tokens{1, 3, 5});
    CHECK(kept(4) == Tokens{0, 1, 3, 5});
    CHECK(kept(5) == Tokens{0, 1, 2, 3, 5});
    CHECK(kept(6).size() == 6);
}

TEST_CASE("filters that drop nothing do not change a draw", "[day06][small]") {
    const auto logits = seeded<float>({100}, 5, -2, 2);
    const SamplerOptions all{0.8f, 0, 1, 77};
    for (std::uint64_t step = 0; step < 500; ++step) {
        const std::int64_t token = sample(logits.view(), all, step);
        for (const std::int64_t k : {std::int64_t{100}, std::int64_t{101}, INT64_MAX}) {
            REQUIRE(sample(logits.view(), {0.8f, k, 1, 77}, step) == token);
        }
        // The same draw gives the same token at another stride.
        Tensor<float> wide({100, 3});
        for (std::int64_t v = 0; v < 100; ++v) wide(v, 1) = logits(v);
        REQUIRE(sample(column(wide.view(), 1), all, step) == token);
    }
}

TEST_CASE("a draw is a position on the line of kept tokens, in vocabulary order",
          "[day06][small]") {
    const auto line = [](const Tokens& tokens, double u) {
        double length = 0, end = 0;
        for (const std::int64_t t : tokens) length += std::exp(double{nine()(t)});
        for (const std::int64_t t : tokens) {
            end += std::exp(double{nine()(t)});
            if (u * length < end) return t;
        }
        return std::int64_t{-1};
    };
    for (std::uint64_t step = 0; step < 2000; ++step) {
        REQUIRE(sample(nine().view(), {1, 0, 1, 31}, step) == line(kEight, uniform(31, step)));
        REQUIRE(sample(nine().view(), {1, 3, 1, 31}, step) == line({2, 4, 7}, uniform(31, step)));
    }
}

TEST_CASE("top-p keeps the fewest likeliest tokens that reach p", "[day06][small]") {
    const auto kept = [&](float p) { return support(four(), {1, 0, p, 13}); };
    CHECK(kept(0) == Tokens{1});
    CHECK(kept(0.39f) == Tokens{1});
    CHECK(kept(0.41f) == Tokens{1, 3});
    CHECK(kept(0.69f) == Tokens{1, 3});
    CHECK(kept(0.71f) == Tokens{0, 1, 3});
    CHECK(kept(0.91f) == Tokens{0, 1, 2, 3});
    CHECK(kept(1) == Tokens{0, 1, 2, 3});
    // Ties: the lower index counts as likelier. Reaching p exactly is enough.
    CHECK(support(logits_of({0, 0, 0, 0}), {1, 0, 0.5f, 13}) == Tokens{0, 1});
    CHECK(support(logits_of({0, 0, 0, 0}), {1, 0, 0.51f, 13}) == Tokens{0, 1, 2});
}

TEST_CASE("temperature comes before top-k, top-k before top-p", "[day06][small]") {
    // Of the two likeliest, 4/7 and 3/7, the first alone reaches 0.5; out of all four it would not.
    CHECK(support(four(), {1, 2, 0.5f, 17}) == Tokens{1});
    CHECK(support(four(), {1, 0, 0.5f, 17}) == Tokens{1, 3});
    // At temperature 1/4 the first has probability 0.72, so p = 0.7 keeps one, not three.
    CHECK(support(four(), {0.25f, 0, 0.7f, 17}) == Tokens{1});
    CHECK(support(four(), {1, 0, 0.71f, 17}) == Tokens{0, 1, 3});
}

TEST_CASE("top-p finds its set beyond the 64 tokens it sorts first", "[day06][full]") {
    // 1000 tokens, each slightly less likely than the one 333 positions before it, cyclically.
    Tensor<float> logits({1000});
    for (std::int64_t rank = 0; rank < 1000; ++rank) {
        logits(rank * 333 % 1000) = -0.001f * static_cast<float>(rank);
    }
    for (const float p : {0.05f, 0.09f, 0.3f, 0.5f, 0.97f}) {
        double sum = 0, all = 0;
        for (int rank = 0; rank < 1000; ++rank) all += std::exp(-0.001 * rank);
        std::int64_t want = 0;
        while (sum < p * all) sum += std::exp(-0.001 * static_cast<double>(want++));
        std::int64_t last = 0;
        for (std::uint64_t step = 0; step < 2000; ++step) {
            const std::int64_t token = sample(logits.view(), {1, 0, p, 19}, step);
            last = std::max(last, token * 997 % 1000);  // 333 * 997 = 1 mod 1000
        }
        CAPTURE(p, want, last);
        CHECK(last < want);
        CHECK(last >= want - 12);  // 2000 draws miss all of the last 12 once in e^15
    }
}

TEST_CASE("many draws have the frequencies of softmax", "[day06][small]") {
    check_frequencies(50000);
}

TEST_CASE("a million draws reveal a temperature that is 1 % off", "[day06][full]") {
    check_frequencies(1000000);
    CHECK(chi_square(drawn(nine(), {1.01f, 0, 1, 21}, 1000000), 1000000, softmax(1, kEight)) > 42);
}

TEST_CASE("a draw depends only on seed and step", "[day06][small]") {
    const auto logits = seeded<float>({50}, 8, -1, 1);
    std::int64_t same_seed = 0, same_step = 0;
    for (std::uint64_t step = 0; step < 300; ++step) {
        const std::int64_t token = sample(logits.view(), {1, 0, 1, 1}, step);
        CHECK(sample(logits.view(), {1, 0, 1, 1}, step) == token);
        same_seed += sample(logits.view(), {1, 0, 1, 1}, step + 1) == token;
        same_step += sample(logits.view(), {1, 0, 1, 2}, step) == token;
    }
    CHECK(same_seed < 30);
    CHECK(same_step < 30);
}

TEST_CASE("invalid logits and options are rejected", "[day06][small]") {
    const auto says = [](const Tensor<float>& logits, const SamplerOptions& options) {
        return rejection([&] { (void)sample(logits.view(), options, 0); });
    };
    for (const float temperature : {0.0f, 1.0f}) {
        const SamplerOptions options{temperature, 0, 1, 0};
        CHECK(says(logits_of({0, 1, kNan}), options) ==
              "sample: the logit of token 2 is NaN; a finite number or -inf is needed");
        CHECK(contains(says(logits_of({kInfinity, 1}), options), "token 0 is infinite"));
        CHECK(says(logits_of({-kInfinity, -kInfinity}), options) ==
              "sample: none of 2 logits is finite, so no token is left");
        CHECK(contains(says(logits_of({}), options), "none of 0 logits"));
    }
    const auto one = logits_of({0, 1});
    CHECK(contains(says(one, {-0.5f, 0, 1, 0}), "a temperature of -0.5; 0 or a finite"));
    CHECK(contains(says(one, {kNan, 0, 1, 0}), "a temperature of nan"));
    CHECK(contains(says(one, {kInfinity, 0, 1, 0}), "a temperature of inf"));
    CHECK(contains(says(one, {1, -1, 1, 0}), "a top_k of -1; 0 or more is needed"));
    CHECK(contains(says(one, {1, 0, -0.1f, 0}), "a top_p of -0.1"));
    CHECK(contains(says(one, {1, 0, 1.1f, 0}), "a top_p of 1.1"));
    CHECK(contains(says(one, {1, 0, kNan, 0}), "a top_p of nan"));
    CHECK(contains(rejection([] { (void)sample({nullptr, Shape{3}}, {}, 0); }), "null pointer"));
    CHECK(contains(rejection([&] { (void)sample({one.data(), Shape{1, 2}}, {}, 0); }), "rank 1"));
    CHECK(rejection([] { check_sampler({0, 0, 0, 0}); }).empty());
}

TEST_CASE("sampler: each option at the limits of its range, alone", "[day06][small]") {
    const float least = std::numeric_limits<float>::denorm_min(),
                most = std::numeric_limits<float>::max();
    const struct {
        SamplerOptions options;
        const char* said;  // null: it is valid
    } rows[] = {
        {{1, 0, 1, 0}, ""},
        {{0, 0, 1, 0}, ""},
        {{-0.0f, 0, 1, 0}, ""},
        {{least, 0, 1, 0}, ""},
        {{most, 0, 1, 0}, ""},
        {{-least, 0, 1, 0}, "temperature"},
        {{kInfinity, 0, 1, 0}, "temperature"},
        {{-kInfinity, 0, 1, 0}, "temperature"},
        {{kNan, 0, 1, 0}, "temperature"},
        {{1, 1, 1, 0}, ""},
        {{1, INT64_MAX, 1, 0}, ""},
        {{1, -1, 1, 0}, "top_k"},
        {{1, INT64_MIN, 1, 0}, "top_k"},
        {{1, 0, 0, 0}, ""},
        {{1, 0, least, 0}, ""},
        {{1, 0, std::nextafter(1.0f, 0.0f), 0}, ""},
        {{1, 0, std::nextafter(1.0f, 2.0f), 0}, "top_p"},
        {{1, 0, -least, 0}, "top_p"},
        {{1, 0, kInfinity, 0}, "top_p"},
        {{1, 0, kNan, 0}, "top_p"},
        {{1, 0, 1, ~std::uint64_t{0}}, ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.options.temperature, row.options.top_k, row.options.top_p);
        const std::string said = rejection([&] { check_sampler(row.options); });
        CHECK(said.empty() == (row.said[0] == 0));
        if (row.said[0] != 0) CHECK(contains(said, row.said));
        // Greedy choices reject the same, although they use only the temperature.
        SamplerOptions greedy = row.options;
        if (std::string(row.said) != "temperature") greedy.temperature = 0;
        CHECK(rejection([&] { check_sampler(greedy); }) == said);
    }
}

TEST_CASE("sampler: a filter off by one token is detected", "[day06][small]") {
    // Eight equal tokens, of which top-k keeps 4, and top-p the first 2 of these.
    const auto flat = logits_of({3, 3, 3, 3, 3, 3, 3, 3});
    CHECK(support(flat, {1, 7, 1, 41}) == Tokens{0, 1, 2, 3, 4, 5, 6});
    CHECK(support(flat, {1, 8, 1, 41}).size() == 8);
    CHECK(support(flat, {1, 4, 0.5f, 41}) == Tokens{0, 1});
    CHECK(support(flat, {1, 4, std::nextafter(0.5f, 1.0f), 41}) == Tokens{0, 1, 2});
    CHECK(support(flat, {1, 0, std::nextafter(1.0f, 0.0f), 41}).size() == 8);
    CHECK(support(flat, {1, 1, 0, 41}) == Tokens{0});
}
